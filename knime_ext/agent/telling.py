"""Tells a listener what happens in a run, if there is one."""

from __future__ import annotations

from collections.abc import Callable

from langchain_core.messages import AIMessage, ToolCall, ToolMessage

from knime_ext.agent.events import (
    AgentEvent,
    Hear,
    ReasoningDelta,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnStarted,
)
from knime_ext.agent.loop import reasoning_of, text_of

__all__ = ["Teller"]


class Teller:
    """Makes events of what a run does.

    Args:
        hear: Who listens; None if nobody does.
        shown_name: Gives a tool's name for people.
    """

    def __init__(self, hear: Hear | None, shown_name: Callable[[str], str]) -> None:
        self._hear = hear
        self._shown_name = shown_name

    @property
    def is_heard(self) -> bool:
        """Whether somebody listens."""
        return self._hear is not None

    def _tell(self, event: AgentEvent) -> None:
        if self._hear is not None:
            self._hear(event)

    def turn(self, number: int) -> None:
        """The model is asked."""
        self._tell(TurnStarted(number))

    def piece(self, piece: AIMessage) -> None:
        """The model said or thought more."""
        if reasoning := reasoning_of(piece):
            self._tell(ReasoningDelta(reasoning))
        if text := text_of(piece):
            self._tell(TextDelta(text))

    def call(self, call: ToolCall) -> None:
        """A tool is called."""
        self._tell(ToolCallStarted(call["id"] or "", self._shown_name(call["name"]), call["args"]))

    def result(self, message: ToolMessage, seconds: float = 0.0) -> None:
        """A call has its result, or was refused."""
        if self._hear is not None:
            name, failed = self._shown_name(message.name or ""), message.status == "error"
            self._hear(ToolCallFinished(message.tool_call_id, name, text_of(message), failed, seconds))
