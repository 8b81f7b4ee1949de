"""Tool Explorer: what is in a tool, as plain columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import knime.extension as knext

from knime_ext.nodes.appended_columns import appended, free_names, plain_type
from knime_ext.nodes.category import category
from knime_ext.nodes.columns import chosen_column, holds_tools
from knime_ext.nodes.failures import shown_to_the_user

if TYPE_CHECKING:
    from knime_ext.tools.tool_columns import ToolColumn

__all__ = ["ToolExplorer"]


class ExplorerColumns(knext.EnumParameterOptions):
    """The columns that can be appended; `TOOL_COLUMNS` says how each is read."""

    TYPE = ("Type", "*MCP* or *Workflow*.")
    NAME = ("Name", "The name that people and models see.")
    DESCRIPTION = ("Description", "What the tool does.")
    SERVER = ("Server", "Address of the MCP server, or `stdio:` and the name of a provider.")
    PROVIDER = ("Provider", "Name of the registered provider that calls go through.")
    WIRE_NAME = ("Wire name", "The name on the server, under which calls go out.")
    PARAMETERS = (
        "Parameters",
        "The arguments as JSON: for a tool of an MCP server a JSON Schema, for a workflow one entry per parameter.",
    )
    PARAMETER_NAMES = ("Parameter names", "Names of the arguments, separated by commas.")
    REQUIRED = ("Required parameters", "The arguments that every call must give.")
    READ_ONLY = ("Read-only", "Whether the server says that the tool changes nothing. Missing if it does not say.")
    DESTRUCTIVE = ("Destructive", "Whether it says that the tool may destroy something.")
    IDEMPOTENT = ("Idempotent", "Whether it says that a second equal call changes nothing more.")
    OPEN_WORLD = ("Open world", "Whether it says that the tool deals with the world outside of the server.")
    FINGERPRINT = ("Fingerprint", "Digest of the server's own description when the tool was listed.")
    INPUT_PORTS = ("Input ports", "Names of the tables that a workflow takes.")
    OUTPUT_PORTS = ("Output ports", "Names of the tables that a workflow makes.")
    OUTPUT_SCHEMA = ("Output schema", "JSON Schema of structured results, if the server gives one.")
    TOKENS = ("Tokens (estimated)", "About how much of a chat model's context the tool takes.")
    PROBLEM = ("Problem", "What is wrong with a damaged cell. Its other columns are missing then.")


@knext.node(
    name="Tool Explorer",
    node_type=knext.NodeType.MANIPULATOR,
    icon_path="icons/tool_explorer.png",
    category=category,
    keywords=["Tools", "MCP", "Agent", "Extract", "Unfold", "Metadata", "Tokens"],
    id="ToolExplorer",
)
@knext.input_table("Table", "Table with a column of tools.")
@knext.output_table("Table", "The same table with the plain columns at its end. The tools themselves stay.")
class ToolExplorer:
    """Shows what is in a column of tools, as plain columns.

    A tool is one cell, and table nodes cannot look into it. This node appends what is inside as texts, numbers and
    booleans: the kind of the tool, its name and description, where it comes from, what it takes, what its server says
    about its effects, and about how many tokens it costs in every request to a chat model. From there on, tools are
    ordinary data.

    **What to do with it.** Keep only tools that change nothing with a **Row Filter** on *Read-only*. Sort by
    *Tokens (estimated)* and drop the most expensive ones. Find tools of equal names with a **GroupBy**. Join a list of
    permitted tools by *Name* and *Server*. The column of tools travels along, so the **Agent Prompter** takes the
    result as it is. Edit names, descriptions or arguments in the plain columns and fold them back with the
    **Tool Builder**.

    **A word of warning.** What a server says about the effects of a tool is a hint and not a promise. It is missing
    where the server says nothing.

    **Missing and damaged cells.** A missing tool gives missing cells. A damaged one does so too: the column *Problem*
    says what is wrong with it, and the node warns. Filter such rows out before you connect an agent.

    A column whose name the table has already gets a number: *Name (#1)*.
    """

    tool_column = knext.ColumnParameter(
        "Tool column",
        "Column with the tools. The last tool column if none is selected.",
        port_index=0,
        column_filter=holds_tools,
    )
    columns = knext.EnumSetParameter("Columns", "Which columns are appended.", None, ExplorerColumns)

    def configure(self, ctx: knext.ConfigurationContext, schema: knext.Schema) -> Any:
        """The columns of the table and the plain ones."""
        self._tool_column(schema)
        new = [knext.Column(plain_type(column.kind), name) for name, column in self._new_columns(schema).values()]
        return knext.Schema.from_columns([*schema, *new])

    def execute(self, ctx: knext.ExecutionContext, table: knext.Table) -> Any:
        """Unfolds the tools, column by column."""
        from knime_ext.tools import decode_tools
        from knime_ext.tools.tool_columns import unfolded_tools

        schema = table.schema
        name = self._tool_column(schema)
        with shown_to_the_user():
            decoded = decode_tools(table[[name]].to_pyarrow().column(name), on_damage="report")
        if decoded.damaged:
            count = len(decoded.damaged)
            ctx.set_warning(
                f"{count} cell{'s' if count > 1 else ''} of column {name!r} {'are' if count > 1 else 'is'} damaged; "
                "the column 'Problem' says why."
            )
        new = self._new_columns(schema)
        cells = unfolded_tools(decoded, list(new))
        return appended(table, {new[key][0]: array for key, array in cells.items()})

    def _tool_column(self, schema: knext.Schema) -> str:
        return chosen_column(schema, self.tool_column, holds_tools, what="tools", table="table")

    def _new_columns(self, schema: knext.Schema) -> dict[str, tuple[str, ToolColumn]]:
        """Name and description of each column that is appended, by its key."""
        from knime_ext.tools.tool_columns import TOOL_COLUMNS

        wanted = {key: column for key, column in TOOL_COLUMNS.items() if key in self.columns}
        names = free_names(schema.column_names, [column.name for column in wanted.values()])
        return dict(zip(wanted, zip(names, wanted.values(), strict=True), strict=True))
