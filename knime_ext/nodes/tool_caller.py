"""Tool Caller: one call per row, without any chat model."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.nodes.appended_columns import free_names
from knime_ext.nodes.category import category
from knime_ext.nodes.failures import shown_to_the_user
from knime_ext.nodes.tool_call_settings import ResultForm, ToolCallSettings

__all__ = ["ToolCaller"]


@knext.node(
    name="Tool Caller",
    node_type=knext.NodeType.OTHER,
    icon_path="icons/tool_caller.png",
    category=category,
    keywords=["Tools", "MCP", "Call", "Workflow tool", "Batch", "API"],
    id="ToolCaller",
)
@knext.input_table("Tools", "Table with a column of tools.")
@knext.input_table("Data", "One row per call; its columns are the arguments.")
@knext.output_table("Results", "The data with the results as further columns.")
class ToolCaller(ToolCallSettings):
    """Calls a tool once per row, with arguments from columns, and without any chat model.

    Use it where you know which tool to call and what with: convert every amount, look every address up, translate every
    text. It is faster than an agent, costs no tokens and gives the same for the same rows.

    **Arguments.** Each argument takes its values from the column that has its name. For other columns, and for values
    that are the same for all rows, add entries under *Other arguments*. Values are converted to what the tool takes:
    texts that are numbers become numbers, dates become texts, lists become lists. A missing cell leaves the argument
    out. Arguments that have one allowed value, or a default, need no column. All arguments are checked before a call
    goes out; what does not fit fails the row and not the server.

    **Results.** The text of each result is a column. If the tool says what its results consist of, each value becomes a
    column of its type; lists and objects become JSON. Pictures, sounds and files become binary columns.

    **Errors.** A row that fails does not stop the others: its error stands in the error column. Set *If a call fails*
    to *Fail* to stop the node at the first one. If the node is stopped or the program ends, rows that are finished are
    not called again when you execute it the next time with the same data.

    **Warning.** Every row is a real call. A tool that sends, books or deletes something does so once per row, and
    several rows at a time: try it with the first rows alone.

    **Workflows as tools** are called with their parameters and give their message. Their output tables are not kept,
    and workflows that take tables cannot be called by rows: use the **Agent Prompter** for those. In KNIME workflows
    run one after another.
    """

    def configure(self, ctx: knext.ConfigurationContext, tools: knext.Schema, data: knext.Schema) -> Any:
        """The columns, as far as they are known without calling."""
        self.tools_in(tools)
        self.names_in(data)
        self.mapped(data)
        self.check_names()
        if self.results == ResultForm.TYPED.name:
            return None
        columns = self.fixed_columns() | ({} if self.error_column is None else {self.error_column: knext.string()})
        names = free_names(data.column_names, columns)
        new = [knext.Column(ktype, name) for name, ktype in zip(names, columns.values(), strict=True)]
        return knext.Schema.from_columns([*data, *new])

    def execute(self, ctx: knext.ExecutionContext, tools: knext.Table, data: knext.Table) -> Any:
        """Calls the tools, several at a time."""
        from knime_ext.nodes.tool_call_run import call_tools

        self.check_names()
        with shown_to_the_user():
            return call_tools(self, ctx, tools, data)
