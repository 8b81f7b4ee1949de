"""Connections: by our ports in a document, by node and port numbers in KNIME.

KNIME takes one connection at a node's port of flow variables. Where a document has several, a node Merge Variables is
put before it; reading takes these nodes out again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from knime_ext.errors import WorkflowError
from knime_ext.runtime.document import VARIABLES, Workflow
from knime_ext.runtime.knime_workflow.knime_ports import OurPort, PortGroup, port_number, port_of
from knime_ext.runtime.knime_workflow.node_forms import MERGER, NodeForm
from knime_ext.runtime.knime_workflow.rows import Unsupported

__all__ = ["Link", "PlacedNode", "StoredNode", "read_links", "wired"]


class Link(NamedTuple):
    """A connection of KNIME's: from node and port to node and port."""

    source: int
    source_port: int
    target: int
    target_port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedNode:
    """A node with its number in KNIME.

    Attributes:
        number: The number.
        form: The kind of node.
        index: Its place in the document; None for Merge Variables.
        inputs: How many ports each group of inputs has.
        outputs: How many ports each group of outputs has.
    """

    number: int
    form: NodeForm
    index: int | None
    inputs: Sequence[int]
    outputs: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredNode:
    """A node of a stored workflow.

    Attributes:
        number: Its number in KNIME.
        form: The kind of node.
        id: Its identifier in the document; "" for Merge Variables.
        title: Its name for messages.
        inputs: How many ports each group of inputs has.
        outputs: How many ports each group of outputs has.
    """

    number: int
    form: NodeForm
    id: str
    title: str
    inputs: Sequence[int]
    outputs: Sequence[int]


def _counts(groups: Sequence[PortGroup], used: Mapping[OurPort, int]) -> list[int]:
    return [group.count(used.get(group.ours, 0)) for group in groups]


def _placed(number: int, form: NodeForm, index: int | None, inputs: Counter[Any], outputs: Counter[Any]) -> PlacedNode:
    return PlacedNode(
        number=number,
        form=form,
        index=index,
        inputs=_counts(form.inputs, inputs),
        outputs=_counts(form.outputs, outputs),
    )


def wired(workflow: Workflow, forms: Sequence[NodeForm]) -> tuple[list[PlacedNode], list[Link]]:
    """The nodes of a document with their numbers in KNIME, and the connections between them.

    Args:
        workflow: The document.
        forms: The form of each of its nodes.

    Raises:
        WorkflowError: A connection ends at a node or port that does not exist, or at one that is taken.
    """
    numbers = {node.id: number for number, node in enumerate(workflow.nodes, 1)}
    inputs: dict[str, Counter[Any]] = {node_id: Counter() for node_id in numbers}
    outputs: dict[str, Counter[Any]] = {node_id: Counter() for node_id in numbers}
    slots: list[int] = []
    for index, connection in enumerate(workflow.connections):
        for end in (connection.source.node, connection.target.node):
            if end not in numbers:
                raise WorkflowError(f"connections[{index}] names the node {end!r}, which does not exist; correct it")
        source, target = connection.source, connection.target
        slots.append(inputs[target.node][target.port])
        inputs[target.node][target.port] += 1
        outputs[source.node][source.port] = max(outputs[source.node][source.port], source.slot + 1)
    nodes = [
        _placed(number, form, number - 1, inputs[node.id], outputs[node.id])
        for number, (node, form) in enumerate(zip(workflow.nodes, forms, strict=True), 1)
    ]
    mergers = _mergers(inputs, len(nodes))
    nodes += [
        _placed(number, MERGER, None, Counter({0: inputs[each][VARIABLES]}), Counter({0: 1}))
        for each, number in mergers.items()
    ]
    return nodes, list(_links(workflow, nodes, numbers, slots, mergers))


def _mergers(inputs: Mapping[str, Counter[Any]], taken: int) -> dict[str, int]:
    """Number of the Merge Variables before each node that takes flow variables from several."""
    several = [node_id for node_id, counter in inputs.items() if counter[VARIABLES] > 1]
    return {node_id: taken + at for at, node_id in enumerate(several, 1)}


