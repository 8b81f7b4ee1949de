"""Cells to values and back, for columns of tools and messages, the same way in KNIME and in the embedded runtime.

Values travel as Arrow storage, so that no host converts them one by one through its own objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import knime.extension as knext
import pyarrow as pa

from knime.types.message import MessageValue, MessageValueFactory
from knime_ext.nodes.columns import binary_type, message_type, tool_type
from knime_ext.tools import decode_tools, encode_tools

if TYPE_CHECKING:
    from knime.types.tool import Tool

__all__ = [
    "binary_cells",
    "conversation_table",
    "converted_tools",
    "empty_table",
    "messages_in",
    "texts_in",
    "tool_cells",
    "tool_table",
    "tools_by_row",
    "tools_in",
]


def _column(table: knext.Table, name: str) -> Any:
    return table[[name]].to_pyarrow().column(name)


def _storage(chunk: Any) -> Any:
    return chunk.storage if isinstance(chunk, pa.ExtensionArray) else chunk


def _logical(ktype: Any, storage: Any) -> Any:
    arrow = ktype.to_pyarrow()
    return pa.ExtensionArray.from_storage(arrow, storage.cast(arrow.storage_type))


def tool_table(tools: Sequence[Tool | None]) -> knext.Table:
    """A table of one row per tool, with the one column "Tool"; None is a missing cell."""
    return knext.Table.from_pyarrow(pa.table({"Tool": tool_cells(tools)}))


def tool_cells(tools: Sequence[Tool | None]) -> Any:
    """A column of tools; None is a missing cell."""
    return _logical(tool_type(), encode_tools(tools))


def binary_cells(values: Sequence[bytes | None]) -> Any:
    """A column of bytes; None is a missing cell."""
    return _logical(binary_type(), pa.array(values, pa.large_binary()))


def tools_in(table: knext.Table, column: str) -> list[Tool]:
    """The tools of a column; missing cells are left out.

    Raises:
        knext.InvalidParametersError: Cells are damaged; the message names column, row, field and reason.
    """
    return [tool for tool in tools_by_row(table, column) if tool is not None]


def tools_by_row(table: knext.Table, column: str) -> list[Tool | None]:
    """The tools of a column, one per row; None for a missing cell.

    Raises:
        knext.InvalidParametersError: Cells are damaged; the message names column, row, field and reason.
    """
    return _tools(_column(table, column), column)


def _tools(cells: Any, column: str) -> list[Tool | None]:
    decoded = decode_tools(cells, on_damage="report")
    if decoded.damaged:
        first, more = decoded.damaged[0], len(decoded.damaged) - 1
        others = f" ({more} more cell{'s are' if more > 1 else ' is'} damaged too)" if more else ""
        raise knext.InvalidParametersError(
            f"Column {column!r} of the tools table is damaged in {first}{others}; make the tools again."
        )
    return decoded.tools


def converted_tools(table: knext.Table, columns: Sequence[str]) -> knext.Table:
    """The table with these columns, of any kind of tools, as tools of today; missing cells stay missing.

    Raises:
        knext.InvalidParametersError: Cells are damaged; the message names column, row, field and reason.
    """
    arrow = table.to_pyarrow()
    for name in columns:
        cells = arrow.column(name)
        converted = tool_cells(_tools(cells, name))
        starts = accumulate((len(chunk) for chunk in cells.chunks), initial=0)
        # In the pieces of before: KNIME wants the pieces of all columns alike.
        pieces = [converted.slice(start, len(chunk)) for start, chunk in zip(starts, cells.chunks, strict=False)]
        column = pa.chunked_array(pieces, converted.type)
        arrow = arrow.set_column(arrow.schema.get_field_index(name), name, column)
    return knext.Table.from_pyarrow(arrow)


def messages_in(table: knext.Table, column: str) -> list[MessageValue | None]:
    """The messages of a column, None for a missing cell."""
    decode = MessageValueFactory().decode
    return [decode(cell) for chunk in _column(table, column).chunks for cell in _storage(chunk).to_pylist()]


def texts_in(table: knext.Table, column: str) -> list[str | None]:
    """The texts of a column, None for a missing cell."""
    return _column(table, column).to_pylist()


def conversation_table(
    messages: Sequence[MessageValue | None], column: str, errors: tuple[str, Sequence[str | None]] | None = None
) -> knext.Table:
    """A table of one row per message, with a second column for errors if they are given.

    Args:
        messages: The messages; None where the row holds an error instead.
        column: Name of the message column.
        errors: Name and texts of the error column.
    """
    ktype, encode = message_type(), MessageValueFactory().encode
    storage = pa.array([encode(message) for message in messages], ktype.to_pyarrow().storage_type)
    columns = {column: _logical(ktype, storage)}
    if errors is not None:
        columns[errors[0]] = pa.array(errors[1], pa.utf8())
    return knext.Table.from_pyarrow(pa.table(columns))


def empty_table() -> knext.Table:
    """A table without rows and columns."""
    # KNIME wants at least one column to look for the row identifiers in.
    return knext.Table.from_pyarrow(pa.table({"<RowID>": pa.array([], pa.utf8())}))
