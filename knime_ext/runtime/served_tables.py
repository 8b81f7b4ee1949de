"""Tables of served workflow tools: clients name them by handle, send rows themselves, and get the first rows back."""

from __future__ import annotations

import json
import math
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pyarrow as pa

from knime.types.tool import ToolPort
from knime_ext.errors import InvalidArguments
from knime_ext.runtime.knext.table import Table, as_input
from knime_ext.runtime.readable_cells import csv_columns

__all__ = ["FIRST_ROWS", "ServedTables"]

FIRST_ROWS = 20
MAX_SENT_ROWS = 10_000
_KEPT = 200
_LONGEST_TEXT = 2_000
_KINDS = {"long": pa.int64(), "integer": pa.int32(), "float": pa.float64(), "double": pa.float64(), "bool": pa.bool_()}


class ServedTables:
    """The tables that the clients of one server can use. May be used from any thread.

    Handles of results cannot be guessed, so whoever has one got it from the server: the newest revision of the
    protocol knows no sessions that tables could belong to.

    Args:
        named: Tables that every client may use, by name.
        first_rows: How many rows of a result clients get to see.
    """

    def __init__(self, named: Mapping[str, Table] | None = None, *, first_rows: int = FIRST_ROWS) -> None:
        self._named = dict(named or {})
        self._first_rows = first_rows
        self._kept: OrderedDict[str, Table] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def named(self) -> Mapping[str, Table]:
        """The tables that every client may use."""
        return self._named

    def input_schema(self, port: ToolPort) -> dict[str, Any]:
        """JSON Schema of what a client gives for an input port."""
        columns = ", ".join(f"{name} ({kind})" for name, kind in _columns_of(port).items())
        known = f" Tables that are there: {', '.join(map(repr, self._named))}." if self._named else ""
        about = f"{port.description.rstrip('.')}. " if port.description else ""
        return {
            "description": f"{about}{f'Columns: {columns}. ' if columns else ''}Give rows, or the handle of a table "
            f"that another tool has returned.{known}",
            "anyOf": [
                {"type": "string", "description": "Handle of a table."},
                {
                    "type": "array",
                    "description": "Rows: objects of column name and value.",
                    "items": {"type": "object"},
                    "maxItems": MAX_SENT_ROWS,
                },
            ],
        }

    def table(self, given: str | Sequence[Mapping[str, Any]], port: ToolPort) -> Table:
        """The table that a client means.

        Raises:
            InvalidArguments: There is none of that handle, or the rows make no table.
        """
        if not isinstance(given, str):
            return _sent_table(given, port)
        with self._lock:
            found = self._kept.get(given)
            if found is not None:
                self._kept.move_to_end(given)
        found = found if found is not None else self._named.get(given)
        if found is None:
            known = f" Tables that are there: {', '.join(map(repr, self._named))}." if self._named else ""
            raise InvalidArguments(
                f"there is no table {given!r} (any more) for {port.name!r}; call the tool that returns it again, or "
                f"send rows.{known}"
            )
        return found

    def keep(self, table: Table) -> str:
        """Keeps a result and gives its handle; the oldest results give way."""
        handle = f"table-{secrets.token_hex(8)}"
        with self._lock:
            self._kept[handle] = table
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return handle

    def described(self, port: ToolPort, table: Table) -> dict[str, Any]:
        """What a client is told about a result: its handle, its columns and its first rows."""
        return {
            "name": port.name,
            "handle": self.keep(table),
            "columns": {column.name: str(column.ktype) for column in table.schema},
            "row_count": table.num_rows,
            "rows": _rows(table.to_pyarrow().slice(0, self._first_rows)),
        }


def _columns_of(port: ToolPort) -> dict[str, str]:
    try:
        columns: list[dict[str, Any]] = json.loads(port.spec or "{}").get("columns", [])
        return {str(column["name"]): str(column["type"]) for column in columns}
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}


def _sent_table(rows: Sequence[Mapping[str, Any]], port: ToolPort) -> Table:
    """The rows as a table: columns in the order of the port, then of their first appearance."""
    expected = _columns_of(port)
    names = list(dict.fromkeys([*expected, *(name for row in rows for name in row)]))
    columns: dict[str, Any] = {}
    for name in names:
        values = [row.get(name) for row in rows]
        try:
            column = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            raise InvalidArguments(
                f"column {name!r} of {port.name!r} mixes values of different kinds; send one kind per column"
            ) from None
        if pa.types.is_null(column.type):
            column = column.cast(_kind(expected.get(name, "")))
        columns[name] = column
    if not names:
        raise InvalidArguments(f"{port.name!r} has neither rows nor known columns; send at least one row")
    try:
        return as_input(Table.from_pyarrow(pa.table(columns)))
    except (TypeError, ValueError) as error:
        raise InvalidArguments(f"the rows of {port.name!r} make no table: {error}") from None


def _kind(name: str) -> pa.DataType:
    """The type of a column that has no value, by what the port says."""
    kinds = {
        "integer": pa.int64(),
        "long": pa.int64(),
        "int": pa.int32(),
        "double": pa.float64(),
        "boolean": pa.bool_(),
    }
    return next((kind for word, kind in kinds.items() if word in name.lower()), pa.string())


def _rows(data: pa.Table) -> list[dict[str, Any]]:
    """Rows as JSON objects: numbers, texts and truth values as they are, everything else as text."""
    texts = csv_columns(data)
    columns: dict[str, Sequence[Any]] = {}
    for name, cells in texts.items():
        plain = name in data.column_names and not isinstance(data.column(name).type, pa.BaseExtensionType)
        values = cast("list[Any]", data.column(name).to_pylist()) if plain else cells
        columns[name] = [_cell(value, text) for value, text in zip(values, cells, strict=True)]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _cell(value: Any, text: str) -> Any:
    match value:
        case None | bool() | int():
            return value
        case float() if math.isfinite(value):
            return value
        case float():
            return None
        case _:
            return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"
