"""Convert Tools: older columns of tools become columns of the type that holds tools of every kind."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.nodes.category import category
from knime_ext.nodes.columns import chosen_column, holds_tools, is_older, tool_type
from knime_ext.nodes.failures import shown_to_the_user

__all__ = ["ConvertTools"]


@knext.node(
    name="Convert Tools",
    node_type=knext.NodeType.MANIPULATOR,
    icon_path="icons/convert_tools.png",
    category=category,
    keywords=["Tools", "Workflow tool", "MCP", "Agent", "Type"],
    id="ConvertTools",
)
@knext.input_table("Table", "Table with one or more columns of tools, of an older kind or of today's.")
@knext.output_table("Table", "The same table; the older columns of tools are of today's type.")
class ConvertTools:
    """Turns columns of older tools into columns that hold tools of every kind.

    Tools that were made by **Workflow to Tool** in KNIME stand in columns of their own type, which has no room for
    tools of MCP servers. Put such a table together with one of the **MCP Tool Provider** and you get a column that no
    agent can read. Convert the older table first: afterwards the **Concatenate** node makes one column of both.

    **What changes.** Only the type of the column. Name, description, arguments, ports and the workflow itself stay
    what they are; missing cells stay missing; all other columns and the row identifiers are kept, in their order.
    Columns that have today's type already pass through.

    **When you need it.** Only for mixing. The **Agent Prompter** of this extension reads older columns as they are.
    KNIME's own agent nodes read nothing but the older type: give them the table from before the conversion.

    A damaged cell fails the node; the message names its row and what is wrong.
    """

    all_columns = knext.BoolParameter(
        "All tool columns", "Converts every column of older tools. Turn it off to convert a single column.", True
    )
    tool_column = knext.ColumnParameter(
        "Tool column",
        "The column to convert. The last tool column if none is selected.",
        port_index=0,
        column_filter=holds_tools,
    ).rule(knext.OneOf(all_columns, [False]), knext.Effect.SHOW)

    def configure(self, ctx: knext.ConfigurationContext, schema: knext.Schema) -> Any:
        """The same columns, with today's type for the tools."""
        older = self._older_columns(schema)
        columns = [knext.Column(tool_type(), each.name) if each.name in older else each for each in schema]
        return knext.Schema.from_columns(columns)

    def execute(self, ctx: knext.ExecutionContext, table: knext.Table) -> Any:
        """Converts the columns, each as a whole."""
        from knime_ext.nodes.cells import converted_tools

        older = self._older_columns(table.schema)
        with shown_to_the_user():
            return converted_tools(table, older) if older else table

    def _older_columns(self, schema: knext.Schema) -> list[str]:
        selected = None if self.all_columns else self.tool_column
        last = chosen_column(schema, selected, holds_tools, what="tools", table="table")
        return [each.name for each in schema if is_older(each) and (self.all_columns or each.name == last)]
