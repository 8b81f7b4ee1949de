"""Tool columns as a whole: Arrow arrays in, lists of tools out, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import pyarrow as pa

from knime.types.tool import CellReader, CellWriter, Field, InvalidToolCell, Tool, ToolValueFactory
from knime_ext.errors import ConfigurationError, DamagedCell

__all__ = ["TOOL_STRUCT", "DecodedTools", "decode_tools", "encode_tools"]

_ARROW_TYPES = {Field.TOOL_TYPE: pa.int8(), Field.MESSAGE_OUTPUT_PORT_INDEX: pa.int32()}

TOOL_STRUCT = pa.struct([(at.key, _ARROW_TYPES.get(at, pa.utf8())) for at in Field])
"""Storage type of a tool column."""

_MISSING = (None,) * len(Field)
_JSON_FIELDS = frozenset({Field.PARAMETER_SCHEMA, Field.INPUT_SPEC, Field.OUTPUT_SPEC})


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedTools:
    """A decoded column with its damaged cells.

    Attributes:
        tools: One entry per row; None for a missing or a damaged cell.
        damaged: What is wrong, one entry per damaged cell, in row order.
    """

    tools: list[Tool | None]
    damaged: list[DamagedCell]


@overload
def decode_tools(column: pa.Array | pa.ChunkedArray) -> list[Tool | None]: ...
@overload
def decode_tools(column: pa.Array | pa.ChunkedArray, on_damage: Literal["raise"]) -> list[Tool | None]: ...
@overload
def decode_tools(column: pa.Array | pa.ChunkedArray, on_damage: Literal["report"]) -> DecodedTools: ...


def decode_tools(
    column: pa.Array | pa.ChunkedArray, on_damage: Literal["raise", "report"] = "raise"
) -> list[Tool | None] | DecodedTools:
    """The tools in a column, in any layout that `ToolValueFactory` reads.

    Equal JSON texts are parsed once, so tools of one column share their schemas: copy before you change one.

    Args:
        column: A struct column, or an extension column over one.
        on_damage: "raise" stops at the first damaged cell; "report" decodes the others and lists the damaged.

    Returns:
        One tool per row, None for a missing cell; with "report" a `DecodedTools`.

    Raises:
        DamagedCell: A cell is damaged; the error names row, field and reason.
        ConfigurationError: The column holds no tools at all.
    """
    tools: list[Tool | None] = []
    damaged: list[DamagedCell] = []
    reader = CellReader()
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        storage = _storage(chunk)
        valid: list[bool] = storage.is_valid().to_pylist()
        read, cells = _cells(storage, reader)
        for present, cell in zip(valid, cells, strict=True):
            try:
                tools.append(read(cell) if present else None)
            except InvalidToolCell as error:
                damage = DamagedCell(len(tools), error.field, error.reason)
                if on_damage == "raise":
                    raise damage from error
                damaged.append(damage)
                tools.append(None)
    return tools if on_damage == "raise" else DecodedTools(tools=tools, damaged=damaged)


def _storage(chunk: Any) -> pa.StructArray:
    storage: Any = chunk.storage if isinstance(chunk, pa.ExtensionArray) else chunk
    if not pa.types.is_struct(storage.type):
        raise ConfigurationError(f"a column of type {storage.type} holds no tools; select a column of tools")
    return storage


def _cells(storage: pa.StructArray, reader: CellReader) -> tuple[Callable[[Any], Tool | None], Iterable[Any]]:
    """How to read a cell of this layout, and the cells."""
    names = [child.name for child in storage.type]
    if names == [at.key for at in Field]:
        columns = [_values(at, child) for at, child in zip(Field, storage.flatten(), strict=True)]
        return reader.tool, zip(*columns, strict=True)
    if names[:2] == ["0", "1"] and len(names) in (2, 5, 7):
        return ToolValueFactory().decode, storage.to_pylist()
    raise ConfigurationError(f"a struct of the fields {names} is no tool; select a column of tools")


def _values(at: Field, child: Any) -> list[Any]:
    """The Python values of one field; equal JSON texts become one object, so that they are hashed once."""
    if at not in _JSON_FIELDS:
        return child.to_pylist()
    encoded = child.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    return [None if index is None else texts[index] for index in encoded.indices.to_pylist()]


def encode_tools(tools: Sequence[Tool | None]) -> pa.StructArray:
    """The storage of a tool column: one struct of nine fields per row, null for None.

    Args:
        tools: Tools of both kinds, mixed at will.

    Raises:
        DamagedCell: A tool cannot be stored, such as one whose address holds a password.
        TypeError: A value is no tool.
    """
    writer = CellWriter()
    cells: list[tuple[Any, ...]] = []
    for row, tool in enumerate(tools):
        try:
            cells.append(_MISSING if tool is None else writer.values(tool))
        except InvalidToolCell as error:
            raise DamagedCell(row, error.field, error.reason) from error
    columns = zip(*cells, strict=True) if cells else [()] * len(Field)
    children = [pa.array(column, TOOL_STRUCT.field(at.key).type) for at, column in zip(Field, columns, strict=True)]
    missing = pa.array([tool is None for tool in tools], pa.bool_())
    return pa.StructArray.from_arrays(children, fields=list(TOOL_STRUCT), mask=missing)
