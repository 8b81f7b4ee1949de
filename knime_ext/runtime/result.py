"""What a run gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from knime_ext.errors import NodeFailed, WorkflowError
from knime_ext.runtime.events import PortSize
from knime_ext.runtime.knext.table import Table
from knime_ext.runtime.nearest import did_you_mean

__all__ = ["NodeOutcome", "NodeState", "RunFailed", "RunResult", "RunState"]

NodeState = Literal["succeeded", "failed", "skipped", "canceled"]
RunState = Literal["succeeded", "failed", "canceled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOutcome:
    """How a node ended.

    Attributes:
        state: "skipped" means that it did not start: a node before it failed, or the run was canceled.
        message: Why it failed or was skipped; empty if it succeeded.
        seconds: Time from its start to its end.
        tables: Sizes of its output tables.
    """

    state: NodeState
    message: str = ""
    seconds: float = 0.0
    tables: tuple[PortSize, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The outcome of a run. Its tables lie in files; they can be read as long as the result exists.

    Attributes:
        state: "succeeded", "failed" or "canceled".
        nodes: Every node of the workflow and how it ended.
        outputs: Node and port to what the node put there: a table, a port object, or a list for a group of ports.
        workflow_outputs: Tables that arrived at Workflow Output nodes, by the names given there.
        message: Text that arrived at the Tool Message Output node; None if there is no such node or it did not run.
        views: HTML pages of nodes that have a view.
        seconds: Time of the whole run.
        folder: The folder with the run's files; None if the run was not told to keep them.
    """

    state: RunState
    nodes: Mapping[str, NodeOutcome]
    outputs: Mapping[tuple[str, int], Any]
    workflow_outputs: Mapping[str, Table]
    message: str | None = None
    views: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0
    folder: Path | None = None
    _files: object = field(default=None, repr=False, compare=False)
    """Keeps a temporary folder alive."""

    def table(self, node: str, port: int = 0, slot: int = 0) -> Table:
        """An output table.

        Args:
            node: Identifier of the node.
            port: Output port, counted from 0.
            slot: Place within a group of ports.

        Raises:
            WorkflowError: There is no such table; the message says why.
        """
        outcome = self.nodes.get(node)
        if outcome is None:
            raise WorkflowError(f"there is no node {node!r}; {did_you_mean(node, self.nodes, kind='nodes')}")
        if outcome.state != "succeeded":
            raise WorkflowError(f"node {node!r} has no tables, it is {outcome.state}: {outcome.message}")
        value = self.outputs.get((node, port))
        if isinstance(value, list) and slot < len(value):  # pyright: ignore[reportUnknownArgumentType]
            value = value[slot]  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(value, Table):
            raise WorkflowError(f"output port {port} of node {node!r} holds no table; choose one of its table ports")
        return value


class RunFailed(NodeFailed):
    """A run in which a node failed; the branches that do not depend on it were finished.

    Attributes:
        result: Everything that the run gave nevertheless.
    """

    def __init__(self, node: str, reason: str, result: RunResult) -> None:
        super().__init__(node, reason)
        self.result = result
