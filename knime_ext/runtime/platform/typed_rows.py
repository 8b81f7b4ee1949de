"""Turns rows written as JSON text into typed columns, and says exactly which cell does not fit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pyarrow as pa

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.nearest import did_you_mean

__all__ = ["CELL_TYPES", "column_types", "typed_table"]

CELL_TYPES: Mapping[str, pa.DataType] = {
    "STRING": pa.string(),
    "INTEGER": pa.int32(),
    "LONG": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
}
"""Arrow type of each column type that can be chosen."""

_WORDS = {
    "STRING": 'a text such as "red"',
    "INTEGER": "a whole number between -2147483648 and 2147483647",
    "LONG": "a whole number of at most 64 bits",
    "DOUBLE": "a number such as 1.5",
    "BOOLEAN": "true or false",
}
_BITS = {"INTEGER": 31, "LONG": 63}


def column_types(columns: Sequence[tuple[str, str]]) -> dict[str, pa.DataType]:
    """Arrow type by column name, in order.

    Raises:
        ConfigurationError: A name is empty or occurs twice.
    """
    kinds: dict[str, pa.DataType] = {}
    for position, (name, kind) in enumerate(columns):
        if not name.strip():
            raise ConfigurationError(f"column {position + 1} has no name: give it one")
        if name in kinds:
            raise ConfigurationError(f"two columns are named {name!r}: rename one")
        kinds[name] = CELL_TYPES[kind]
    return kinds


def typed_table(columns: Sequence[tuple[str, str]], text: str) -> pa.Table:
    """The table of the rows in a JSON text.

    Args:
        columns: Name and cell type ("STRING", ...) of each column.
        text: JSON array with one array of cells per row, or one object per row with cells by column name. `null`
            is a missing cell, and so is a column that an object leaves out.

    Raises:
        ConfigurationError: The text is no such array, or a cell does not fit its column.
    """
    kinds = column_types(columns)
    rows = [_cells(number, row, list(kinds)) for number, row in enumerate(_parsed(text), 1)]
    arrays: list[Any] = []
    for position, (name, cell_type) in enumerate(columns):
        cells = [_checked(row[position], name, cell_type, number) for number, row in enumerate(rows, 1)]
        arrays.append(pa.array(cells, kinds[name]))
    if not arrays and rows:
        raise ConfigurationError("there are rows but no columns: add a column for each value of a row")
    return pa.Table.from_arrays(arrays, names=list(kinds))


def _parsed(text: str) -> list[Any]:
    try:
        rows: Any = json.loads(text) if text.strip() else []
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"the rows are not valid JSON: {error}") from error
    if not isinstance(rows, list):
        raise ConfigurationError('the rows must be a JSON array with one array per row, such as [["a", 1], ["b", 2]]')
    return cast("list[Any]", rows)


def _cells(number: int, row: Any, names: list[str]) -> list[Any]:
    if isinstance(row, dict):
        cells = cast("dict[str, Any]", row)
        for name in cells:
            if name not in names:
                raise ConfigurationError(
                    f"row {number} has a value for {name!r}, which is no column; "
                    + did_you_mean(name, names, kind="columns")
                )
        return [cells.get(name) for name in names]
    if not isinstance(row, list):
        raise ConfigurationError(f"row {number} is no array of cells and no object: write [...] around it")
    values = cast("list[Any]", row)
    if len(values) != len(names):
        raise ConfigurationError(
            f"row {number} has {len(values)} cells for {len(names)} columns: give one per column, null if missing"
        )
    return values


def _checked(cell: Any, column: str, cell_type: str, number: int) -> Any:
    if cell is None or _fits(cell, cell_type):
        return float(cell) if cell_type == "DOUBLE" and cell is not None else cell
    shown = json.dumps(cell, ensure_ascii=False)
    raise ConfigurationError(
        f"row {number}, column {column!r}: {shown[:60]} does not fit type {cell_type}, which takes {_WORDS[cell_type]}"
    )


def _fits(cell: Any, cell_type: str) -> bool:
    if cell_type == "STRING":
        return isinstance(cell, str)
    if cell_type == "BOOLEAN" or isinstance(cell, bool):
        return cell_type == "BOOLEAN" and isinstance(cell, bool)
    if cell_type == "DOUBLE":
        return isinstance(cell, int | float) and abs(cell) < 2**1023
    return isinstance(cell, int) and -(2 ** _BITS[cell_type]) <= cell < 2 ** _BITS[cell_type]
