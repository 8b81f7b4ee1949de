"""Tools in Arrow files: written in the form that the runtime's tables have, read in any form that they ever had."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import ipc

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.atomic import atomic_file
from knime_ext.runtime.knext.value_types import TOOL_FACTORY, logical_type_text
from knime_ext.tools import DecodedTools, decode_tools, encode_tools

if TYPE_CHECKING:
    from knime.types.tool import Tool

__all__ = ["read_tools", "write_tools"]


def write_tools(tools: Sequence[Tool], path: Path) -> None:
    """Writes an Arrow IPC file with the one column "Tool"; it appears whole or not at all.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    column = encode_tools(tools)
    # The extension type as metadata of the field: whoever knows the type gets it, everybody else gets the struct.
    marks = {"ARROW:extension:name": "knime.logical_type", "ARROW:extension:metadata": logical_type_text(TOOL_FACTORY)}
    schema = pa.schema([pa.field("Tool", column.type, metadata=marks)])
    with atomic_file(path) as partial, ipc.new_file(partial, schema) as writer:
        writer.write_batch(pa.record_batch([column], schema=schema))


def read_tools(path: Path, column: str | None = None) -> DecodedTools:
    """The tools in a column of an Arrow file, of both kinds; cells that are no tools are told about.

    Servers that the person has listed on this machine before may then be called like those that are typed.

    Args:
        path: The file.
        column: Name of the column; the first column of tools if not given.

    Raises:
        ConfigurationError: The file cannot be read, or has no such column of tools.
    """
    from knime_ext.mcp.listed import recall_listed

    recall_listed()
    try:
        with pa.memory_map(str(path)) as source:
            table = ipc.open_file(source).read_all()
    except OSError as error:
        raise ConfigurationError(f"the file {str(path)!r} cannot be read: {error.strerror or error}") from None
    except pa.ArrowInvalid:
        raise ConfigurationError(
            f"the file {str(path)!r} is no Arrow file; `knime-mcp tools export` writes one"
        ) from None
    names = [column] if column is not None else [field.name for field in table.schema if _is_struct(field.type)]
    if not names or names[0] not in table.column_names or not _is_struct(table.schema.field(names[0]).type):
        known = ", ".join(map(repr, table.column_names)) or "none"
        raise ConfigurationError(
            f"the file {str(path)!r} has no column of tools{f' {column!r}' if column else ''}; its columns are {known}"
        )
    return decode_tools(table.column(names[0]), on_damage="report")


def _is_struct(kind: Any) -> bool:
    return pa.types.is_struct(kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind)
