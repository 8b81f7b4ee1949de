"""Where a call of a tool row goes: a workflow to the host's executor, an MCP tool to the session of its server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from knime.types.tool import MCPTool, WorkflowTool
from knime_ext.agent.data import DataTable
from knime_ext.tools import ToolResult

__all__ = ["Dispatch", "Reply", "ToolContext"]

Reply = tuple[str, ToolResult]
"""What the model reads, and the whole result."""


class ToolContext(Protocol):
    """What a host gives to a node to run tools; callable from any thread, also concurrently.

    A host may also have `async _acall_mcp_tool(tool, parameters) -> ToolResult`, which keeps every content block.
    """

    def _execute_tool(
        self, tool: WorkflowTool, parameters: dict[str, Any], inputs: list[Any], execution_hints: dict[str, str]
    ) -> tuple[str, Sequence[DataTable], Sequence[str]]: ...

    def _execute_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> str: ...


class Dispatch(Protocol):
    """One tool row made callable."""

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, as the model gets it."""
        ...

    @property
    def description(self) -> str:
        """Description, as the model gets it."""
        ...

    def call(self, arguments: Mapping[str, Any]) -> Reply:
        """Checks the arguments and calls the tool, blocking."""
        ...

    async def acall(self, arguments: Mapping[str, Any]) -> Reply:
        """Checks the arguments and calls the tool."""
        ...
