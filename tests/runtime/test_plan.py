from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.errors import Cycle, PortMismatch, WorkflowError
from knime_ext.runtime.document import Workflow, parse_workflow
from knime_ext.runtime.plan import NodeShape, Plan, PortKind, PortShape, Source, plan_workflow


class Model: ...


class OfflineModel(Model): ...


class ModelSpec: ...


TABLE = PortKind(id="table", name="Table")
MODEL = PortKind(id="model", name="Chat model", object_class=Model, spec_class=ModelSpec)
OFFLINE_MODEL = PortKind(id="offline", name="Offline model", object_class=OfflineModel, spec_class=ModelSpec)

SHAPES = {
    shape.factory: shape
    for shape in [
        NodeShape(factory="Reader", name="CSV Reader", outputs=(PortShape(name="Rows", kind=TABLE),)),
        NodeShape(factory="Offline", name="Offline Model", outputs=(PortShape(name="Model", kind=OFFLINE_MODEL),)),
        NodeShape(factory="AnyModel", name="Any Model", outputs=(PortShape(name="Model", kind=MODEL),)),
        NodeShape(
            factory="Filter",
            name="Row Filter",
            inputs=(PortShape(name="Rows", kind=TABLE),),
            outputs=(PortShape(name="Kept", kind=TABLE),),
        ),
        NodeShape(
            factory="OfflineOnly",
            name="Offline Only",
            inputs=(PortShape(name="Model", kind=OFFLINE_MODEL, optional=True),),
        ),
        NodeShape(
            factory="Agent",
            name="Agent Prompter",
            inputs=(
                PortShape(name="Chat model", kind=MODEL),
                PortShape(name="History", kind=TABLE, optional=True),
                PortShape(name="Data", kind=TABLE, group=True),
            ),
            outputs=(PortShape(name="Conversation", kind=TABLE), PortShape(name="Results", kind=TABLE, group=True)),
        ),
        NodeShape(
            factory="Stack",
            name="Concatenate",
            inputs=(PortShape(name="Tables", kind=TABLE, group=True),),
            outputs=(PortShape(name="Stacked", kind=TABLE),),
        ),
    ]
}


def workflow(nodes: dict[str, str], *connections: tuple[list[Any], list[Any]]) -> Workflow:
    return parse_workflow(
        {
            "name": "w",
            "nodes": [{"id": node_id, "factory": factory} for node_id, factory in nodes.items()],
            "connections": [{"from": source, "to": target} for source, target in connections],
        }
    )


def plan(nodes: dict[str, str], *connections: tuple[list[Any], list[Any]]) -> Plan:
    return plan_workflow(workflow(nodes, *connections), SHAPES)


def complaint(nodes: dict[str, str], *connections: tuple[list[Any], list[Any]]) -> str:
    with pytest.raises(WorkflowError) as error:
        plan(nodes, *connections)
    return str(error.value)


def test_nodes_come_after_those_they_depend_on():
    ordered = plan({"last": "Filter", "first": "Reader"}, (["first", 0], ["last", 0]))
    assert [node.id for node in ordered.nodes] == ["first", "last"]
    assert ordered.successors("first") == ("last",)


def test_connections_into_a_group_keep_the_order_of_the_document():
    nodes = {"a": "Reader", "b": "Reader", "stack": "Stack"}
    stack = plan(nodes, (["b", 0], ["stack", 0]), (["a", 0], ["stack", 0])).nodes[-1]
    assert stack.inputs == ((Source("b", 0), Source("a", 0)),)


def test_absent_optional_inputs_and_empty_groups_are_told_apart():
    agent = plan({"m": "AnyModel", "agent": "Agent"}, (["m", 0], ["agent", 0])).nodes[-1]
    assert agent.inputs == (Source("m", 0), None, ())
    assert agent.output_slots == (1, 0)


def test_an_output_group_has_as_many_slots_as_are_used():
    nodes = {"m": "AnyModel", "agent": "Agent", "f": "Filter"}
    agent = plan(nodes, (["m", 0], ["agent", 0]), (["agent", 1, 2], ["f", 0])).nodes[1]
    assert agent.output_slots == (1, 3)


def test_flow_variables_arrive_from_their_own_port_first_then_in_order_of_ports():
    nodes = {"m": "AnyModel", "r": "Reader", "v": "Reader", "agent": "Agent"}
    agent = plan(
        nodes,
        (["r", 0], ["agent", 1]),
        (["m", 0], ["agent", 0]),
        (["v", "variables"], ["agent", "variables"]),
    ).nodes[-1]
    assert agent.variables_from == ("v", "m", "r")
    assert agent.inputs == (Source("m", 0), Source("r", 0), ())


