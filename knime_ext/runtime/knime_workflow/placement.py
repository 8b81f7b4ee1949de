"""Places of nodes on KNIME's canvas: those of the document, and columns by depth for nodes that have none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from knime_ext.runtime.document import Workflow
from knime_ext.runtime.knime_workflow.wiring import PlacedNode

__all__ = ["pixels", "places"]

_COLUMN, _ROW, _MARGIN = 180, 140, 80
_FARTHEST = 1_000_000


def pixels(position: tuple[float, float]) -> tuple[int, int]:
    """The nearest place that KNIME can hold."""
    x, y = (max(-_FARTHEST, min(each, _FARTHEST)) if each == each else 0 for each in position)
    return round(x), round(y)


def places(workflow: Workflow, nodes: Sequence[PlacedNode]) -> dict[int, tuple[int, int]]:
    """The place of every node by its number.

    Args:
        workflow: The document.
        nodes: Its nodes with their numbers, and those that only KNIME needs, which stand beside the last ones.
    """
    given = [pixels(node.position) for node in workflow.nodes if node.position is not None]
    top = max((y for _, y in given), default=-_ROW) + _ROW
    depths, taken, found = _depths(workflow), Counter[int](), dict[int, tuple[int, int]]()
    for node in nodes:
        spec = None if node.index is None else workflow.nodes[node.index]
        if spec is not None and spec.position is not None:
            found[node.number] = pixels(spec.position)
            continue
        depth = 0 if spec is None else depths[spec.id]
        found[node.number] = (_MARGIN + depth * _COLUMN, top + _MARGIN + taken[depth] * _ROW)
        taken[depth] += 1
    return found


def _depths(workflow: Workflow) -> Mapping[str, int]:
    """Length of the longest way to each node; circles, which no workflow should have, end after a while."""
    depths = dict.fromkeys((node.id for node in workflow.nodes), 0)
    for _ in range(len(depths)):
        before = dict(depths)
        for connection in workflow.connections:
            source, target = connection.source.node, connection.target.node
            depths[target] = min(max(depths[target], depths[source] + 1), len(depths))
        if depths == before:
            break
    return depths
