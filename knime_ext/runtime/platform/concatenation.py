"""Stacks tables: columns are matched by name, and types widen only where no value is lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.platform.arrow_columns import ROW_ID, missing_cells, type_name, wider_type
from knime_ext.runtime.platform.row_ids import numbered_row_ids, suffixed_row_ids

__all__ = ["concatenate"]


def concatenate(
    tables: Sequence[pa.Table], *, columns: str = "UNION", row_ids: str = "APPEND_SUFFIX", suffix: str = "_dup"
) -> pa.Table:
    """Puts the rows of all tables below each other, in the order of the tables.

    Args:
        tables: At least one, each with its `<RowID>` column first.
        columns: "UNION" keeps every column and fills up with missing cells, "INTERSECTION" keeps the columns that
            all tables have.
        row_ids: "APPEND_SUFFIX" makes repeated ids unique, "CREATE_NEW" numbers the rows, "SKIP" drops rows with a
            repeated id, "FAIL" refuses them.
        suffix: Appended until the id is unique.

    Raises:
        ConfigurationError: Columns of one name cannot be one column, or an id repeats and must not.
    """
    if not tables:
        raise ConfigurationError("there is no table to concatenate: connect at least one")
    names = _column_names(tables, columns)
    kinds = {name: _common_type(name, tables) for name in names}
    stacked = pa.concat_tables([_aligned(table, kinds) for table in tables])
    return _with_row_ids(stacked, row_ids, suffix)


def _column_names(tables: Sequence[pa.Table], columns: str) -> list[str]:
    names = list(dict.fromkeys(name for table in tables for name in table.column_names if name != ROW_ID))
    if columns == "UNION":
        return names
    return [name for name in names if all(name in table.column_names for table in tables)]


def _common_type(name: str, tables: Sequence[pa.Table]) -> pa.DataType:
    common: pa.DataType = pa.null()
    for position, table in enumerate(tables):
        if name not in table.column_names:
            continue
        kind = table.schema.field(name).type
        wider = wider_type(common, kind)
        if wider is None:
            raise ConfigurationError(
                f"column {name!r} holds {type_name(kind)} in input table {position + 1} and {type_name(common)} in "
                "a table before it: rename one of the columns or bring both to one type"
            )
        common = wider
    return common


def _aligned(table: pa.Table, kinds: dict[str, pa.DataType]) -> pa.Table:
    arrays: list[Any] = [table.column(ROW_ID)]
    for name, kind in kinds.items():
        column: Any = table.column(name) if name in table.column_names else None
        if column is None or (pa.types.is_null(column.type) and not pa.types.is_null(kind)):
            arrays.append(missing_cells(table.num_rows, kind))
        else:
            # Whole numbers beyond 2**53 lose their last digits as decimals, as they do in KNIME.
            arrays.append(column if column.type.equals(kind) else pc.cast(column, kind, safe=False))
    return pa.Table.from_arrays(arrays, names=[ROW_ID, *kinds])


def _with_row_ids(table: pa.Table, handling: str, suffix: str) -> pa.Table:
    ids = table.column(ROW_ID)
    if handling == "CREATE_NEW":
        return table.set_column(0, ROW_ID, numbered_row_ids(table.num_rows))
    if pc.count_distinct(ids).as_py() == table.num_rows:
        return table
    if handling == "FAIL":
        repeated = next(entry["values"] for entry in ids.value_counts().to_pylist() if entry["counts"] > 1)
        raise ConfigurationError(
            f"the RowID {repeated!r} occurs more than once: choose 'Create new' or 'Append suffix' for RowIDs"
        )
    if handling == "SKIP":
        return table.take(_first_occurrences(ids))
    return table.set_column(0, ROW_ID, suffixed_row_ids(ids, suffix))


def _first_occurrences(ids: pa.ChunkedArray) -> pa.Array:
    positions = pa.table({"id": ids, "row": pa.array(range(len(ids)), pa.int64())})
    first: Any = positions.group_by("id").aggregate([("row", "min")]).column("row_min")
    return pc.take(first, pc.sort_indices(first)).combine_chunks()
