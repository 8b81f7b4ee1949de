"""Tool Message Output: what a workflow that serves as a tool says to the model."""

from __future__ import annotations

import knime.extension as knext

from knime_ext.runtime.platform.categories import AGENTS

__all__ = ["ToolMessageOutput"]


@knext.node(
    "Tool Message Output",
    knext.NodeType.SINK,
    "icons/tool_message_output.png",
    AGENTS,
    keywords=["tool", "agent", "result", "answer"],
    id="ToolMessageOutput",
)
@knext.input_table("Tool message", "Table with the message in its first cell.")
class ToolMessageOutput:
    """Says to the model that called this workflow what came out.

    The message is the first cell of the first column; other cells are ignored. A workflow has at most one of these
    nodes. Tables for the agent's data leave through Workflow Output nodes; the model never sees their rows, so
    whatever it needs to know for its answer belongs into the message.
    """

    def configure(self, ctx: knext.ConfigurationContext, schema: knext.Schema) -> None:
        """Refuses a table without columns."""
        if not schema.num_columns:
            raise knext.InvalidParametersError("the message table has no column: connect a table with a text column")

    def execute(self, ctx: knext.ExecutionContext, table: knext.Table) -> None:
        """The engine reads the message at this node's input."""
