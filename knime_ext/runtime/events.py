"""What a run tells while it goes on, as values."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "Event",
    "NodeFailed",
    "NodeFinished",
    "NodeProgress",
    "NodeSkipped",
    "NodeStarted",
    "NodeWarning",
    "PortSize",
    "RunFinished",
    "RunStarted",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """All nodes are configured; execution begins. `nodes` are the identifiers in a possible order of execution."""

    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStarted:
    """A node's inputs are there and it begins to execute. `name` is the node's name for people."""

    node: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeProgress:
    """How far a node is: `fraction` from 0 to 1, and what it does at the moment if it says so."""

    node: str
    fraction: float
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeWarning:
    """A node works, but its user should know something."""

    node: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PortSize:
    """Rows and columns of one output table; row identifiers are no column. `slot` counts within a group of ports."""

    port: int
    rows: int
    columns: int
    slot: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFinished:
    """A node executed and its outputs are stored."""

    node: str
    seconds: float
    tables: tuple[PortSize, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFailed:
    """A node failed; the message says why and how to repair it."""

    node: str
    message: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSkipped:
    """A node gives nothing: one before it failed, or the run was canceled before or while it executed."""

    node: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The last event: "succeeded", "failed" or "canceled"."""

    state: str
    seconds: float


Event = RunStarted | NodeStarted | NodeProgress | NodeWarning | NodeFinished | NodeFailed | NodeSkipped | RunFinished
