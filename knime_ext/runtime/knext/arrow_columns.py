"""Arrow data on its way into and out of tables: column types, row ids, sentinels for missing numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from knime_ext.runtime.knext.arrow_types import LogicalExtensionType, UnsupportedColumn, table_type

__all__ = [
    "ROW_ID",
    "check_chunks",
    "generated_row_ids",
    "has_even_chunks",
    "missing_to_sentinel",
    "normalised",
    "sentinel_to_missing",
    "with_row_ids",
]

ROW_ID = "<RowID>"


def _unwrapped(column: Any) -> Any:
    chunks = [chunk.storage for chunk in column.chunks]
    return pa.chunked_array(chunks, type=column.type.storage_type)


def _converted(column: Any, target: pa.DataType) -> Any:
    if isinstance(column.type, LogicalExtensionType):
        return _converted(_unwrapped(column), target)
    return column if column.type == target else column.cast(target)


def normalised(table: pa.Table) -> pa.Table:
    """The same data under the column types that tables hold; columns that fit are not copied.

    Raises:
        UnsupportedColumn: KNIME has no type for a column; the error names it and the repair.
    """
    columns: list[Any] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            target = table_type(column.type)
        except UnsupportedColumn as error:
            raise UnsupportedColumn(
                f"column {name!r} has the Arrow type {column.type}, which tables cannot hold; {error}"
            ) from None
        columns.append(_converted(column, target))
    return pa.table(columns, names=table.column_names)


def has_even_chunks(table: pa.Table) -> bool:
    """Whether all chunks have the same size; the last one may be smaller."""
    sizes = [batch.num_rows for batch in table.to_batches()]
    return not sizes or (all(size == sizes[0] for size in sizes[:-1]) and sizes[-1] <= sizes[0])


def check_chunks(table: pa.Table) -> None:
    """Refuses chunks of uneven size, as KNIME does.

    Raises:
        ValueError: A chunk before the last one differs in size, or the last one is larger.
    """
    if not has_even_chunks(table):
        sizes = [batch.num_rows for batch in table.to_batches()]
        raise ValueError(
            f"the table comes in batches of {sizes} rows, but all except the last must have the same size; "
            "call combine_chunks() first"
        )


def generated_row_ids(count: int, start: int = 0) -> Any:
    """The row ids "Row0", "Row1" and so on."""
    return _formatted(pa.array(range(start, start + count), pa.int64()))


def _formatted(numbers: Any) -> Any:
    return pc.binary_join_element_wise("Row", numbers.cast(pa.string()), "")


def _kept(table: pa.Table) -> pa.Table:
    if not table.num_columns:
        raise ValueError("row_ids='keep' takes the row ids from the first column, but the table has no columns")
    ids = table.column(0)
    if not pa.types.is_string(ids.type):
        raise TypeError(f"the row ids in column {table.column_names[0]!r} must be texts, not {ids.type}")
    return table.rename_columns([ROW_ID, *table.column_names[1:]])


def _automatic(table: pa.Table, start: int) -> pa.Table:
    if not table.num_columns or table.column_names[0] != ROW_ID:
        return table.add_column(0, ROW_ID, generated_row_ids(table.num_rows, start))
    ids = table.column(0)
    if pa.types.is_string(ids.type):
        return table
    if pa.types.is_integer(ids.type):
        return table.set_column(0, ROW_ID, _formatted(ids))
    raise TypeError(f"the column {ROW_ID!r} must hold texts or whole numbers to serve as row ids, not {ids.type}")


def with_row_ids(table: pa.Table, row_ids: str, start: int = 0) -> pa.Table:
    """The table with a first column of row ids.

    Args:
        table: Data with the column types of tables.
        row_ids: "keep": the first column holds them; "generate": "Row0", "Row1", ...; "auto": the first column if
            it is named "<RowID>" (numbers n become "Row<n>"), else as "generate".
        start: Number of the first generated row id.

    Raises:
        ValueError: `row_ids` is something else, or a row id is missing.
        TypeError: The row ids are no texts.
    """
    if row_ids == "generate":
        return table.add_column(0, ROW_ID, generated_row_ids(table.num_rows, start))
    if row_ids not in ("keep", "auto"):
        raise ValueError(f"row_ids must be 'auto', 'generate' or 'keep', not {row_ids!r}")
    table = _kept(table) if row_ids == "keep" else _automatic(table, start)
    if table.column(0).null_count:
        raise ValueError("row ids must not be missing")
    return table


def _sentinel_value(dtype: pa.DataType, sentinel: str | int) -> int:
    bits = 31 if dtype == pa.int32() else 63
    if sentinel == "min":
        return -(2**bits)
    return 2**bits - 1 if sentinel == "max" else int(sentinel)


def _replace_integers(table: pa.Table, replace: Callable[[Any], Any]) -> pa.Table:
    columns = [replace(column) if pa.types.is_integer(column.type) else column for column in table.columns]
    return pa.table(columns, names=table.column_names)


def missing_to_sentinel(table: pa.Table, sentinel: str | int) -> pa.Table:
    """The table with missing whole numbers replaced by the sentinel: "min", "max" or a number."""
    return _replace_integers(table, lambda c: c.fill_null(_sentinel_value(c.type, sentinel)) if c.null_count else c)


def sentinel_to_missing(table: pa.Table, sentinel: str | int) -> pa.Table:
    """The table with whole numbers that equal the sentinel made missing."""

    def replace(column: Any) -> Any:
        value = pa.scalar(_sentinel_value(column.type, sentinel), column.type)
        return pc.if_else(pc.equal(column, value), pa.scalar(None, column.type), column)

    return _replace_integers(table, replace)
