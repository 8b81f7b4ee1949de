"""Limits the number of calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from knime_ext.errors import ToolFailed
from knime_ext.tools.result import ToolResult
from knime_ext.tools.toolset import Toolset
from knime_ext.tools.wrapper import WrapperToolset

__all__ = ["BudgetToolset"]


class BudgetToolset(WrapperToolset):
    """Refuses calls once the budget is used up, in words for the model."""

    def __init__(self, wrapped: Toolset, max_calls: int) -> None:
        super().__init__(wrapped)
        self._max_calls = max_calls
        self.calls = 0
        """Number of calls that went out."""

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls the tool if the budget allows one more call.

        Raises:
            ToolFailed: The budget is used up; nothing was called.
        """
        # Counted before the await, so that parallel calls cannot overdraw.
        if self.calls >= self._max_calls:
            raise ToolFailed(f"all {self._max_calls} tool calls are used up; answer with what you have")
        self.calls += 1
        return await self.wrapped.call(name, arguments)
