"""What only the embedded runtime offers to a node: the folder of the workflow, its inputs and parameters, its tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, cast

import knime.extension as knext

from knime.types.tool import WorkflowTool

__all__ = ["EmbeddedHost", "embedded"]


class EmbeddedHost(Protocol):
    """The extras of the embedded runtime's contexts."""

    def _resolve_path(self, text: str) -> Path: ...

    def _workflow_to_tool(self, path: Path) -> WorkflowTool: ...

    def _workflow_input(self, name: str) -> knext.Table | None: ...

    def _configuration_value(self, name: str, default: Any) -> Any: ...


def embedded(ctx: knext.ConfigurationContext) -> EmbeddedHost:
    """The context under the type that has the extras."""
    return cast("EmbeddedHost", ctx)
