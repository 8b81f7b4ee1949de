"""Joins two tables on pairs of columns: finds which rows belong together, then takes them column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.platform.arrow_columns import ROW_ID, column_of, is_logical, type_name, wider_type
from knime_ext.runtime.platform.row_ids import joined_row_ids, numbered_row_ids

__all__ = ["JoinSettings", "join"]

_LARGEST_RESULT = 200_000_000

_MODES = {"INNER": "inner", "LEFT_OUTER": "left outer", "RIGHT_OUTER": "right outer", "FULL_OUTER": "full outer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinSettings:
    """How two tables are joined.

    Attributes:
        pairs: Column of the left and column of the right table that must be equal; all pairs have to agree.
        mode: "INNER", "LEFT_OUTER", "RIGHT_OUTER" or "FULL_OUTER".
        suffix: Appended to columns of the right table whose name the left table has as well; "" refuses them.
        merge: Whether each pair of join columns becomes one column.
        separator: Between the two row ids of a joined row; None numbers the rows instead.
    """

    pairs: Sequence[tuple[str, str]]
    mode: str = "INNER"
    suffix: str = " (Right)"
    merge: bool = False
    separator: str | None = "_"


def join(left: pa.Table, right: pa.Table, settings: JoinSettings) -> pa.Table:
    """The joined table: rows in the order of the left one, rows of the right one without partner at the end.

    Missing cells match nothing, as in SQL. Whole numbers and decimals match where their values are equal.

    Raises:
        ConfigurationError: No pair, a column that is not there, types that cannot be compared, equal column names
            without suffix, or a result too big to be meant.
    """
    if not settings.pairs:
        raise ConfigurationError("there are no join columns: add at least one pair of columns")
    rows = _matching_rows(_keys(left, right, settings.pairs), settings.mode)
    return _assembled(left, right, rows, settings)


def _keys(left: pa.Table, right: pa.Table, pairs: Sequence[tuple[str, str]]) -> tuple[pa.Table, pa.Table]:
    both: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for number, (left_name, right_name) in enumerate(pairs):
        one, other = column_of(left, left_name), column_of(right, right_name)
        kind = _comparable_type(left_name, one.type, right_name, other.type)
        both[0][f"k{number}"] = pc.cast(one, kind, safe=False)
        both[1][f"k{number}"] = pc.cast(other, kind, safe=False)
    keys = [pa.table(columns) for columns in both]
    return (
        keys[0].append_column("left", pa.array(range(left.num_rows), pa.int64())),
        keys[1].append_column("right", pa.array(range(right.num_rows), pa.int64())),
    )


def _comparable_type(left_name: str, one: pa.DataType, right_name: str, other: pa.DataType) -> pa.DataType:
    wider = wider_type(one, other)
    if wider is not None and not is_logical(wider) and not pa.types.is_nested(wider):
        # A column with nothing but missing cells joins as text: it matches nothing.
        return pa.string() if pa.types.is_null(wider) else wider
    raise ConfigurationError(
        f"cannot join {left_name!r} ({type_name(one)}) with {right_name!r} ({type_name(other)}): "
        "choose columns of the same simple type"
    )


def _matching_rows(keys: tuple[pa.Table, pa.Table], mode: str) -> pa.Table:
    """Pairs of row numbers "left" and "right"; a missing number stands for "no partner"."""
    left, right = keys
    names = [name for name in left.column_names if name != "left"]
    _refuse_explosion(left, right, names)
    rows = left.join(right, keys=names, join_type=_MODES[mode], coalesce_keys=True).select(["left", "right"])
    return rows.take(pc.sort_indices(rows, sort_keys=[("left", "ascending"), ("right", "ascending")]))


def _refuse_explosion(left: pa.Table, right: pa.Table, names: list[str]) -> None:
    """Counts the matches before they are made, because a wrong join column makes billions."""
    if left.num_rows * right.num_rows <= _LARGEST_RESULT:
        return
    counts = [side.group_by(names).aggregate([([], "count_all")]) for side in (left, right)]
    both = counts[0].join(counts[1], keys=names, join_type="inner", right_suffix="_right")
    products = pc.multiply(pc.cast(both["count_all"], pa.float64()), pc.cast(both["count_all_right"], pa.float64()))
    matches: float = pc.sum(products).as_py() or 0.0
    if matches > _LARGEST_RESULT:
        raise ConfigurationError(
            f"the join would make {matches:,.0f} rows because the join columns repeat their values on both sides: "
            "choose columns that identify a row on one side"
        )


def _assembled(left: pa.Table, right: pa.Table, rows: pa.Table, settings: JoinSettings) -> pa.Table:
    left_rows, right_rows = rows["left"], rows["right"]
    columns = {name: _take(left[name], left_rows) for name in left.column_names if name != ROW_ID}
    merged = _merged_columns(settings)
    for left_name, right_name in merged.items():
        columns[left_name] = _merged(columns[left_name], _take(right[right_name], right_rows))
    for name in right.column_names:
        if name != ROW_ID and name not in merged.values():
            columns[_free_name(name, columns, settings.suffix)] = _take(right[name], right_rows)
    ids = _row_ids(left, right, rows, settings.separator)
    return pa.Table.from_arrays([ids, *columns.values()], names=[ROW_ID, *columns])


def _merged_columns(settings: JoinSettings) -> dict[str, str]:
    """Left name to right name; RowIDs are no columns that could take the values of others."""
    return {left: right for left, right in settings.pairs if left != ROW_ID} if settings.merge else {}


def _merged(left: pa.ChunkedArray, right: pa.ChunkedArray) -> Any:
    kind = wider_type(left.type, right.type)
    assert kind is not None  # the keys were compared before
    return pc.coalesce(pc.cast(left, kind, safe=False), pc.cast(right, kind, safe=False))


def _take(column: Any, rows: Any) -> Any:
    return pc.take(column, rows)


def _free_name(name: str, taken: dict[str, Any], suffix: str) -> str:
    if name in taken and not suffix:
        raise ConfigurationError(
            f"both tables have a column {name!r}: give a suffix for the columns of the right table, or rename one"
        )
    while name in taken:
        name += suffix
    return name


def _row_ids(left: pa.Table, right: pa.Table, rows: pa.Table, separator: str | None) -> pa.Array:
    if separator is None:
        return numbered_row_ids(rows.num_rows)
    return joined_row_ids(_take(left[ROW_ID], rows["left"]), _take(right[ROW_ID], rows["right"]), separator)
