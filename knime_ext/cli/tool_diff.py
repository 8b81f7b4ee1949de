"""What has changed about the tools in a file since they were listed, printed field by field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from knime.types.tool import MCPTool
from knime_ext.cli.terminal import console, counted
from knime_ext.cli.tool_file import read_tools

if TYPE_CHECKING:
    from knime_ext.mcp import ToolComparison

__all__ = ["print_comparisons", "read_mcp_tools"]

_MAX_CHARS = 200


def read_mcp_tools(path: Path, column: str | None) -> list[MCPTool]:
    """The tools of MCP servers in a column of an Arrow file; tools of workflows and missing cells are left out.

    Raises:
        ConfigurationError: The file cannot be read, or has no such column of tools.
    """
    found = read_tools(path, column)
    if found.damaged:
        raise found.damaged[0]
    return [tool for tool in found.tools if isinstance(tool, MCPTool)]


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
