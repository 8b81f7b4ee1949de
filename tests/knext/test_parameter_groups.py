"""Groups of parameters, and lists of them."""

from __future__ import annotations

from typing import Any, assert_type, cast

import pytest

from knime_ext.runtime import knext
from knime_ext.runtime.knext.errors import InvalidParametersError
from knime_ext.runtime.knext.settings import get_parameters, set_parameters


@knext.parameter_group("Limits", since_version="1.0.0")
class Limits:
    """Where it ends."""

    turns = knext.IntParameter("Turns", default_value=25, min_value=0)

    def __init__(self, seconds: int = 60) -> None:
        self.seconds = knext.IntParameter("Seconds", default_value=seconds)

    def validate(self, values: dict[str, Any]) -> None:
        if values["turns"] > values["seconds"]:
            raise ValueError("not more turns than seconds")


@knext.parameter_group("Outer", is_advanced=True)
class Outer:
    name = knext.StringParameter("Name", default_value="outer")
    label = knext.StringParameter("Label", default_value="label")
    description = knext.StringParameter("Description", default_value="description")
    limits = Limits(10)


@knext.parameter_group("Entry")
class Entry:
    key = knext.StringParameter("Key", default_value="k")
    value = knext.IntParameter("Value", default_value=1)


class Node:
    limits = Limits()
    outer = Outer()
    entries = knext.ParameterArray(Entry(), "Entries")


def test_members_are_read_and_set_through_the_group() -> None:
    node = Node()
    assert_type(node.limits.turns, int)
    node.limits.turns = 5
    node.limits.seconds = 7  # pyright: ignore[reportAttributeAccessIssue]
    node.outer.limits.turns = 2
    assert (node.limits.turns, node.limits.seconds, node.outer.limits.turns) == (5, 7, 2)
    assert Node().limits.turns == 25


def test_two_groups_of_one_class_are_apart() -> None:
    node = Node()
    node.limits.turns = 5
    assert node.outer.limits.turns == 25
    assert (Node().limits.seconds, Node().outer.limits.seconds) == (60, 10)


def test_members_may_have_any_name() -> None:
    node = Node()
    node.outer.label = "changed"
    assert (node.outer.name, node.outer.label, node.outer.description) == ("outer", "changed", "description")


def test_a_group_read_before_settings_are_loaded_sees_them() -> None:
    node = Node()
    limits = node.limits
    set_parameters(node, {"limits": {"turns": 9}})
    assert limits.turns == 9


def test_settings_of_groups_are_nested() -> None:
    node = Node()
    tree = get_parameters(node)
    assert tree == {
        "limits": {"turns": 25, "seconds": 60},
        "outer": {
            "name": "outer",
            "label": "label",
            "description": "description",
            "limits": {"turns": 25, "seconds": 10},
        },
        "entries": [],
    }
    set_parameters(node, {"outer": {"limits": {"seconds": 30}}})
    assert get_parameters(node)["outer"]["limits"] == {"turns": 25, "seconds": 30}


def test_a_group_cannot_be_replaced() -> None:
    node = Node()
    with pytest.raises(RuntimeError, match="'limits' cannot be replaced; set its members"):
        node.limits = Limits()


def test_members_are_checked() -> None:
    node = Node()
    with pytest.raises(ValueError, match="smaller than the minimum"):
        node.limits.turns = -1
    with pytest.raises(TypeError, match="whole number"):
        node.limits.seconds = "long"  # pyright: ignore[reportAttributeAccessIssue]


def test_the_group_checks_its_members_together_when_settings_are_loaded() -> None:
    node = Node()
    with pytest.raises(InvalidParametersError, match="parameter 'limits': not more turns than seconds"):
        set_parameters(node, {"limits": {"turns": 61}})
    assert node.limits.turns == 25


def test_a_validator_replaces_or_joins_the_method_of_the_class() -> None:
    seen: list[str] = []

    def note(values: dict[str, Any]) -> None:
        seen.append("given")

    class Own:
        joined: Any = Limits()
        replaced: Any = Limits()
        given: Any = cast("Any", Limits)(validator=note)

        @joined.validator(override=False)
        def _check(values: dict[str, Any]) -> None:  # pyright: ignore[reportSelfClsParameterName, reportGeneralTypeIssues]
            seen.append("joined")

        @replaced.validator
        def _other(values: dict[str, Any]) -> None:  # pyright: ignore[reportSelfClsParameterName, reportGeneralTypeIssues]
            seen.append("replaced")

    set_parameters(Own(), {"joined": {}, "replaced": {"turns": 99}, "given": {}})
    assert seen == ["joined", "replaced", "given"]
    with pytest.raises(InvalidParametersError, match="not more turns"):
        set_parameters(Own(), {"joined": {"turns": 99}})