def _links(
    workflow: Workflow,
    nodes: Sequence[PlacedNode],
    numbers: Mapping[str, int],
    slots: Sequence[int],
    mergers: Mapping[str, int],
) -> Iterator[Link]:
    for index, (connection, slot) in enumerate(zip(workflow.connections, slots, strict=True)):
        source = nodes[numbers[connection.source.node] - 1]
        target = nodes[numbers[connection.target.node] - 1]
        out = _number(index, source, "output", connection.source.port, connection.source.slot)
        if connection.target.port == VARIABLES and connection.target.node in mergers:
            yield Link(source.number, out, mergers[connection.target.node], slot + 1)
        else:
            yield Link(source.number, out, target.number, _number(index, target, "input", connection.target.port, slot))
    for node_id, merger in mergers.items():
        yield Link(merger, 1, numbers[node_id], 0)


def _number(index: int, node: PlacedNode, side: str, port: OurPort, slot: int) -> int:
    groups, counts = (node.form.outputs, node.outputs) if side == "output" else (node.form.inputs, node.inputs)
    try:
        return port_number(groups, counts, port, slot)
    except KeyError:
        reason = "takes no further connection" if slot and side == "input" else "does not exist"
        raise WorkflowError(
            f"connections[{index}] ends at the {side} port {port} of a {node.form.name!r}, which {reason}; correct it"
        ) from None


def read_links(links: Sequence[Link], nodes: Mapping[int, StoredNode]) -> list[dict[str, Any]]:
    """The connections of a document, in the order of the file; those into one group in the order of its ports.

    Raises:
        WorkflowError: A connection ends at a node that does not exist.
        Unsupported: It ends at a port that only KNIME's node has; the text names the node.
    """
    found: list[tuple[Any, int, dict[str, Any]]] = []
    for link in links:
        for number in (link.source, link.target):
            if number not in nodes:
                raise WorkflowError(f"a connection names the node {number}, which does not exist; check workflow.knime")
        if nodes[link.source].form is not MERGER:
            for order, end in _targets(link, links, nodes, ()):
                source = _end(nodes[link.source], link.source_port, "output")
                found.append(((end[0], end[1]), order, {"from": source, "to": end[:2]}))
    _sort_within(found)
    return [connection for _, _, connection in found]


def _targets(
    link: Link, links: Sequence[Link], nodes: Mapping[int, StoredNode], seen: tuple[int, ...]
) -> Iterator[tuple[int, list[Any]]]:
    """Where a connection leads: its order among those that arrive there, and the end."""
    target = nodes[link.target]
    if target.form is not MERGER:
        yield link.target_port, _end(target, link.target_port, "input")
    elif target.number not in seen:
        for following in links:
            if following.source == target.number and following.target in nodes:
                for _, end in _targets(following, links, nodes, (*seen, target.number)):
                    yield link.target_port, end


def _end(node: StoredNode, number: int, side: str) -> list[Any]:
    groups, counts = (node.form.outputs, node.outputs) if side == "output" else (node.form.inputs, node.inputs)
    try:
        port, slot = port_of(groups, counts, number)
    except KeyError:
        port, slot = None, 0
    if port is None:
        raise Unsupported(f"{node.title} is connected at its {side} port {number}, which it does not have here")
    return [node.id, port, slot] if slot and side == "output" else [node.id, port]


def _sort_within(found: list[tuple[Any, int, dict[str, Any]]]) -> None:
    """Sorts the connections that arrive at the same port, in the places that they have together."""
    places: dict[Any, list[int]] = {}
    for at, (key, _, _) in enumerate(found):
        places.setdefault(key, []).append(at)
    for taken in places.values():
        for at, item in zip(taken, sorted((found[at] for at in taken), key=lambda item: item[1]), strict=True):
            found[at] = item
