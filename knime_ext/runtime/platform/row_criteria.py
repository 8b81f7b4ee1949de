"""Which rows of a table meet a set of criteria: one Boolean per row, computed column-wise."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from knime.types.tool import Field
from knime_ext.errors import ConfigurationError
from knime_ext.runtime.platform.arrow_columns import column_of, storage_of, type_name

__all__ = ["OPERATORS", "Criterion", "matching_rows"]

Column = pa.ChunkedArray
Mask = pa.ChunkedArray

_COMPARISONS: dict[str, Any] = {
    "EQ": pc.equal,
    "NEQ": pc.not_equal,
    "LT": pc.less,
    "LTE": pc.less_equal,
    "GT": pc.greater,
    "GTE": pc.greater_equal,
}
OPERATORS = (*_COMPARISONS, "IS_MISSING", "IS_NOT_MISSING", "WILDCARD", "REGEX")


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One condition on one column.

    Attributes:
        column: Name of the column; `<RowID>` for the row ids.
        operator: One of `OPERATORS`.
        value: What to compare with, as text; read according to the column's type.
        case_sensitive: Whether "A" and "a" differ when texts are compared.
    """

    column: str
    operator: str
    value: str = ""
    case_sensitive: bool = True


def matching_rows(table: pa.Table, criteria: Sequence[Criterion], *, match_all: bool = True) -> Mask:
    """Tells for each row whether it meets the criteria; a missing cell meets "is missing" and nothing else.

    Args:
        table: The rows, with or without a `<RowID>` column.
        criteria: At least one.
        match_all: True asks for all criteria, False for any.

    Raises:
        ConfigurationError: A column is not there, or operator, value and column type do not fit together.
    """
    if not criteria:
        raise ConfigurationError("there is no filter criterion: add at least one")
    combine: Any = pc.and_ if match_all else pc.or_
    return reduce(combine, [_mask(table, criterion) for criterion in criteria])


def _mask(table: pa.Table, criterion: Criterion) -> Mask:
    column = column_of(table, criterion.column)
    if criterion.operator == "IS_MISSING":
        return column.is_null()
    if criterion.operator == "IS_NOT_MISSING":
        return column.is_valid()
    values = _comparable(column, criterion)
    if criterion.operator in ("WILDCARD", "REGEX"):
        return pc.fill_null(_matches_pattern(values, criterion), False)
    return pc.fill_null(_compares(values, criterion), False)


def _comparable(column: Column, criterion: Criterion) -> Column:
    """The values to compare: the tools' names for a tool column, the cells themselves otherwise."""
    storage = storage_of(column)
    names = _tool_names(storage)
    values = storage if names is None else names
    if pa.types.is_nested(values.type) or pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type):
        raise ConfigurationError(
            f"column {criterion.column!r} holds {type_name(column.type)}, which can only be tested for missing "
            "cells: choose the operator 'is missing' or 'is not missing', or another column"
        )
    return values


def _tool_names(storage: Column) -> Column | None:
    if not pa.types.is_struct(storage.type):
        return None
    children = {storage.type.field(i).name: storage.type.field(i).type for i in range(storage.type.num_fields)}
    if Field.SERVER_URI.key in children:
        return pc.struct_field(storage, [Field.NAME.key])
    if list(children) == ["0", "1"] and pa.types.is_struct(children["1"]) and children["1"].num_fields == 6:
        return pc.struct_field(storage, ["1", "0"])  # the two-level layout of older workflow tools
    return None


def _compares(values: Column, criterion: Criterion) -> Mask:
    compare = _COMPARISONS[criterion.operator]
    if pa.types.is_string(values.type) and not criterion.case_sensitive:
        return compare(pc.utf8_lower(values), criterion.value.lower())
    if pa.types.is_null(values.type):
        return pc.cast(values, pa.bool_())
    scalar = _typed_value(values.type, criterion)
    # A whole-number column compared with 2.5 is compared as decimals.
    if pa.types.is_integer(values.type) and pa.types.is_floating(scalar.type):
        values = pc.cast(values, pa.float64(), safe=False)
    return compare(values, scalar)


def _typed_value(wanted: pa.DataType, criterion: Criterion) -> pa.Scalar:
    text = criterion.value.strip()
    try:
        if pa.types.is_string(wanted):
            return pa.scalar(criterion.value)
        if pa.types.is_integer(wanted):
            return _number(text)
        return pa.scalar(_moment(text, wanted), wanted) if pa.types.is_temporal(wanted) else pc.cast(text, wanted)
    except (ValueError, OverflowError) as error:
        example = _EXAMPLES.get(type_name(wanted))
        raise ConfigurationError(
            f"column {criterion.column!r} holds {type_name(wanted)}, and {criterion.value!r} is none: "
            + (f"give a value such as {example}" if example else "test it for missing cells only")
        ) from error


_EXAMPLES = {
    "whole numbers": "42",
    "numbers": "42.5",
    "true/false values": "true or false",
    "dates": "2026-01-31",
    "dates with time": "2026-01-31T12:00:00",
    "dates with time and zone": "2026-01-31T12:00:00Z",
    "times": "12:00:00",
}


def _moment(text: str, wanted: pa.DataType) -> date | time:
    """A date or time in ISO form; a time zone must be given exactly where the column has one."""
    if pa.types.is_date(wanted):
        return date.fromisoformat(text)
    if pa.types.is_time(wanted):
        return time.fromisoformat(text)
    if not isinstance(wanted, pa.TimestampType):
        raise ValueError(f"cannot compare {wanted}")
    moment = datetime.fromisoformat(text)
    if (moment.tzinfo is None) == bool(wanted.tz):
        raise ValueError("the time zone is missing, or there is one too many")
    return moment


def _number(text: str) -> pa.Scalar:
    try:
        return pa.scalar(int(text), pa.int64())
    except (ValueError, OverflowError):
        return pa.scalar(float(text))


def _matches_pattern(values: Column, criterion: Criterion) -> Mask:
    pattern = criterion.value if criterion.operator == "REGEX" else _wildcard_to_regex(criterion.value)
    try:
        texts = pc.cast(values, pa.string())
        return pc.match_substring_regex(texts, rf"(?s)\A(?:{pattern})\z", ignore_case=not criterion.case_sensitive)
    except pa.ArrowInvalid as error:
        raise ConfigurationError(
            f"the regular expression {criterion.value!r} for column {criterion.column!r} is not valid: "
            f"{_reason(error)}; correct it"
        ) from error


def _reason(error: pa.ArrowInvalid) -> str:
    """What Arrow says, without the pattern as it was wrapped."""
    return str(error).removeprefix("Invalid regular expression: ").partition(":")[0]


def _wildcard_to_regex(pattern: str) -> str:
    return "".join({"*": ".*", "?": "."}.get(sign) or re.escape(sign) for sign in pattern)