def test_an_input_takes_ports_of_a_subclass_but_not_of_a_superclass():
    assert plan({"m": "Offline", "agent": "Agent"}, (["m", 0], ["agent", 0]))
    with pytest.raises(PortMismatch):
        plan({"m": "AnyModel", "o": "OfflineOnly"}, (["m", 0], ["o", 0]))


def test_a_wrong_port_type_names_both_ends_and_both_types():
    nodes = {"m": "Offline", "rows": "Filter"}
    with pytest.raises(PortMismatch) as error:
        plan(nodes, (["m", 0], ["rows", 0]))
    assert str(error.value) == (
        "connections[0] does not fit: output port 0 'Model' of node 'm' (Offline Model) gives 'Offline model', "
        "input port 0 'Rows' of node 'rows' (Row Filter) takes 'Table'; connect ports of one type"
    )


def test_an_unknown_factory_names_the_nearest():
    assert complaint({"read": "Raeder"}) == (
        "node 'read' (nodes[0]) has the unknown factory 'Raeder'; did you mean 'Reader'?"
    )


@pytest.mark.parametrize(
    ("connections", "sentence"),
    [
        (
            [(["redaer", 0], ["rows", 0])],
            "connections[0] starts at the node 'redaer', which does not exist; did you mean 'reader'?",
        ),
        (
            [(["reader", 0], ["rowz", 0])],
            "connections[0] ends at the node 'rowz', which does not exist; did you mean 'rows'?",
        ),
        (
            [(["reader", 1], ["rows", 0])],
            "connections[0]: node 'reader' (CSV Reader) has no output port 1; choose one of 0 'Rows'",
        ),
        (
            [(["rows", 0], ["reader", 0])],
            "connections[0]: node 'reader' (CSV Reader) has no input port 0; "
            "it has no input ports at all, remove the connection",
        ),
        (
            [(["reader", 0, 1], ["rows", 0])],
            "connections[0]: output port 0 'Rows' of node 'reader' (CSV Reader) is no group of ports; "
            "remove the third number of 'from'",
        ),
        (
            [(["reader", 0], ["rows", 0]), (["reader", 0], ["rows", 0])],
            "connections[0] and connections[1] both end at input port 0 'Rows' of node 'rows' (Row Filter), "
            "which takes one; remove one of them",
        ),
        (
            [(["reader", "variables"], ["rows", 0])],
            "connections[0] joins a port of flow variables with another port, from node 'reader' (CSV Reader) to "
            "node 'rows' (Row Filter); set both of its ends to 'variables' or neither",
        ),
        (
            [],
            "input port 0 'Rows' of node 'rows' (Row Filter) is not connected; connect an output of type 'Table' to it",
        ),
    ],
)
def test_a_connection_that_cannot_be_names_the_place_and_the_repair(
    connections: list[tuple[list[Any], list[Any]]], sentence: str
):
    assert complaint({"reader": "Reader", "rows": "Filter"}, *connections) == sentence


def test_a_circle_is_named_node_by_node():
    nodes = {"r": "Reader", "s": "Stack", "a": "Filter", "b": "Filter", "after": "Filter"}
    with pytest.raises(Cycle) as error:
        plan(
            nodes,
            (["r", 0], ["s", 0]),
            (["b", 0], ["s", 0]),
            (["s", 0], ["a", 0]),
            (["a", 0], ["b", 0]),
            (["b", 0], ["after", 0]),
        )
    assert str(error.value) == "the connections form a circle: 's' -> 'a' -> 'b' -> 's'; remove one of them"


def test_a_node_connected_to_itself_is_a_circle():
    assert "'a' -> 'a'" in complaint({"a": "Filter"}, (["a", 0], ["a", 0]))


edges = st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda edge: edge[0] < edge[1]))


@given(edges=edges, order=st.permutations(range(10)))
def test_every_graph_without_circles_is_ordered(edges: set[tuple[int, int]], order: list[int]):
    nodes = {f"n{number}": "Stack" for number in order}
    planned = plan(nodes, *(([f"n{a}", 0], [f"n{b}", 0]) for a, b in edges))
    position = {node.id: place for place, node in enumerate(planned.nodes)}
    assert len(position) == 10
    assert all(position[f"n{a}"] < position[f"n{b}"] for a, b in edges)


@given(edges=edges, back=st.tuples(st.integers(0, 9), st.integers(0, 9)))
def test_every_named_circle_is_one(edges: set[tuple[int, int]], back: tuple[int, int]):
    joined = edges | {back}
    try:
        plan({f"n{number}": "Stack" for number in range(10)}, *(([f"n{a}", 0], [f"n{b}", 0]) for a, b in joined))
    except Cycle as error:
        circle = str(error).split(": ")[1].split(";")[0].replace("'", "").split(" -> ")
        assert circle[0] == circle[-1]
        steps = zip(circle, circle[1:], strict=False)
        assert all((int(a[1:]), int(b[1:])) in joined for a, b in steps)
