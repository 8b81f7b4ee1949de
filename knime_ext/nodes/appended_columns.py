"""Appends plain columns to a table, the same way in KNIME and in the embedded runtime."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any

import knime.extension as knext

__all__ = ["appended", "free_names", "plain_type", "with_column"]


def plain_type(kind: Any) -> Any:
    """KNIME's type of a column that has this Arrow type."""
    types = {
        "string": knext.string(),
        "bool": knext.bool_(),
        "int64": knext.int64(),
        "double": knext.double(),
    }
    return types[str(kind)]


def free_names(taken: Iterable[str], names: Iterable[str]) -> list[str]:
    """The names; one that is taken gets a number, as in KNIME: *Name (#1)*."""
    used, free = set(taken), list[str]()
    for name in names:
        candidate, number = name, 0
        while candidate in used:
            number += 1
            candidate = f"{name} (#{number})"
        used.add(candidate)
        free.append(candidate)
    return free


def appended(table: knext.Table, columns: Mapping[str, Any]) -> knext.Table:
    """The table with further columns at its end.

    Args:
        table: Any table; its row identifiers stay.
        columns: An Arrow array for each name that the table does not have yet.
    """
    arrow = table.to_pyarrow()
    starts = _starts(arrow)
    for name, cells in columns.items():
        arrow = arrow.append_column(name, _in_pieces(cells, starts))
    return knext.Table.from_pyarrow(arrow)


def with_column(table: knext.Table, name: str, cells: Any) -> knext.Table:
    """The table with other cells in a column that it has."""
    arrow = table.to_pyarrow()
    place = arrow.schema.get_field_index(name)
    return knext.Table.from_pyarrow(arrow.set_column(place, name, _in_pieces(cells, _starts(arrow))))


def _starts(arrow: Any) -> list[tuple[int, int]]:
    """Where the pieces of the table's columns begin, and how long they are."""
    lengths = [len(chunk) for chunk in arrow.column(0).chunks]
    return list(zip(accumulate(lengths, initial=0), lengths, strict=False))


def _in_pieces(cells: Any, pieces: list[tuple[int, int]]) -> Any:
    """The cells in pieces like those of the other columns: KNIME wants them alike."""
    import pyarrow as pa

    return pa.chunked_array([cells.slice(start, length) for start, length in pieces], cells.type)
