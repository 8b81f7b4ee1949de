"""Table Creator: a small table typed in by hand."""

from __future__ import annotations

import knime.extension as knext
import pyarrow as pa

from knime_ext.runtime.platform.categories import IO_OTHER
from knime_ext.runtime.platform.exchange import knime_schema, knime_table
from knime_ext.runtime.platform.typed_rows import typed_table

__all__ = ["TableCreator"]


class CellType(knext.EnumParameterOptions):
    """What the cells of a column hold."""

    STRING = ("String", "Texts.")
    INTEGER = ("Number (integer)", "Whole numbers between -2147483648 and 2147483647.")
    LONG = ("Number (long)", "Whole numbers of up to 64 bits.")
    DOUBLE = ("Number (double)", "Numbers with a decimal point.")
    BOOLEAN = ("Boolean", "True or false.")


@knext.parameter_group("Column")
class ColumnDefinition:
    """One column of the table."""

    name = knext.StringParameter("Column name", "Name of the column; no two columns have the same one.", "Column")
    type = knext.EnumParameter("Column type", "What the cells of the column hold.", CellType.STRING.name, CellType)


@knext.node(
    "Table Creator",
    knext.NodeType.SOURCE,
    "icons/table_creator.png",
    IO_OTHER,
    keywords=["manual", "constant", "rows", "JSON"],
    id="TableCreator",
)
@knext.output_table("Table", "The table as it was typed in.")
class TableCreator:
    """Creates a table from values that are typed in by hand.

    Use it for small tables: a list of names, a mapping of codes to labels, a prompt. First define the columns, then
    write the rows as JSON.

    **Rows** are a JSON array with one array per row and one cell per column:

        [["red", 3], ["green", null]]

    A row may also be an object with cells by column name; columns that it leaves out are missing:

        [{"colour": "red", "count": 3}, {"colour": "green"}]

    `null` is a missing cell. A cell that does not fit the type of its column stops the node with a message that names
    row, column and value; nothing is converted silently.
    """

    columns = knext.ParameterArray(
        ColumnDefinition(),
        "Columns",
        "The columns of the table, from left to right.",
        button_text="Add column",
        array_title="Column",
    )
    rows = knext.MultilineStringParameter("Rows (JSON)", "The rows, as a JSON array.", "[]", number_of_lines=12)

    def _table(self) -> pa.Table:
        return typed_table([(column.name, column.type) for column in self.columns], self.rows)

    def configure(self, ctx: knext.ConfigurationContext) -> knext.Schema:
        """The columns; refuses rows that do not fit them."""
        return knime_schema(self._table())

    def execute(self, ctx: knext.ExecutionContext) -> knext.Table:
        """The table."""
        return knime_table(self._table())
