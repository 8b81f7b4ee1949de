"""Row Filter: keeps or drops the rows that meet criteria."""

from __future__ import annotations

import knime.extension as knext
import pyarrow as pa
import pyarrow.compute as pc

from knime_ext.runtime.platform.categories import ROW
from knime_ext.runtime.platform.exchange import empty_arrow, knime_table, to_arrow
from knime_ext.runtime.platform.row_criteria import Criterion, matching_rows
from knime_ext.runtime.platform.row_filter_parameters import FilterCriterion, MatchPolicy, OutputMode

__all__ = ["RowFilter"]


@knext.node(
    "Row Filter",
    knext.NodeType.MANIPULATOR,
    "icons/row_filter.png",
    ROW,
    keywords=["select", "where", "include", "exclude", "tools"],
    id="RowFilter",
)
@knext.input_table("Table", "The rows to filter.")
@knext.output_table("Filtered table", "The rows that remain, with their RowIDs and in their order.")
class RowFilter:
    """Keeps or drops rows that meet criteria.

    Each criterion compares the cells of one column with a value. The value is read according to the column's type:
    as number for columns of numbers, as `true` or `false` for Booleans, as `2026-01-31` or `2026-01-31T12:00:00` for
    dates and times. A value that does not fit stops the node with a message.

    **Tools.** A column of tools is compared by the tools' names, so that `Matches wildcard` with `convert*` selects
    tools whose names begin with "convert".

    **Missing cells** meet the operator *Is missing* and no other one, not even ≠.

    Patterns (*Matches wildcard*, *Matches regex*) must fit the whole text; they work on numbers too, as they are
    written. Regular expressions have RE2 syntax, which knows no look-ahead and no back references.
    """

    match_policy = knext.EnumParameter(
        "Row matches if", "How several criteria work together.", MatchPolicy.AND.name, MatchPolicy
    )
    criteria = knext.ParameterArray(
        FilterCriterion(), "Criteria", "The conditions.", button_text="Add criterion", array_title="Criterion"
    )
    output_mode = knext.EnumParameter("Filter behavior", "Which rows go on.", OutputMode.MATCHING.name, OutputMode)

    def _kept(self, table: pa.Table) -> pa.ChunkedArray:
        criteria = [
            Criterion(
                column=each.column or "", operator=each.operator, value=each.value, case_sensitive=each.case_sensitive
            )
            for each in self.criteria
        ]
        matching = matching_rows(table, criteria, match_all=self.match_policy == MatchPolicy.AND.name)
        return matching if self.output_mode == OutputMode.MATCHING.name else pc.invert(matching)

    def configure(self, ctx: knext.ConfigurationContext, schema: knext.Schema) -> knext.Schema:
        """The same columns; refuses criteria that do not fit them."""
        self._kept(empty_arrow(schema))
        return schema

    def execute(self, ctx: knext.ExecutionContext, table: knext.Table) -> knext.Table:
        """The rows that remain."""
        return knime_table(table.to_pyarrow().filter(self._kept(to_arrow(table))))
