"""Joiner: combines the rows of two tables that agree in some columns."""

from __future__ import annotations

import knime.extension as knext
import pyarrow as pa

from knime_ext.runtime.platform.categories import TABLE
from knime_ext.runtime.platform.exchange import empty_arrow, knime_schema, knime_table, to_arrow
from knime_ext.runtime.platform.joining import JoinSettings, join

__all__ = ["Joiner"]


class JoinMode(knext.EnumParameterOptions):
    """Which rows the output has."""

    INNER = ("Inner join", "Only rows with a partner in the other table.")
    LEFT_OUTER = ("Left outer join", "All rows of the left table.")
    RIGHT_OUTER = ("Right outer join", "All rows of the right table.")
    FULL_OUTER = ("Full outer join", "All rows of both tables.")


class RowIDs(knext.EnumParameterOptions):
    """The RowIDs of the output."""

    CONCATENATE = ("Concatenate original RowIDs", "Both RowIDs with the separator between them; ? for no partner.")
    SEQUENTIAL = ("Assign new RowIDs sequentially", "Rows are numbered: Row0, Row1 and so on.")


@knext.parameter_group("Join columns")
class JoinColumns:
    """A pair of columns that must agree."""

    left = knext.ColumnParameter("Top input ('left' table)", "Column of the left table.", 0, include_row_key=True)
    right = knext.ColumnParameter("Bottom input ('right' table)", "Column of the right table.", 1, include_row_key=True)


@knext.node(
    "Joiner",
    knext.NodeType.MANIPULATOR,
    "icons/joiner.png",
    TABLE,
    keywords=["lookup", "inner join", "outer join", "merge"],
    id="Joiner",
)
@knext.input_table("Left table", "The table whose columns come first.")
@knext.input_table("Right table", "The table whose columns are appended.")
@knext.output_table("Join result", "One row per pair of rows that agree, and rows without partner as chosen.")
class Joiner:
    """Combines each row of the left table with each row of the right table that agrees with it in all join columns.

    Rows come in the order of the left table; rows of the right table without partner come at the end. Cells of a
    missing partner are missing. A missing cell in a join column agrees with nothing.

    Integers, long integers and doubles agree where their values are equal; other types must be the same in both join
    columns. Columns of any type, tools included, are carried over; only tools and lists cannot be join columns.
    """

    join_columns = knext.ParameterArray(
        JoinColumns(), "Join columns", "Pairs of columns that must agree.", button_text="Add pair", array_title="Pair"
    )
    join_mode = knext.EnumParameter("Join mode", "Which rows the output has.", JoinMode.INNER.name, JoinMode)
    merge_join_columns = knext.BoolParameter("Merge joining columns", "Whether each pair becomes one column.", False)
    suffix = knext.StringParameter(
        "Suffix for duplicate columns",
        "Appended to right columns whose name is taken; empty stops the node.",
        " (Right)",
    )
    row_ids = knext.EnumParameter("RowIDs", "The RowIDs of the output.", RowIDs.CONCATENATE.name, RowIDs)
    separator = knext.StringParameter("Separator", "Between the two RowIDs.", "_").rule(
        knext.OneOf(row_ids, [RowIDs.CONCATENATE.name]), knext.Effect.SHOW
    )

    def _joined(self, left: pa.Table, right: pa.Table) -> pa.Table:
        settings = JoinSettings(
            pairs=[(pair.left or "", pair.right or "") for pair in self.join_columns],
            mode=self.join_mode,
            suffix=self.suffix,
            merge=self.merge_join_columns,
            separator=self.separator if self.row_ids == RowIDs.CONCATENATE.name else None,
        )
        return join(left, right, settings)

    def configure(self, ctx: knext.ConfigurationContext, left: knext.Schema, right: knext.Schema) -> knext.Schema:
        """The columns of both tables."""
        return knime_schema(self._joined(empty_arrow(left), empty_arrow(right)))

    def execute(self, ctx: knext.ExecutionContext, left: knext.Table, right: knext.Table) -> knext.Table:
        """Joins the rows."""
        return knime_table(self._joined(to_arrow(left), to_arrow(right)))
