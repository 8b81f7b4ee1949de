"""Runs tools for an agent, whatever the host: what KNIME's context lacks is added here."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import count
from types import TracebackType
from typing import TYPE_CHECKING, Any

from knime_ext.errors import MCPToolChanged

if TYPE_CHECKING:
    from knime.types.tool import MCPTool, Tool, WorkflowTool
    from knime_ext.mcp import Handlers, MCPToolCaller
    from knime_ext.tools import ToolResult
    from knime_ext.tools.approval import Approve

__all__ = ["ToolHost"]


class ToolHost:
    """A node's context with every way to run a tool: workflows, and tools of MCP servers.

    The embedded runtime has them all and is asked. KNIME runs workflows only; there the sessions with MCP servers are
    opened here, on the first call, and closed with the `with` block. Calls may come from any thread, also side by
    side.

    Args:
        ctx: The node's context.
        changed: What happens with a tool that has changed since it was listed: "FAIL", "WARN" or "ACCEPT".
        questions: How questions of servers are answered: "DEFAULTS" or "DECLINE". With the first, the person in
            front of the run answers, if the host knows one.
    """

    def __init__(self, ctx: Any, *, changed: str = "FAIL", questions: str = "DEFAULTS") -> None:
        self._ctx = ctx
        self._changed = changed
        self._questions = questions
        self._person = getattr(ctx, "_person", None)
        self._fraction = 0.0
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

    @property
    def approve(self) -> Approve | None:
        """Asks the person in front of the run about a call; None if there is nobody."""
        return None if self._person is None else self._person.approve

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
        number = self._report(tool)
        tool = self._as_trusted(tool)
        with self._attended(tool, number):
            try:
                return self._call(tool, parameters)
            except MCPToolChanged as change:
                return self._call(self._after(change, tool), parameters)

    def _call(self, tool: MCPTool, parameters: dict[str, Any]) -> str:
        if self._has_mcp:
            return self._ctx._execute_mcp_tool(tool, parameters)
        return self._own_caller().text(tool, parameters)

    async def _acall_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> ToolResult:
        """Calls a tool of an MCP server; the result keeps every content block if the host does."""
        number = self._report(tool)
        tool = self._as_trusted(tool)
        with self._attended(tool, number):
            try:
                return await self._acall(tool, parameters)
            except MCPToolChanged as change:
                return await self._acall(self._after(change, tool), parameters)

    async def _acall(self, tool: MCPTool, parameters: dict[str, Any]) -> ToolResult:
        rich = getattr(self._ctx, "_acall_mcp_tool", None)
        if rich is not None:
            return await rich(tool, parameters)
        if not self._has_mcp:
            return await self._own_caller().acall(tool, parameters)
        from knime_ext.agent.threads import call_in_thread
        from knime_ext.tools import ToolResult

        return ToolResult.of_text(await call_in_thread(self._ctx._execute_mcp_tool, tool, parameters))

    def _as_trusted(self, tool: MCPTool) -> MCPTool:
        """The tool without its fingerprint where changes do not matter: nothing is compared then."""
        return replace(tool, fingerprint=None) if self._changed == "ACCEPT" else tool

    def _after(self, change: MCPToolChanged, tool: MCPTool) -> MCPTool:
        """The tool as it is now, with a warning.

        Raises:
            MCPToolChanged: Changed tools must not be called.
        """
        if self._changed != "WARN":
            raise change
        self._ctx.set_warning(str(change))
        return replace(tool, fingerprint=None)

    @contextmanager
    def _attended(self, tool: MCPTool, number: int) -> Generator[None]:
        """Shows the progress that the server reports and answers its questions."""
        from knime_ext.mcp import Progress, asking, showing_progress

        def show(progress: Progress) -> None:
            share = progress.fraction or 0.0
            begin, end = number / (number + 2), (number + 1) / (number + 3)
            text = f"call {number}: {tool.name}" + (f": {progress.message}" if progress.message else "")
            self._show(begin + share * (end - begin), text)

        with showing_progress(show), asking(self._handlers()):
            yield

    def _handlers(self) -> Handlers:
        from knime_ext.mcp import Handlers, answer_with_defaults, decline

        if self._questions == "DECLINE":
            return Handlers(elicit=decline)
        return Handlers(elicit=answer_with_defaults if self._person is None else self._person.answer)

    def _report(self, tool: Tool) -> int:
        """Shows which tool runs. How many calls will follow is unknown, so the bar slows down towards its end."""
        number = next(self._numbers)
        self._show(number / (number + 2), f"call {number}: {tool.name}")
        return number

    def _show(self, fraction: float, text: str) -> None:
        """Sets the node's progress bar, which never goes back, whichever of several calls speaks."""
        self._fraction = max(self._fraction, fraction)
        self._ctx.set_progress(self._fraction, text)

    def _own_caller(self) -> MCPToolCaller:
        from knime_ext.mcp import MCPToolCaller
        from knime_ext.mcp.listed import recall_listed

        with self._caller_lock:
            if self._caller is None:
                recall_listed()
                self._caller = self._stack.enter_context(MCPToolCaller())
            return self._caller
