"""Compares tools in rows with what their servers say now."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from knime.types.tool import MCPTool
from knime_ext.errors import ConfigurationError, MCPError
from knime_ext.mcp.drift import FieldChange, changes_since
from knime_ext.mcp.leased_session import LeasedSession

__all__ = ["ToolComparison", "compare_tools"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolComparison:
    """What became of one tool.

    Attributes:
        tool: The tool as it was listed.
        state: "same", "changed", "gone" (the server has it no more), or "unknown" (the server could not be asked).
        changes: What differs.
        error: Why the server could not be asked.
    """

    tool: MCPTool
    state: Literal["same", "changed", "gone", "unknown"]
    changes: tuple[FieldChange, ...] = ()
    error: str | None = None


async def compare_tools(
    tools: Sequence[MCPTool], session_of: Callable[[MCPTool], LeasedSession]
) -> list[ToolComparison]:
    """Compares every tool, in the order given; each server is asked once, and failures are data.

    Args:
        tools: The tools.
        session_of: Finds the session for a tool; may raise ConfigurationError.
    """

    async def compare(tool: MCPTool) -> ToolComparison:
        try:
            now = await session_of(tool).known_tool(tool.tool_name)
        except (ConfigurationError, MCPError) as error:
            return ToolComparison(tool=tool, state="unknown", error=str(error))
        if now is None:
            return ToolComparison(tool=tool, state="gone")
        changes = tuple(changes_since(tool, now))
        return ToolComparison(tool=tool, state="changed" if changes else "same", changes=changes)

    return list(await asyncio.gather(*map(compare, tools)))
