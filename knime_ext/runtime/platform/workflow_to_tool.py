"""Workflow to Tool: turns workflow files into tools that an agent can call."""

from __future__ import annotations

import knime.extension as knext

from knime_ext.runtime.platform.categories import AGENTS
from knime_ext.runtime.platform.host import resolved_path, workflow_tool
from knime_ext.runtime.platform.workflow_files import matching_files

__all__ = ["WorkflowToTool"]


@knext.node(
    "Workflow to Tool",
    knext.NodeType.SOURCE,
    "icons/workflow_to_tool.png",
    AGENTS,
    keywords=["agent", "function", "tool calling"],
    id="WorkflowToTool",
)
@knext.output_table("Tools", "One row per workflow, in the column Tool.")
class WorkflowToTool:
    """Turns workflow files into tools that an agent can call.

    Each workflow becomes one row. The tool has the workflow's name and description, which the model reads to decide
    whether to call it, so they should say what the workflow does. Its parts become those of the tool:

    - Configuration nodes: parameters that the model sets,
    - Workflow Input nodes: tables that the model hands over,
    - Workflow Output nodes: tables that come back into the agent's data,
    - Tool Message Output: what the model gets to read.

    The tool holds a copy of the workflow and of the files that it reads, so that it still runs when the table was
    stored, or when the workflow has changed since; execute this node again to renew it.
    """

    workflows = knext.MultilineStringParameter(
        "Workflows",
        "Workflow files, one path or pattern such as `tools/*.json` per line; relative to the folder of this workflow.",
        "",
        number_of_lines=4,
    )

    def configure(self, ctx: knext.ConfigurationContext) -> knext.Schema:
        """The column of tools; refuses lines that match no file."""
        from knime_ext.runtime.platform.tool_columns import tool_schema

        matching_files(self.workflows, resolved_path(ctx, ""))
        return tool_schema()

    def execute(self, ctx: knext.ExecutionContext) -> knext.Table:
        """Reads the workflows."""
        from knime_ext.runtime.platform.tool_columns import tool_table

        files = matching_files(self.workflows, resolved_path(ctx, ""))
        return tool_table([workflow_tool(ctx, path) for path in files])
