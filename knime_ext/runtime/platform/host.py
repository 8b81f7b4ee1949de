"""What only the embedded runtime offers to a node: the folder of the workflow, its inputs and parameters, its tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import knime.extension as knext

from knime.types.tool import WorkflowTool

__all__ = ["configuration_value", "resolved_path", "workflow_input", "workflow_tool"]

# The host's extras are no part of KNIME's interface; the underscore in their names says so, to everybody but us.


def resolved_path(ctx: knext.ConfigurationContext, text: str) -> Path:
    """A path as the user wrote it, relative to the workflow's folder."""
    return _host(ctx)._resolve_path(text)


def workflow_input(ctx: knext.ConfigurationContext, name: str) -> knext.Table | None:
    """The table that the caller gave for a Workflow Input; None if there is none."""
    return _host(ctx)._workflow_input(name)


def configuration_value(ctx: knext.ConfigurationContext, name: str, default: Any) -> Any:
    """The value that the caller gave for a parameter of the workflow, else the default."""
    return _host(ctx)._configuration_value(name, default)


def workflow_tool(ctx: knext.ConfigurationContext, path: Path) -> WorkflowTool:
    """The tool of a workflow file; its content goes to the file store."""
    return _host(ctx)._workflow_to_tool(path)


def _host(ctx: knext.ConfigurationContext) -> Any:
    return ctx
