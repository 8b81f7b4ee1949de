"""What has changed about the tools in a file since they were listed, printed field by field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import ipc
from rich.markup import escape

from knime.types.tool import MCPTool
from knime_ext.cli.terminal import console, counted
from knime_ext.errors import ConfigurationError
from knime_ext.tools import decode_tools

if TYPE_CHECKING:
    from knime_ext.mcp import ToolComparison

__all__ = ["print_comparisons", "read_mcp_tools"]

_MAX_CHARS = 200


def read_mcp_tools(path: Path, column: str | None) -> list[MCPTool]:
    """The tools of MCP servers in a column of an Arrow file; tools of workflows and missing cells are left out.

    Raises:
        ConfigurationError: The file cannot be read, or has no such column of tools.
    """
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
    return [tool for tool in decode_tools(table.column(names[0])) if isinstance(tool, MCPTool)]


def _is_struct(kind: Any) -> bool:
    return pa.types.is_struct(kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind)


def print_comparisons(comparisons: list[ToolComparison]) -> bool:
    """Prints what differs; True if nothing does."""
    out = console()
    for comparison in comparisons:
        if comparison.state == "same":
            continue
        tool = comparison.tool
        reason = f": {escape(comparison.error)}" if comparison.error else ""
        out.print(f"[bold]{escape(tool.tool_name)}[/bold] ({escape(tool.server_uri)}) is {comparison.state}{reason}")
        for change in comparison.changes:
            out.print(f"  {escape(change.field)}", highlight=False)
            out.print(f"    [red]- {escape(_shown(change.before))}[/red]", highlight=False)
            out.print(f"    [green]+ {escape(_shown(change.after))}[/green]", highlight=False)
    same = sum(comparison.state == "same" for comparison in comparisons)
    out.print(f"{counted(len(comparisons), 'tool')}: {same} unchanged, {len(comparisons) - same} not")
    return same == len(comparisons)


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    visible = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
    return visible if len(visible) <= _MAX_CHARS else visible[:_MAX_CHARS] + "…"
