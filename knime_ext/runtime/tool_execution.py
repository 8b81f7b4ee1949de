"""Runs tool rows, for a node that executes and for Python code without any workflow.

The methods begin with an underscore because KNIME's do: `_execute_tool` has KNIME's signature. All of them may be
called from several threads at a time.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knime.types.tool import MCPTool, Tool
    from knime_ext.mcp import Server
    from knime_ext.runtime.filestore import FileStore
    from knime_ext.runtime.knext.contexts import Credential
    from knime_ext.runtime.knext.table import Table
    from knime_ext.runtime.person import Person
    from knime_ext.runtime.services import Services
    from knime_ext.tools import ToolResult

__all__ = ["ToolExecution", "tool_context"]


class ToolExecution:
    """What a chat model's tools need of a host: something that runs workflows and calls MCP servers."""

    _services: Services

    @property
    def _mcp_providers(self) -> Mapping[str, Server] | None:
        """The MCP servers that are registered for this run; None for those in the operator's own file."""
        return self._services.mcp.providers

    @property
    def _person(self) -> Person | None:
        """Who answers questions of servers and approves calls during this run; None if nobody does."""
        return self._services.person

    def _execute_tool(
        self,
        tool: Tool,
        parameters: dict[str, Any],
        inputs: Sequence[Table],
        execution_hints: Mapping[str, str] | None = None,
    ) -> tuple[str, list[Table], list[str]]:
        """Runs a tool.

        Args:
            tool: A tool of either kind.
            parameters: Parameter name to value; what is absent takes its default.
            inputs: One table per input port of a workflow tool.
            execution_hints: "with-view-nodes": "true" asks for the identifiers of nodes with a view.

        Returns:
            The tool's message, its output tables, and the identifiers of view nodes.

        Raises:
            RuntimeError: The tool failed; the text says why.
        """
        from knime_ext.runtime.workflow_tools import execute_tool

        return execute_tool(tool, parameters, inputs, execution_hints or {}, self._services)

    def _execute_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> str:
        """Calls a tool of an MCP server and waits for the text of its result.

        Raises:
            ToolFailed: The tool reports a failure of its own.
            MCPError: The server or the way to it failed.
        """
        return self._services.mcp.text(tool, parameters)

    async def _acall_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> ToolResult:
        """Calls a tool of an MCP server; the result keeps every content block."""
        return await self._services.mcp.acall(tool, parameters)


class _ToolContext(ToolExecution):
    def __init__(self, services: Services) -> None:
        self._services = services


@contextmanager
def tool_context(
    *,
    providers: Mapping[str, Server] | None = None,
    credentials: Mapping[str, Credential] | None = None,
    filestore: FileStore | None = None,
) -> Generator[ToolExecution]:
    """A host for tool rows outside of any workflow; leaving it closes every session that a call opened.

        with tool_context() as context:
            tools = to_langchain_tools(rows, context)

    Args:
        providers: Registered MCP servers by name, for rows that refer to them; None for those in the operator's own
            file.
        credentials: Credentials by name, for the nodes of workflow tools.
        filestore: Where the content of workflow tools lies; the user's own file store if not given.
    """
    from knime_ext.runtime.filestore import FileStore
    from knime_ext.runtime.mcp_calls import MCPCalls
    from knime_ext.runtime.registry import NodeRegistry
    from knime_ext.runtime.run_folder import temporary_directory
    from knime_ext.runtime.services import Services

    with temporary_directory() as folder, MCPCalls(providers) as mcp:
        yield _ToolContext(
            Services(
                registry=NodeRegistry.load(),
                filestore=filestore or FileStore.default(),
                base_dir=Path.cwd(),
                temp_dir=folder,
                mcp=mcp,
                is_canceled=lambda: False,
                credentials=credentials or {},
            )
        )
