"""Tables in results: found where there can be no doubt, and shown as tables."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from knime_ext.agent.page.json_view import one_line
from knime_ext.agent.page.texts import counted, shown

__all__ = ["FoundTable", "table_in_text", "table_in_value", "table_view"]

MAX_ROWS = 100
MAX_COLUMNS = 30
MAX_CELL = 300
"""What is shown of a table; the rest is counted."""

MAX_SCANNED = 2_000_000
"""Longer texts are not searched for a table."""


_NUMBER = re.compile(
    r"[-+\u2212]?(?:\d+|\d{1,3}(?:[.,\u202f\u00a0 ]\d{3})+)?(?:[.,]\d+)?(?:[eE][-+]?\d+)?(?: ?%)?(?<!^)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTable:
    """A table.

    Attributes:
        columns: Names of the columns.
        rows: Cells of the first rows, as JSON values.
        count: Number of all rows.
        rest: What stood beside the table in a JSON object.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    count: int
    rest: Mapping[str, Any] | None = None


def table_in_value(value: Any) -> FoundTable | None:
    """The table that a JSON value is: a list of objects, an object with one such list, or columns with rows."""
    if isinstance(value, list):
        return _of_objects(cast("list[Any]", value))
    if not isinstance(value, Mapping):
        return None
    members = cast("Mapping[str, Any]", value)
    split = _of_columns(members)
    if split is not None:
        return split
    lists = [
        (name, table) for name, part in members.items() if isinstance(part, list) and (table := table_in_value(part))
    ]
    if len(lists) != 1:
        return None
    name, table = lists[0]
    rest = {other: part for other, part in members.items() if other != name}
    return FoundTable(columns=table.columns, rows=table.rows, count=table.count, rest=rest or None)


def _of_objects(items: list[Any]) -> FoundTable | None:
    objects = [cast("Mapping[str, Any]", item) for item in items if isinstance(item, Mapping) and item]
    if not items or len(objects) != len(items):
        return None
    names = list(dict.fromkeys(name for item in islice(objects, 1000) for name in item))
    if len(names) > 4 * len(objects[0]) + 8:
        return None  # objects without common members
    rows = [[item.get(name) for name in names] for item in objects[:MAX_ROWS]]
    return FoundTable(columns=names, rows=rows, count=len(items))


def _of_columns(members: Mapping[str, Any]) -> FoundTable | None:
    """`{"columns": [...], "data": [[...], ...]}`, as databases and data frames give it."""
    columns = members.get("columns")
    if not isinstance(columns, list) or not columns:
        return None
    names = [
        str(cast("Mapping[str, Any]", c).get("name", c)) if isinstance(c, Mapping) else str(c)
        for c in cast("list[Any]", columns)
    ]
    for key in ("rows", "data"):
        rows = members.get(key)
        if (
            isinstance(rows, list)
            and rows
            and all(isinstance(r, list) and len(cast("list[Any]", r)) == len(names) for r in cast("list[Any]", rows))
        ):
            found = cast("list[list[Any]]", rows)
            rest = {name: part for name, part in members.items() if name not in (key, "columns", "index")}
            return FoundTable(columns=names, rows=found[:MAX_ROWS], count=len(found), rest=rest or None)
    return None


def table_in_text(text: str) -> FoundTable | None:
    """The table that a text is, if every line has the same number of cells between commas, semicolons or tabs."""
    lines = text.strip().split("\n") if len(text) <= MAX_SCANNED else []
    if len(lines) < 3:
        return None
    for delimiter in ("\t", ";", ","):
        if delimiter in lines[0] and (found := _separated(lines, delimiter)):
            return found
    return None


def _separated(lines: Sequence[str], delimiter: str) -> FoundTable | None:
    try:
        rows = list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    header, *body = rows
    if len(header) < 2 or len(body) < 2 or any(len(row) != len(header) for row in body):
        return None
    if len(set(header)) != len(header) or not all(map(_is_name, header)):
        return None
    return FoundTable(columns=header, rows=body[:MAX_ROWS], count=len(body))


def _is_name(cell: str) -> bool:
    """Whether a cell may be the name of a column, rather than a number or a piece of a sentence."""
    return bool(cell) and cell == cell.strip() and len(cell) <= 60 and cell[-1] not in ".:!?" and not _is_number(cell)


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) < 40 and _NUMBER.fullmatch(value.strip()) is not None
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def table_view(table: FoundTable) -> str:
    """A table as HTML, with a note about what is not shown of it."""
    columns = table.columns[:MAX_COLUMNS]
    rows = [row[:MAX_COLUMNS] for row in table.rows[:MAX_ROWS]]
    numeric = [_all_numbers(row[index] for row in rows) for index in range(len(columns))]
    head = "".join(
        f'<th scope="col"{_side(right)}>{shown(name, MAX_CELL)}</th>'
        for name, right in zip(columns, numeric, strict=True)
    )
    body = "".join(f"<tr>{_cells(row, numeric)}</tr>" for row in rows)
    size = f"{counted(table.count, 'row')}, {counted(len(table.columns), 'column')}"
    return (
        f'<div class="grid" role="region" aria-label="Table, {size}" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{_more(table, len(rows), len(columns))}"
    )


def _more(table: FoundTable, rows: int, columns: int) -> str:
    missing = [
        f"{counted(total - seen, f'more {noun}')}"
        for total, seen, noun in ((table.count, rows, "row"), (len(table.columns), columns, "column"))
        if total > seen
    ]
    return f'<p class="more">{" and ".join(missing)}</p>' if missing else ""


def _cells(row: Sequence[Any], numeric: Sequence[bool]) -> str:
    return "".join(f"<td{_side(right)}>{_cell(value)}</td>" for value, right in zip(row, numeric, strict=True))


def _cell(value: Any) -> str:
    if value is None:
        return '<span class="null">–</span>'
    return shown(value if isinstance(value, str) else one_line(value), MAX_CELL)


def _all_numbers(values: Iterable[Any]) -> bool:
    present = [value for value in values if value is not None and value != ""]
    return bool(present) and all(map(_is_number, present))


def _side(right: bool) -> str:
    return ' class="num"' if right else ""