def test_a_group_takes_options_when_it_is_used() -> None:
    from knime_ext.runtime.knext.member_tree import members_of

    class Own:
        limits: Any = cast("Any", Limits)(5, since_version="2.0.0", is_advanced=True)

    member = members_of(Own)["limits"]
    assert (str(member.since_version), member.is_advanced) == ("2.0.0", True)
    assert Own().limits.seconds == 5


def test_a_constructor_must_not_take_the_names_of_the_options() -> None:
    class Taken:
        def __init__(self, is_advanced: bool) -> None:
            pass

    with pytest.raises(SyntaxError, match="must not have an argument 'is_advanced'"):
        knext.parameter_group("Taken")(Taken)


def test_a_group_can_extend_another() -> None:
    @knext.parameter_group("More limits")
    class More(Limits):
        tokens = knext.IntParameter("Tokens", default_value=1000)

    class Own:
        more = More(9)

    from knime_ext.runtime.knext.member_tree import members_of

    assert members_of(Own)["more"].label == "More limits"
    assert get_parameters(Own())["more"] == {"tokens": 1000, "turns": 25, "seconds": 9}


def test_a_group_made_in_the_constructor_of_a_node_belongs_to_that_node() -> None:
    class Own:
        def __init__(self) -> None:
            self.limits = Limits()

    first, second = Own(), Own()
    set_parameters(first, {"limits": {"turns": 3}})
    first.limits.seconds = 4  # pyright: ignore[reportAttributeAccessIssue]
    assert get_parameters(first) == {"limits": {"turns": 3, "seconds": 4}}
    assert first.limits.turns == 3
    assert second.limits.turns == 25


def test_an_array_gives_one_group_per_entry() -> None:
    node = Node()
    assert node.entries == []
    set_parameters(node, {"entries": [{"key": "a", "value": 2}, {"key": "b"}]})
    assert_type(node.entries, list[Entry])
    assert [(entry.key, entry.value) for entry in node.entries] == [("a", 2), ("b", 1)]
    assert get_parameters(node)["entries"] == [{"key": "a", "value": 2}, {"key": "b", "value": 1}]


def test_an_array_can_be_set_in_code() -> None:
    node, other = Node(), Node()
    node.entries = [{"key": "x"}]
    node.entries[0].value = 7
    other.entries = node.entries
    node.entries[0].value = 8
    assert [(entry.key, entry.value) for entry in node.entries] == [("x", 8)]
    assert [(entry.key, entry.value) for entry in other.entries] == [("x", 7)]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("text", "must be a list"),
        (["text"], "must be objects"),
        ([{"kee": 1}], "have no 'kee'; they have key, value"),
        ([{"key": "a", "value": "2"}], "must be a whole number"),
    ],
)
def test_the_entries_of_an_array_are_checked(entries: Any, message: str) -> None:
    with pytest.raises(InvalidParametersError, match=f"parameter 'entries': .*{message}"):
        set_parameters(Node(), {"entries": entries})


def test_an_array_holds_no_groups_and_no_arrays() -> None:
    class Own:
        outers = knext.ParameterArray(Outer())

    with pytest.raises(InvalidParametersError, match="cannot hold groups or arrays, as 'limits' is one"):
        set_parameters(Own(), {"outers": []})


def test_an_array_has_a_validator_besides_the_check_of_its_entries() -> None:
    class Own:
        entries = knext.ParameterArray(Entry())

        @entries.validator
        def _check(values: list[Any]) -> None:  # pyright: ignore[reportSelfClsParameterName, reportGeneralTypeIssues]
            if len(values) > 1:
                raise ValueError("one entry is enough")

    set_parameters(Own(), {"entries": [{}]})
    with pytest.raises(InvalidParametersError, match="one entry is enough"):
        set_parameters(Own(), {"entries": [{}, {}]})
    with pytest.raises(InvalidParametersError, match="have no 'x'"):
        set_parameters(Own(), {"entries": [{"x": 1}]})
