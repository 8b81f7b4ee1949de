"""The contexts that nodes get in this host: KNIME's, and the few things that KNIME offers only to its own nodes.

Methods with an underscore are not part of KNIME's public interface. `_execute_tool` has KNIME's signature; all of
them may be called from several threads at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knime_ext.runtime.knext.contexts import ConfigurationContext, ExecutionContext, NodeHost
from knime_ext.runtime.tool_execution import ToolExecution

if TYPE_CHECKING:
    from knime.types.tool import WorkflowTool
    from knime_ext.runtime.knext.table import Table
    from knime_ext.runtime.services import Services

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


class EmbeddedExecutionContext(_Embedded, ToolExecution, ExecutionContext):
    """What `execute` gets."""

    def _node_folder(self) -> Path:
        """Folder for what this node keeps beside its outputs, not made yet; temporary if the run keeps nothing."""
        return self._host.node_dir
