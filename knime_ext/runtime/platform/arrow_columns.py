"""Arrow columns as the platform nodes look at them: by name, without their logical type, in plain words."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.nearest import did_you_mean

__all__ = ["ROW_ID", "column_of", "is_logical", "missing_cells", "storage_of", "type_name", "wider_type"]

ROW_ID = "<RowID>"
"""Name of the column with the row ids, always the first of a table."""


def _is_zoned(kind: pa.DataType) -> bool:
    return isinstance(kind, pa.TimestampType) and bool(kind.tz)


_UNITS = ["s", "ms", "us", "ns"]

_PLAIN_NAMES: tuple[tuple[Any, str], ...] = (
    (pa.types.is_boolean, "true/false values"),
    (pa.types.is_integer, "whole numbers"),
    (pa.types.is_floating, "numbers"),
    (pa.types.is_decimal, "numbers"),
    (pa.types.is_string, "texts"),
    (pa.types.is_large_string, "texts"),
    (pa.types.is_date, "dates"),
    (_is_zoned, "dates with time and zone"),
    (pa.types.is_timestamp, "dates with time"),
    (pa.types.is_time, "times"),
    (pa.types.is_duration, "durations"),
    (pa.types.is_binary, "binary data"),
    (pa.types.is_large_binary, "binary data"),
    (pa.types.is_list, "lists"),
    (pa.types.is_struct, "structures"),
    (pa.types.is_null, "nothing but missing cells"),
)


def is_logical(kind: pa.DataType) -> bool:
    """Whether the type is one of KNIME's logical types, such as that of tools."""
    return isinstance(kind, pa.BaseExtensionType)


def type_name(kind: pa.DataType) -> str:
    """What a column of this type holds, in words for people, such as "whole numbers"."""
    if isinstance(kind, pa.BaseExtensionType):
        return "tools" if pa.types.is_struct(kind.storage_type) and kind.storage_type.num_fields == 9 else "objects"
    return next((name for fits, name in _PLAIN_NAMES if fits(kind)), str(kind))


def column_of(table: pa.Table, name: str) -> pa.ChunkedArray:
    """One column of the table.

    Raises:
        ConfigurationError: The table has no column of that name.
    """
    if name not in table.column_names:
        if not name:
            raise ConfigurationError("a column is not chosen: choose one")
        others = [each for each in table.column_names if each != ROW_ID]
        raise ConfigurationError(f"the table has no column {name!r}; {did_you_mean(name, others, kind='columns')}")
    return table.column(name)


def storage_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column without its logical type; other columns as they are."""
    kind = column.type
    if not isinstance(kind, pa.BaseExtensionType):
        return column
    chunks: list[Any] = [chunk.storage for chunk in column.chunks]
    return pa.chunked_array(chunks, type=kind.storage_type)


def missing_cells(count: int, kind: pa.DataType) -> pa.Array:
    """A column of missing cells of any type, logical types included."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.nulls(count, kind.storage_type))
    return pa.nulls(count, kind)


def wider_type(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """The type that holds the values of both; None if they are of different kinds.

    Integers and numbers widen, times take the finer unit, and a column of nothing but missing cells fits any type.
    """
    if one.equals(other) or pa.types.is_null(other):
        return one
    if pa.types.is_null(one):
        return other
    numbers = [pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in (one, other)]
    if not all(numbers):
        return _finer(one, other)
    whole = pa.types.is_integer(one) and pa.types.is_integer(other)
    return pa.int64() if whole else pa.float64()


def _finer(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Of two types of the same kind of time, the one with the finer unit."""
    if isinstance(one, pa.TimestampType) and isinstance(other, pa.TimestampType) and bool(one.tz) == bool(other.tz):
        return one if _UNITS.index(one.unit) >= _UNITS.index(other.unit) else pa.timestamp(other.unit, one.tz)
    if isinstance(one, pa.DurationType) and isinstance(other, pa.DurationType):
        return max(one, other, key=lambda kind: _UNITS.index(kind.unit))
    if pa.types.is_time(one) and pa.types.is_time(other):
        return pa.time64("ns")
    return pa.date32() if pa.types.is_date(one) and pa.types.is_date(other) else None
