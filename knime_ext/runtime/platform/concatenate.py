"""Concatenate: puts the rows of several tables below each other."""

from __future__ import annotations

import knime.extension as knext
import pyarrow as pa

from knime_ext.runtime.platform.categories import ROW
from knime_ext.runtime.platform.concatenation import concatenate
from knime_ext.runtime.platform.exchange import empty_arrow, knime_schema, knime_table, to_arrow

__all__ = ["Concatenate"]


class ColumnSetPolicy(knext.EnumParameterOptions):
    """Which columns the output has."""

    UNION = ("Union", "Every column of any input; cells that an input does not have are missing.")
    INTERSECTION = ("Intersection", "Only the columns that all inputs have.")


class RowIDHandling(knext.EnumParameterOptions):
    """What happens to RowIDs."""

    APPEND_SUFFIX = ("Append suffix", "RowIDs are kept; repeated ones get a suffix.")
    CREATE_NEW = ("Create new", "Rows are numbered: Row0, Row1 and so on.")
    SKIP = ("Skip duplicates", "Rows with a RowID that was there before are dropped.")
    FAIL = ("Fail", "A repeated RowID stops the node.")


@knext.node(
    "Concatenate",
    knext.NodeType.MANIPULATOR,
    "icons/concatenate.png",
    ROW,
    keywords=["append", "union", "stack", "merge", "tools"],
    id="Concatenate",
)
@knext.input_table_group("Tables", "The tables to put below each other, in this order.")
@knext.output_table("Concatenated table", "All rows of all inputs.")
class Concatenate:
    """Puts the rows of any number of tables below each other.

    Columns with the same name become one column. Their types must be equal; numbers are the exception: integers become
    long integers, and both become doubles, where another input needs it. Columns that differ otherwise, such as texts
    and numbers, stop the node with a message that names the column.

    **Tools** from different nodes have one type, whether they are workflows or tools of an MCP server. If their columns
    have the same name, such as "Tool", the output has one column with all of them.
    """

    column_set_policy = knext.EnumParameter(
        "How to combine input columns", "Which columns the output has.", ColumnSetPolicy.UNION.name, ColumnSetPolicy
    )
    row_id_handling = knext.EnumParameter(
        "RowID handling", "What happens to RowIDs.", RowIDHandling.APPEND_SUFFIX.name, RowIDHandling
    )
    suffix = knext.StringParameter("Suffix", "Appended to a repeated RowID, several times if need be.", "_dup").rule(
        knext.OneOf(row_id_handling, [RowIDHandling.APPEND_SUFFIX.name]), knext.Effect.SHOW
    )

    def _stacked(self, tables: list[pa.Table]) -> pa.Table:
        return concatenate(tables, columns=self.column_set_policy, row_ids=self.row_id_handling, suffix=self.suffix)

    def configure(self, ctx: knext.ConfigurationContext, schemas: list[knext.Schema]) -> knext.Schema:
        """The columns of all inputs, as one set."""
        return knime_schema(self._stacked([empty_arrow(schema) for schema in schemas]))

    def execute(self, ctx: knext.ExecutionContext, tables: list[knext.Table]) -> knext.Table:
        """All rows, one input after the other."""
        return knime_table(self._stacked([to_arrow(table) for table in tables]))
