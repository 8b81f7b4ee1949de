"""Column Filter: keeps some columns of a table."""

from __future__ import annotations

import knime.extension as knext

from knime_ext.runtime.platform.categories import COLUMN
from knime_ext.runtime.platform.column_choice import ColumnChoiceParameter

__all__ = ["ColumnFilter"]


@knext.node(
    "Column Filter",
    knext.NodeType.MANIPULATOR,
    "icons/column_filter.png",
    COLUMN,
    keywords=["select", "include", "exclude", "remove"],
    id="ColumnFilter",
)
@knext.input_table("Table", "The table whose columns are filtered.")
@knext.output_table("Filtered table", "The chosen columns in their order; all rows.")
class ColumnFilter:
    """Keeps some of a table's columns and drops the others.

    Columns are chosen one by one, by a pattern on their names, or by their type. Columns that are chosen one by one and
    do not exist (any more) are left out silently, as in KNIME; columns that appeared since are kept or dropped as
    *any unknown columns* says.

    In a workflow file a plain list of names will do: `"column_filter": ["customer", "revenue"]` keeps these columns
    and no others.
    """

    column_filter = ColumnChoiceParameter("Column filter", "The columns to keep.", 0)

    def configure(self, ctx: knext.ConfigurationContext, schema: knext.Schema) -> knext.Schema:
        """The columns that remain."""
        return self.column_filter.apply(schema)

    def execute(self, ctx: knext.ExecutionContext, table: knext.Table) -> knext.Table:
        """The table with the columns that remain."""
        return self.column_filter.apply(table)
