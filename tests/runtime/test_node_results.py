from typing import Any

import pytest

from knime_ext.errors import ConfigurationError
from knime_ext.runtime import knext
from knime_ext.runtime.node_results import checked_outputs, checked_specs, spec_of, split_view
from tests.runtime.small_nodes import NUMBERS, Count, Split, numbers, values, word_port

OTHER = knext.NodeType.OTHER


def declared(*decorators: Any) -> Any:
    """A node with these ports."""

    class Node:
        """A node."""

        def configure(self, ctx: Any, *specs: Any) -> None: ...

        def execute(self, ctx: Any, *objects: Any) -> None: ...

    made: Any = Node
    for decorate in reversed(decorators):
        made = decorate(made)
    return knext.node("Node", OTHER, "i.png", "/")(made).__knext_node__


SINGLE, GROUP = Count.__knext_node__, Split.__knext_node__
TWO = declared(knext.output_table("A", ""), knext.output_table_group("B", ""))
VIEW = declared(knext.output_view("Page", ""))
VIEW_AND_TABLE = declared(knext.output_table("A", ""), knext.output_view("Page", ""))
BINARY = declared(knext.output_binary("Model", "", "pickle"))
SINK = declared()


SPECS: list[tuple[Any, Any, list[int], Any]] = [
    (NUMBERS, SINGLE, [1], (NUMBERS,)),
    ([NUMBERS], SINGLE, [1], (NUMBERS,)),
    ((NUMBERS,), SINGLE, [1], (NUMBERS,)),
    (knext.Column(knext.int64(), "n"), SINGLE, [1], (NUMBERS,)),
    (None, SINGLE, [1], (None,)),
    (None, TWO, [1, 2], (None, [None, None])),
    ((NUMBERS, [NUMBERS]), TWO, [1, 1], (NUMBERS, [NUMBERS])),
    ((NUMBERS, None), TWO, [1, 2], (NUMBERS, [None, None])),
    ([[NUMBERS, NUMBERS]], GROUP, [2], ([NUMBERS, NUMBERS],)),
    ([NUMBERS, NUMBERS], GROUP, [2], ([NUMBERS, NUMBERS],)),
    ([], GROUP, [0], ([],)),
    (None, SINK, [], ()),
    ([], SINK, [], ()),
]


@pytest.mark.parametrize(("returned", "declaration", "slots", "specs"), SPECS)
def test_specs_come_bare_or_in_a_list_or_not_at_all(returned: Any, declaration: Any, slots: list[int], specs: Any):
    assert checked_specs(returned, declaration, slots) == specs


@pytest.mark.parametrize(
    ("returned", "declaration", "slots", "reason"),
    [
        ([NUMBERS, NUMBERS], SINGLE, [1], "its configure returned 2 values for 1 outputs"),
        ("n", SINGLE, [1], "its configure returned a str for the table port 'Numbers'"),
        ((NUMBERS, NUMBERS), TWO, [1, 1], "its configure returned no list for the port group 'B'"),
        ((NUMBERS, [NUMBERS]), TWO, [1, 2], "its configure returned 1 values for the port group 'B', of which 2 are"),
        (NUMBERS, SINK, [], "its configure returned 1 values for 0 outputs"),
    ],
)
def test_wrong_specs_are_a_mistake_in_the_node(returned: Any, declaration: Any, slots: list[int], reason: str):
    with pytest.raises(ConfigurationError) as error:
        checked_specs(returned, declaration, slots)
    assert str(error.value).startswith(reason)


def test_a_view_comes_last_and_is_taken_apart():
    page = knext.view_html("<p>")
    assert split_view(page, VIEW) == ([], "<p>")
    table = numbers([1])
    assert split_view((table, page), VIEW_AND_TABLE) == ([table], "<p>")
    assert split_view(table, SINGLE) == (table, None)
    with pytest.raises(ConfigurationError, match="returned a str as its view"):
        split_view("<p>", VIEW)
    with pytest.raises(ConfigurationError, match="returned 1 values for 2 outputs"):
        split_view(table, VIEW_AND_TABLE)


def test_tables_slices_and_batches_are_tables():
    batches = knext.BatchOutputTable.create("generate")
    batches.append(numbers([1]))
    for made in (numbers([1]), numbers([1])[["n"]], batches):
        (table,) = checked_outputs(made, SINGLE, [1])
        assert values(table) == [1]


def test_slices_within_a_group_are_tables_too():
    [[first, second]] = checked_outputs([[numbers([1])["n"], numbers([2])]], GROUP, [2])
    assert (values(first), values(second)) == ([1], [2])


def test_a_sink_gives_nothing_whatever_it_returns():
    assert checked_outputs("ignored", SINK, []) == ()


@pytest.mark.parametrize("made", [None, "text", 3])
def test_what_is_no_object_of_the_port_type_is_refused(made: Any):
    node = declared(knext.output_port("Word", "", word_port))
    with pytest.raises(ConfigurationError, match="for the port 'Word', which is a 'Word'"):
        checked_outputs([made], node, [1])


def test_the_spec_of_an_object_is_its_own_or_else_the_promised_one():
    assert spec_of(numbers([1]), SINGLE.output_ports[0], None) == NUMBERS
    assert spec_of(b"x", BINARY.output_ports[0], None).id == "pickle"
    assert spec_of(b"x", BINARY.output_ports[0], "promised") == "promised"
