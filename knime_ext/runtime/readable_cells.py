"""Tables as text that people can read: what a CSV file or a terminal shows of cells that hold objects.

A column of messages becomes one column each for type, name, text and tool calls; a column of tools becomes one each
for name, kind, description and server. Lists and structs become JSON.
"""

from __future__ import annotations

import base64
import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from knime.types.message import MessageContentPartType, MessageValue
from knime.types.tool import MCPTool, Tool
from knime_ext.runtime.atomic import atomic_file
from knime_ext.runtime.knext.value_types import (
    MESSAGE_FACTORY,
    TOOL_FACTORY,
    WORKFLOW_TOOL_FACTORY,
    logical_type_text,
    value_type_of,
)
from knime_ext.tools import decode_tools

__all__ = ["csv_columns", "write_readable_csv"]

_ROW_ID = "<RowID>"
_BATCH = 20_000


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_text)


def _text(value: Any) -> str:
    """One plain value as text; a missing one is empty."""
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case list() | dict() | tuple():
            return _json(value)
        case _ if hasattr(value, "isoformat"):
            return value.isoformat()
        case _:
            return str(value)


def _message_text(message: MessageValue) -> str:
    """The texts of a message; an image is named, not shown."""
    images = sum(part.type is not MessageContentPartType.TEXT for part in message.content)
    return message.text + "".join(f"\n[image {number + 1}]" for number in range(images))


def _tool_calls(message: MessageValue) -> str:
    if not message.tool_calls:
        return ""
    return _json([{"id": each.id, "name": each.tool_name, "arguments": each.arguments} for each in message.tool_calls])


_MESSAGE_PARTS: Mapping[str, Callable[[MessageValue], str]] = {
    "type": lambda message: message.message_type.value,
    "name": lambda message: message.name or "",
    "text": _message_text,
    "tool calls": _tool_calls,
    "tool call id": lambda message: message.tool_call_id or "",
}

_TOOL_PARTS: Mapping[str, Callable[[Tool], str]] = {
    "name": lambda tool: tool.name,
    "kind": lambda tool: tool.tool_type.name.lower(),
    "description": lambda tool: tool.description,
    "parameters": lambda tool: _json(tool.parameter_schema),
    "server": lambda tool: tool.server_uri if isinstance(tool, MCPTool) else "",
}


def _parts_of(values: Sequence[Any], parts: Mapping[str, Callable[[Any], str]]) -> dict[str, list[str]]:
    return {name: ["" if value is None else part(value) for value in values] for name, part in parts.items()}


def _logical(column: pa.ChunkedArray) -> dict[str, list[str]]:
    """A column of objects: part name to texts; the empty name stands for the column itself."""
    kind = cast("pa.ExtensionType", column.type)
    logical_type = kind.__arrow_ext_serialize__().decode("utf-8")
    if logical_type in (logical_type_text(TOOL_FACTORY), logical_type_text(WORKFLOW_TOOL_FACTORY)):
        return _parts_of(decode_tools(column, on_damage="report").tools, _TOOL_PARTS)
    factory = value_type_of(logical_type).value_factory
    storage = [value for chunk in column.chunks for value in cast("pa.ExtensionArray", chunk).storage.to_pylist()]
    values = [None if value is None else factory.decode(value) for value in storage]
    if logical_type == logical_type_text(MESSAGE_FACTORY):
        return _parts_of(values, _MESSAGE_PARTS)
    return {"": [_text(value) for value in values]}


def _unused(name: str, taken: Mapping[str, Any]) -> str:
    number, unique = 2, name
    while unique in taken:
        unique, number = f"{name} ({number})", number + 1
    return unique


def csv_columns(table: pa.Table) -> dict[str, list[str]]:
    """The columns of a table as texts, in order; objects are spread over several columns.

    Args:
        table: As `Table.to_pyarrow` gives it. The row ids are left out.

    Returns:
        Column name to one text per row. A column "Conversation" of messages becomes "Conversation type",
        "Conversation name" and so on; a missing cell is an empty text.
    """
    columns: dict[str, list[str]] = {}
    taken = dict.fromkeys(table.column_names)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name == _ROW_ID:
            continue
        if not isinstance(column.type, pa.BaseExtensionType):
            columns[name] = [_text(value) for value in column.to_pylist()]
            continue
        for part, texts in _logical(column).items():
            columns[_unused(f"{name} {part}", taken | columns) if part else name] = texts
    return columns


def write_readable_csv(table: pa.Table, path: Path, *, durable: bool = True) -> None:
    """Writes a table as UTF-8 CSV with a header line, in the form of `csv_columns`.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    with atomic_file(path, durable=durable) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(csv_columns(table.slice(0, 0)))
        for start in range(0, table.num_rows, _BATCH):
            writer.writerows(zip(*csv_columns(table.slice(start, _BATCH)).values(), strict=True))
