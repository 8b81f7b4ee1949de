"""The person in front of a run, where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from knime_ext.mcp import Answer, Question
    from knime_ext.tools import ToolDefinition

__all__ = ["Person"]


class Person(Protocol):
    """Answers while a workflow runs; both methods are awaited on any event loop, also several times at once."""

    async def answer(self, question: Question) -> Answer:
        """Answers what a server asks in the middle of a call."""
        ...

    async def approve(self, tool: ToolDefinition, arguments: Mapping[str, Any]) -> bool:
        """Whether a call may go out."""
        ...
