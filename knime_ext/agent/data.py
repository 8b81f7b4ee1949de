"""Tables that tools hand to each other by id, without the model ever seeing a row."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from knime_ext.errors import InvalidArguments

__all__ = ["NEW_DATA", "DataColumn", "DataItem", "DataLine", "DataRepository", "DataTable", "read_data_lines"]

ALL_DATA = "Data that you can hand to tools by its id. You see the columns, never the rows."
NEW_DATA = "New data, to be handed to tools by its id:"


class DataColumn(Protocol):
    """A column as a host describes it."""

    @property
    def name(self) -> str:
        """Name of the column."""
        ...

    @property
    def ktype(self) -> Any:
        """Its type; `str(...)` of it is shown to the model."""
        ...


class DataTable(Protocol):
    """What the repository asks of a table; `knime.extension.Table` of both hosts has it."""

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def schema(self) -> Iterable[DataColumn]:
        """The columns, without the row id."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DataItem:
    """A table under its id.

    Attributes:
        id: "0", "1", ...
        name: Short name, such as the port that it left.
        description: What the table holds.
        table: The table itself, of whatever class the host uses.
    """

    id: str
    name: str
    description: str
    table: Any

    @property
    def columns(self) -> dict[str, str]:
        """Column names and their types, in order."""
        columns: Iterable[DataColumn] = self.table.schema
        return {column.name: str(column.ktype) for column in columns}

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.table.num_rows)

    def line(self) -> str:
        """The item for a model: one line of JSON, so that no name or description can look like another item."""
        shown = {"id": int(self.id), "name": self.name, "description": self.description, "columns": self.columns}
        return json.dumps(shown, ensure_ascii=False)


class DataRepository:
    """The tables of one conversation. May be used from any thread."""

    def __init__(self) -> None:
        self._items: dict[int, DataItem] = {}
        self._next = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._items)

    @property
    def items(self) -> tuple[DataItem, ...]:
        """All items, ordered by id."""
        with self._lock:
            return tuple(self._items[key] for key in sorted(self._items))

    def reserve(self, count: int) -> tuple[str, ...]:
        """Takes the next ids, to be filled by `add`.

        Calls that run side by side reserve when they start, so that the ids do not depend on who ends first. The
        ids of a call that fails stay unused.
        """
        with self._lock:
            first, self._next = self._next, self._next + count
        return tuple(str(number) for number in range(first, first + count))

    def add(self, name: str, description: str, table: DataTable, *, reserved: str | None = None) -> DataItem:
        """Puts a table in.

        Args:
            name: Short name for the model.
            description: What the table holds, for the model.
            table: The table.
            reserved: An id from `reserve`; the next free one if not given.
        """
        identifier = self.reserve(1)[0] if reserved is None else reserved
        item = DataItem(id=identifier, name=name, description=description, table=table)
        with self._lock:
            self._items[int(identifier)] = item
        return item

    def item(self, identifier: str | int) -> DataItem:
        """The item with an id.

        Raises:
            InvalidArguments: There is none; the message lists the known ids, for the model.
        """
        text = str(identifier)
        with self._lock:
            found = self._items.get(int(text)) if text.isdecimal() else None
            known = ", ".join(str(key) for key in sorted(self._items))
        if found is None:
            there = f"known ids are {known}" if known else "there is no data yet, call a tool that produces some"
            raise InvalidArguments(f"there is no data with the id {text!r}; {there}.")
        return found

    def table(self, identifier: str | int) -> Any:
        """The table with an id.

        Raises:
            InvalidArguments: There is none; the message lists the known ids, for the model.
        """
        return self.item(identifier).table

    def last_tables(self, count: int) -> list[Any]:
        """The newest tables, at most `count`, oldest first."""
        return [item.table for item in self.items[-count:]] if count > 0 else []

    def summary(self) -> str:
        """All items for a model: names, descriptions, column names and types, never rows."""
        if not self._items:
            return "There is no data yet; call a tool that produces some."
        lines = "\n".join(item.line() for item in self.items)
        return f"{ALL_DATA}\n{lines}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataLine:
    """What a message tells about a table."""

    id: int
    name: str
    description: str
    columns: Mapping[str, str]


def read_data_lines(text: str) -> tuple[str, list[DataLine]]:
    """Takes the lines about tables (`DataItem.line`) out of a message.

    Returns:
        The rest of the text, without the sentence that announces the lines, and the tables.
    """
    rest: list[str] = []
    found: list[DataLine] = []
    for line in text.split("\n"):
        item = _data_line(line)
        if item is not None:
            found.append(item)
        elif line not in (ALL_DATA, NEW_DATA):
            rest.append(line)
    return "\n".join(rest).strip(), found


def _data_line(line: str) -> DataLine | None:
    if not line.startswith('{"id"'):
        return None
    try:
        item = json.loads(line)
        columns = {str(name): str(kind) for name, kind in item["columns"].items()}
        return DataLine(
            id=int(item["id"]), name=str(item["name"]), description=str(item["description"]), columns=columns
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
