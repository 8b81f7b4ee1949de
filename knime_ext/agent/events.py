"""What `Agent.stream` tells about a run while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knime_ext.agent.run import AgentRun

__all__ = [
    "AgentEvent",
    "Hear",
    "ReasoningDelta",
    "RunFinished",
    "TextDelta",
    "ToolCallFinished",
    "ToolCallStarted",
    "TurnStarted",
]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The model is asked, for the `turn`th time in this run."""

    turn: int


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The model said more."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """The model thought more; only some models show it."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """A tool is called.

    Attributes:
        id: Identifier of the call.
        tool: Name of the tool, for people.
        arguments: Its arguments.
    """

    id: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCallFinished:
    """A call has its result, or was refused without having started.

    Attributes:
        id: Identifier of the call.
        tool: Name of the tool, for people.
        text: What the model gets.
        is_error: True if the call failed or was refused.
        seconds: How long it took.
    """

    id: str
    tool: str
    text: str
    is_error: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run is over; always the last event. `run.error` says why there is no answer, if there is none."""

    run: AgentRun


AgentEvent = TurnStarted | TextDelta | ReasoningDelta | ToolCallStarted | ToolCallFinished | RunFinished

Hear = Callable[[AgentEvent], None]
"""Somebody who listens to a run, on the run's event loop."""
