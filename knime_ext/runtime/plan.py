"""From a workflow document to an order of execution: pure, nothing is instantiated and nothing runs.

Ports are checked here: that they exist, that their types fit, that required inputs are connected, and that the
connections form no circle.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from knime_ext.errors import Cycle, PortMismatch, WorkflowError
from knime_ext.runtime.document import VARIABLES, ConnectionSpec, NodeSpec, Workflow
from knime_ext.runtime.nearest import did_you_mean

__all__ = ["NodeShape", "Plan", "PlannedNode", "PortKind", "PortShape", "Source", "plan_workflow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortKind:
    """The type of a port.

    Attributes:
        id: Identifier of the type.
        name: Name for people, such as "Table".
        object_class: Class of what goes through, for port types that have classes.
        spec_class: Class of its spec.
    """

    id: str
    name: str
    object_class: type | None = None
    spec_class: type | None = None

    def fits_into(self, target: PortKind) -> bool:
        """Whether an output of this type may be connected to an input of type `target`."""
        if self.id == target.id:
            return True
        if self.object_class is None or target.object_class is None:
            return False
        if self.spec_class is None or target.spec_class is None:
            return False
        return issubclass(self.object_class, target.object_class) and issubclass(self.spec_class, target.spec_class)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortShape:
    """One declared port; a group stands for any number of ports of its type."""

    name: str
    kind: PortKind
    optional: bool = False
    group: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeShape:
    """What the plan must know of a node: its identifier, its name for people, its ports."""

    factory: str
    name: str
    inputs: tuple[PortShape, ...] = ()
    outputs: tuple[PortShape, ...] = ()


class Source(NamedTuple):
    """An output of a node: port, and slot within a group of ports."""

    node: str
    port: int
    slot: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNode:
    """A node with everything connected to it.

    Attributes:
        spec: The node in the document.
        shape: Its ports.
        inputs: For each declared input port its source, None if unconnected; for a group the tuple of its sources.
        output_slots: For each declared output port the number of connected slots: 1, or for a group what is used.
        variables_from: Nodes whose flow variables arrive; if two have the same name, the first wins.
    """

    spec: NodeSpec
    shape: NodeShape
    inputs: tuple[Source | tuple[Source, ...] | None, ...]
    output_slots: tuple[int, ...]
    variables_from: tuple[str, ...]

    @property
    def id(self) -> str:
        """The node's identifier."""
        return self.spec.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The nodes of a workflow in an order in which every node comes after those it depends on."""

    nodes: tuple[PlannedNode, ...]

    def successors(self, node_id: str) -> tuple[str, ...]:
        """The nodes that take something directly from this one."""
        return tuple(node.id for node in self.nodes if node_id in node.variables_from)


def plan_workflow(workflow: Workflow, shapes: Mapping[str, NodeShape]) -> Plan:
    """Checks the connections of a workflow and orders its nodes.

    Args:
        workflow: The document.
        shapes: Factory identifier to ports; it must hold those that the document uses.

    Raises:
        WorkflowError: A node, factory or port does not exist, or a required input is not connected.
        PortMismatch: A connection joins ports of different types.
        Cycle: The connections form a circle.
    """
    specs = {node.id: node for node in workflow.nodes}
    node_shapes = {node.id: _shape(index, node, shapes) for index, node in enumerate(workflow.nodes)}
    for index, connection in enumerate(workflow.connections):
        _check_connection(f"connections[{index}]", connection, node_shapes)
    _check_single(workflow.connections, node_shapes)
    planned = {node_id: _planned(spec, node_shapes[node_id], workflow.connections) for node_id, spec in specs.items()}
    return Plan(nodes=tuple(planned[node_id] for node_id in _ordered(planned.values())))


def _shape(index: int, node: NodeSpec, shapes: Mapping[str, NodeShape]) -> NodeShape:
    if node.factory not in shapes:
        hint = did_you_mean(node.factory, shapes, kind="nodes")
        raise WorkflowError(f"node {node.id!r} (nodes[{index}]) has the unknown factory {node.factory!r}; {hint}")
    return shapes[node.factory]


def _titled(node_id: str, shape: NodeShape) -> str:
    return f"node {node_id!r} ({shape.name})"


def _port(place: str, side: str, node_id: str, port: int | str, shapes: Mapping[str, NodeShape]) -> PortShape | None:
    """The port at one end of a connection; None for the port of flow variables."""
    if node_id not in shapes:
        verb = "starts" if side == "output" else "ends"
        hint = did_you_mean(node_id, shapes, kind="nodes")
        raise WorkflowError(f"{place} {verb} at the node {node_id!r}, which does not exist; {hint}")
    if port == VARIABLES:
        return None
    shape = shapes[node_id]
    ports = shape.outputs if side == "output" else shape.inputs
    if not isinstance(port, int) or port >= len(ports):
        listed = ", ".join(f"{number} {each.name!r}" for number, each in enumerate(ports))
        raise WorkflowError(
            f"{place}: {_titled(node_id, shape)} has no {side} port {port}; "
            + (f"choose one of {listed}" if ports else f"it has no {side} ports at all, remove the connection")
        )
    return ports[port]


def _check_connection(place: str, connection: ConnectionSpec, shapes: Mapping[str, NodeShape]) -> None:
    source, target = connection.source, connection.target
    output = _port(place, "output", source.node, source.port, shapes)
    taken = _port(place, "input", target.node, target.port, shapes)
    if output is None and taken is None:
        return
    from_node, to_node = _titled(source.node, shapes[source.node]), _titled(target.node, shapes[target.node])
    if output is None or taken is None:
        raise PortMismatch(
            f"{place} joins a port of flow variables with another port, from {from_node} to {to_node}; "
            f"set both of its ends to {VARIABLES!r} or neither"
        )
    if source.slot and not output.group:
        raise WorkflowError(
            f"{place}: output port {source.port} {output.name!r} of {from_node} is no group of ports; "
            f"remove the third number of 'from'"
        )
    if not output.kind.fits_into(taken.kind):
        raise PortMismatch(
            f"{place} does not fit: output port {source.port} {output.name!r} of {from_node} gives "
            f"{output.kind.name!r}, input port {target.port} {taken.name!r} of {to_node} takes {taken.kind.name!r}; "
            "connect ports of one type"
        )


def _check_single(connections: Sequence[ConnectionSpec], shapes: Mapping[str, NodeShape]) -> None:
    """Only groups and the port of flow variables take more than one connection."""
    first: dict[tuple[str, int], int] = {}
    for index, connection in enumerate(connections):
        node_id, port = connection.target
        if port == VARIABLES or shapes[node_id].inputs[port].group:
            continue
        earlier = first.setdefault((node_id, port), index)
        if earlier != index:
            shape = shapes[node_id]
            raise WorkflowError(
                f"connections[{earlier}] and connections[{index}] both end at input port {port} "
                f"{shape.inputs[port].name!r} of {_titled(node_id, shape)}, which takes one; remove one of them"
            )


def _planned(spec: NodeSpec, shape: NodeShape, connections: Sequence[ConnectionSpec]) -> PlannedNode:
    arriving = [connection for connection in connections if connection.target.node == spec.id]
    inputs = tuple(_input(spec, shape, number, arriving) for number in range(len(shape.inputs)))
    variables = [connection.source.node for connection in arriving if connection.target.port == VARIABLES]
    tables = [connection.source.node for connection in sorted(arriving, key=_data_port)]
    return PlannedNode(
        spec=spec,
        shape=shape,
        inputs=inputs,
        output_slots=tuple(_slots(spec.id, number, port, connections) for number, port in enumerate(shape.outputs)),
        variables_from=tuple(dict.fromkeys(variables + tables)),
    )


def _data_port(connection: ConnectionSpec) -> int:
    port = connection.target.port
    return port if isinstance(port, int) else -1


def _input(
    spec: NodeSpec, shape: NodeShape, number: int, arriving: Sequence[ConnectionSpec]
) -> Source | tuple[Source, ...] | None:
    port = shape.inputs[number]
    sources = tuple(
        Source(connection.source.node, connection.source.port, connection.source.slot)
        for connection in arriving
        if connection.target.port == number and isinstance(connection.source.port, int)
    )
    if port.group:
        return sources
    if not sources and not port.optional:
        raise WorkflowError(
            f"input port {number} {port.name!r} of {_titled(spec.id, shape)} is not connected; "
            f"connect an output of type {port.kind.name!r} to it"
        )
    return sources[0] if sources else None


def _slots(node_id: str, number: int, port: PortShape, connections: Iterable[ConnectionSpec]) -> int:
    if not port.group:
        return 1
    used = [each.source.slot for each in connections if each.source.node == node_id and each.source.port == number]
    return max(used, default=-1) + 1


def _ordered(nodes: Iterable[PlannedNode]) -> list[str]:
    """Kahn's algorithm; where there is a choice, the order of the document."""
    waiting = {node.id: set(node.variables_from) for node in nodes}
    followers: dict[str, list[str]] = {node_id: [] for node_id in waiting}
    for node_id, sources in waiting.items():
        for source in sources:
            followers[source].append(node_id)
    ready = deque(node_id for node_id, sources in waiting.items() if not sources)
    order: list[str] = []
    while ready:
        node_id = ready.popleft()
        order.append(node_id)
        del waiting[node_id]
        for follower in followers[node_id]:
            waiting[follower].discard(node_id)
            if not waiting[follower]:
                ready.append(follower)
    if waiting:
        raise Cycle(_describe_circle(waiting))
    return order


def _describe_circle(waiting: Mapping[str, set[str]]) -> str:
    """Walks backwards among the nodes that wait for each other until one comes again; begins with the first of them."""
    path = [next(iter(waiting))]
    while True:
        before = min(waiting[path[-1]])
        if before in path:
            circle = path[path.index(before) :][::-1]
            break
        path.append(before)
    start = circle.index(next(node_id for node_id in waiting if node_id in circle))
    circle = circle[start:] + circle[:start]
    names = " -> ".join(map(repr, [*circle, circle[0]]))
    return f"the connections form a circle: {names}; remove one of them"
