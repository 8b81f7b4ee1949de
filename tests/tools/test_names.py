import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.tools import NameMap, safe_name

SAFE = re.compile(r"[A-Za-z0-9_-]{1,64}")


@given(st.lists(st.text(max_size=100) | st.sampled_from(["a.b", "a_b", "a_b_2", "", "顧客", "x" * 64, "x" * 65])))
def test_every_name_gets_a_distinct_safe_name_that_leads_back_to_it(names: list[str]) -> None:
    mapped = NameMap(names)
    assert len(set(mapped.safe)) == len(names)
    assert all(SAFE.fullmatch(name) for name in mapped.safe)
    assert [mapped.to_wire(name) for name in mapped.safe] == names
    assert [mapped.index(mapped.to_safe(index)) for index in range(len(names))] == list(range(len(names)))


@pytest.mark.parametrize(
    ("name", "safe"),
    [("search_web", "search_web"), ("files/read.all", "files_read_all"), ("Größe", "Gro_e"), ("顧客", "tool")],
)
def test_foreign_characters_become_underscores(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_a_taken_name_gets_a_number_within_the_limit() -> None:
    assert safe_name("echo", {"echo", "echo_2"}) == "echo_3"
    assert safe_name("x" * 80, {"x" * 64}) == "x" * 62 + "_2"


def test_a_name_that_is_safe_already_keeps_itself_wherever_it_stands() -> None:
    assert NameMap(["a.b", "a_b"]).safe == ("a_b_2", "a_b")


def test_an_unknown_safe_name_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        NameMap(["a"]).to_wire("b")
