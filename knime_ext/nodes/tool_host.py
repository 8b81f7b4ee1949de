"""Runs tools for an agent, whatever the host: what KNIME's context lacks is added here."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knime.types.tool import MCPTool, Tool, WorkflowTool
    from knime_ext.mcp import MCPToolCaller
    from knime_ext.tools import ToolResult

__all__ = ["ToolHost"]


class ToolHost:
    """A node's context with every way to run a tool: workflows, and tools of MCP servers.

    The embedded runtime has them all and is asked. KNIME runs workflows only; there the sessions with MCP servers are
    opened here, on the first call, and closed with the `with` block. Calls may come from any thread, also side by
    side.
    """

    def __init__(self, ctx: Any) -> None:
        self._ctx = ctx
        self._has_mcp = hasattr(ctx, "_execute_mcp_tool")
        self._workflow_lock = threading.Lock()
        self._caller_lock = threading.Lock()
        self._caller: MCPToolCaller | None = None
        self._stack = ExitStack()
        self._numbers = count(1)

    def __enter__(self) -> ToolHost:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._caller = None
        self._stack.close()

    def _execute_tool(
        self, tool: WorkflowTool, parameters: dict[str, Any], inputs: list[Any], execution_hints: dict[str, str]
    ) -> tuple[str, Sequence[Any], Sequence[str]]:
        """Runs a workflow: its message, its tables, and the identifiers of its view nodes."""
        self._report(tool)
        if self._has_mcp:
            return self._ctx._execute_tool(tool, parameters, inputs, execution_hints)
        with self._workflow_lock:  # KNIME's way to hand tables to Java is not made for several threads
            return self._ctx._execute_tool(tool, parameters, inputs, execution_hints)

    def _execute_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> str:
        """Calls a tool of an MCP server and waits for its text."""
        self._report(tool)
        if self._has_mcp:
            return self._ctx._execute_mcp_tool(tool, parameters)
        return self._own_caller().text(tool, parameters)

    async def _acall_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> ToolResult:
        """Calls a tool of an MCP server; the result keeps every content block if the host does."""
        self._report(tool)
        rich = getattr(self._ctx, "_acall_mcp_tool", None)
        if rich is not None:
            return await rich(tool, parameters)
        if not self._has_mcp:
            return await self._own_caller().acall(tool, parameters)
        from knime_ext.agent.threads import call_in_thread
        from knime_ext.tools import ToolResult

        return ToolResult.of_text(await call_in_thread(self._ctx._execute_mcp_tool, tool, parameters))

    def _report(self, tool: Tool) -> None:
        """Shows which tool runs. How many calls will follow is unknown, so the bar slows down towards its end."""
        number = next(self._numbers)
        self._ctx.set_progress(number / (number + 2), f"call {number}: {tool.name}")

    def _own_caller(self) -> MCPToolCaller:
        from knime_ext.mcp import MCPToolCaller

        with self._caller_lock:
            if self._caller is None:
                self._caller = self._stack.enter_context(MCPToolCaller())
            return self._caller
