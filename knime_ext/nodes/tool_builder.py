"""Tool Builder: edited columns become tools again."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.nodes.category import category
from knime_ext.nodes.columns import chosen_column, holds_booleans, holds_text, holds_tools
from knime_ext.nodes.tool_edit_columns import EditColumns, edits_in

__all__ = ["ToolBuilder"]

_NONE = knext.ColumnParameter.NONE


@knext.node(
    name="Tool Builder",
    node_type=knext.NodeType.MANIPULATOR,
    icon_path="icons/tool_builder.png",
    category=category,
    keywords=["Tools", "MCP", "Agent", "Rename", "Restrict", "Describe", "Fold"],
    id="ToolBuilder",
)
@knext.input_table("Table", "Table with a column of tools and the columns that say what is to be changed.")
@knext.output_table("Table", "The same table with the edited tools in their column.")
class ToolBuilder:
    """Changes names, descriptions and arguments of tools as other columns say.

    The counterpart of the **Tool Explorer**: unfold tools, edit the plain columns with any table node (String
    Manipulation, Rule Engine, Joiner, Table Editor), and fold them back here. A good name and a good description decide
    whether a chat model picks the right tool, and fewer arguments leave it less to get wrong.

    **What can be changed.** The *name* and the *description* that models see. The *arguments*: narrower than before,
    such as fewer optional ones, fewer allowed values, a smaller range, other descriptions. *Hidden* arguments are not
    offered any more. A *fixed* argument has one allowed value left. The server's *hints* can only become more careful:
    a tool can lose its *Read-only*, but not gain it. A missing cell changes nothing.

    **What stays.** Server, provider and the name on the server, so a renamed tool calls what it called before. Also the
    fingerprint, which is a digest of what the *server* says: the agent still notices when the server changes the tool.

    **If an edit cannot work**, the node fails and names the row: parameters that are no JSON, an argument that the tool
    does not have, more than the tool takes, an argument left out that the tool requires, an empty name, or a new name
    that another tool of the column has too.

    **Restrictions are checked before each call**, by the agent and by the **Tool Caller**. They are not known to the
    server: who calls it past this table is not bound by them.
    """

    tool_column = knext.ColumnParameter(
        "Tool column",
        "Column with the tools to edit. The last tool column if none is selected.",
        port_index=0,
        column_filter=holds_tools,
    )
    explorer_columns = knext.BoolParameter(
        "Columns of the Tool Explorer",
        "Takes the edits from the columns *Name*, *Description*, *Parameters*, *Read-only*, *Destructive*, "
        "*Idempotent* and *Open world*, as far as the table has them. Turn it off to select the columns yourself.",
        True,
    )
    name_column = knext.ColumnParameter(
        "Names",
        "Text column with the new names.",
        0,
        holds_text,
        include_none_column=True,
        default_value=_NONE,
    ).rule(knext.OneOf(explorer_columns, [False]), knext.Effect.SHOW)
    description_column = knext.ColumnParameter(
        "Descriptions",
        "Text column with the new descriptions.",
        0,
        holds_text,
        include_none_column=True,
        default_value=_NONE,
    ).rule(knext.OneOf(explorer_columns, [False]), knext.Effect.SHOW)
    parameters_column = knext.ColumnParameter(
        "Parameters",
        "Text column with the arguments as JSON, in the form of the *Tool Explorer*'s column.",
        0,
        holds_text,
        include_none_column=True,
        default_value=_NONE,
    ).rule(knext.OneOf(explorer_columns, [False]), knext.Effect.SHOW)
    read_only_column = knext.ColumnParameter(
        "Read-only",
        "Boolean column; *false* where a tool is not to count as one that changes nothing, whatever its server says.",
        0,
        holds_booleans,
        include_none_column=True,
        default_value=_NONE,
    ).rule(knext.OneOf(explorer_columns, [False]), knext.Effect.SHOW)
    hidden_column = knext.ColumnParameter(
        "Hidden arguments",
        "Text column with names of arguments, separated by commas, that are not offered any more. Arguments that the "
        "tool requires cannot be hidden; fix them.",
        0,
        holds_text,
        include_none_column=True,
        default_value=_NONE,
    )
    fixed_column = knext.ColumnParameter(
        "Fixed arguments",
        'Text column with a JSON object such as `{"to": "EUR"}`: the only value that each of these arguments may have. '
        "Models see it as the only allowed value.",
        0,
        holds_text,
        include_none_column=True,
        default_value=_NONE,
    )

    def configure(self, ctx: knext.ConfigurationContext, schema: knext.Schema) -> Any:
        """The same columns."""
        self._edits(schema)
        return schema

    def execute(self, ctx: knext.ExecutionContext, table: knext.Table) -> Any:
        """Edits the tools, column by column."""
        from knime_ext.nodes.appended_columns import with_column
        from knime_ext.nodes.cells import tool_cells, tools_by_row
        from knime_ext.tools.tool_edits import folded_tools

        edits = self._edits(table.schema)
        folded = folded_tools(tools_by_row(table, edits.tool), edits_in(table, edits))
        if folded.problems:
            (row, reason), more = folded.problems[0], len(folded.problems) - 1
            others = f" ({more} more row{'s' if more > 1 else ''} cannot be built either)" if more else ""
            identifier = table.to_pyarrow().column("<RowID>")[row].as_py()
            raise knext.InvalidParametersError(f"The tool in row {identifier!r} cannot be built: {reason}.{others}")
        if not folded.changed:
            ctx.set_warning("No tool was changed: the columns say what the tools say already.")
        return with_column(table, edits.tool, tool_cells(folded.tools))

    def _edits(self, schema: knext.Schema) -> EditColumns:
        tool = chosen_column(schema, self.tool_column, holds_tools, what="tools", table="table")
        chosen = {
            "hidden": (self.hidden_column, holds_text),
            "fixed": (self.fixed_column, holds_text),
        }
        if not self.explorer_columns:
            chosen |= {
                "name": (self.name_column, holds_text),
                "description": (self.description_column, holds_text),
                "parameters": (self.parameters_column, holds_text),
                "Read-only": (self.read_only_column, holds_booleans),
            }
        return EditColumns.find(schema, tool, chosen, explorer=self.explorer_columns)
