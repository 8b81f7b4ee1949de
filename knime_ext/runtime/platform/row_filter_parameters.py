"""What can be chosen in a Row Filter: criteria, how they work together, which rows go on."""

from __future__ import annotations

import knime.extension as knext

__all__ = ["FilterCriterion", "MatchPolicy", "Operator", "OutputMode"]


class MatchPolicy(knext.EnumParameterOptions):
    """How several criteria work together."""

    AND = ("All criteria", "A row matches if it meets every criterion.")
    OR = ("Any criterion", "A row matches if it meets at least one criterion.")


class Operator(knext.EnumParameterOptions):
    """How a cell is compared with the value."""

    EQ = ("=", "The cell equals the value.")
    NEQ = ("≠", "The cell differs from the value and is not missing.")
    LT = ("<", "The cell is less than the value.")
    LTE = ("≤", "The cell is less than the value or equal to it.")
    GT = (">", "The cell is greater than the value.")
    GTE = ("≥", "The cell is greater than the value or equal to it.")
    IS_MISSING = ("Is missing", "The cell is missing.")
    IS_NOT_MISSING = ("Is not missing", "The cell is not missing.")
    WILDCARD = ("Matches wildcard", "The whole text fits a pattern with * (anything) and ? (one character).")
    REGEX = ("Matches regex", "The whole text fits a regular expression (RE2 syntax).")


class OutputMode(knext.EnumParameterOptions):
    """Which rows go on."""

    MATCHING = ("Output matching rows", "Rows that match go on, the others are dropped.")
    NON_MATCHING = ("Output non-matching rows", "Rows that match are dropped, the others go on.")


@knext.parameter_group("Criterion")
class FilterCriterion:
    """One condition on one column."""

    column = knext.ColumnParameter(
        "Filter column", "The column to test; `<RowID>` tests the RowIDs.", 0, include_row_key=True
    )
    operator = knext.EnumParameter("Operator", "How the cell is compared with the value.", Operator.EQ.name, Operator)
    value = knext.StringParameter("Value", "What to compare with; not needed to test for missing cells.", "")
    case_sensitive = knext.BoolParameter("Case sensitive", "Whether upper and lower case differ in texts.", True)
