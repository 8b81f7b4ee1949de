"""The contexts that nodes get in this host: KNIME's, and the few things that KNIME offers only to its own nodes.

Methods with an underscore are not part of KNIME's public interface. `_execute_tool` has KNIME's signature; all of
them may be called from several threads at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knime_ext.runtime.knext.contexts import ConfigurationContext, ExecutionContext, NodeHost

if TYPE_CHECKING:
    from knime.types.tool import MCPTool, Tool, WorkflowTool
    from knime_ext.runtime.knext.table import Table
    from knime_ext.runtime.services import Services
    from knime_ext.tools import ToolResult

__all__ = ["EmbeddedConfigurationContext", "EmbeddedExecutionContext"]


class _Embedded(ConfigurationContext):
    """What this host adds while a workflow is configured and while it runs."""

    def __init__(
        self,
        services: Services,
        host: NodeHost,
        flow_variables: Mapping[str, Any],
        input_counts: Sequence[int] = (),
        output_counts: Sequence[int] = (),
    ) -> None:
        super().__init__(host, flow_variables, input_counts, output_counts)
        self._services = services

    def _resolve_path(self, text: str) -> Path:
        """A path as the user wrote it, relative to the workflow's folder."""
        return self._services.resolve_path(text)

    def _workflow_input(self, name: str) -> Table | None:
        """The table that was handed to the Workflow Input of that name, None if none was."""
        return self._services.inputs.get(name)

    def _configuration_value(self, name: str, default: Any) -> Any:
        """The value that was given for a parameter of the workflow, else the default."""
        return self._services.parameters.get(name, default)

    def _workflow_to_tool(self, path: str | Path) -> WorkflowTool:
        """The tool of a workflow document; its content goes to the file store."""
        from knime_ext.runtime.workflow_tools import workflow_to_tool

        services = self._services
        return workflow_to_tool(
            services.resolve_path(str(path)), registry=services.registry, filestore=services.filestore
        )


class EmbeddedConfigurationContext(_Embedded):
    """What `configure` gets."""


class EmbeddedExecutionContext(_Embedded, ExecutionContext):
    """What `execute` gets."""

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
