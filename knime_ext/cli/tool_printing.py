"""Tools and results of a server, printed for people or as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from rich.markup import escape
from rich.table import Table

from knime_ext.cli.arguments import schema_types
from knime_ext.cli.terminal import console, counted, is_terminal

if TYPE_CHECKING:
    from knime_ext.mcp import Listing
    from knime_ext.tools import ToolDefinition, ToolResult

__all__ = ["listing_as_json", "print_listing", "print_result"]


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _type_name(schema: Any, root: Mapping[str, Any]) -> str:
    """The types of one argument in a word or two, such as "string" or "list of integer"."""
    types = [name for name in schema_types(schema, root) if name != "null"] or ["any"]
    shown: Mapping[str, Any] = cast("Mapping[str, Any]", schema) if isinstance(schema, Mapping) else {}
    if types == ["array"] and (items := schema_types(shown.get("items", {}), root)):
        return f"list of {' or '.join(items)}"
    choices = shown.get("enum")
    if isinstance(choices, list) and len(text := "|".join(map(str, cast("list[Any]", choices)))) <= 40:
        return text
    return " or ".join(types)


def _arguments(schema: Mapping[str, Any]) -> str:
    required = schema.get("required") or ()
    properties = cast("Mapping[str, Any]", schema.get("properties") or {})
    lines: list[str] = []
    for name, argument in sorted(properties.items(), key=lambda item: item[0] not in required):
        kind = escape(_type_name(argument, schema))
        mark = "[bold]*[/bold]" if name in required else ""
        lines.append(f"{escape(name)}{mark}: [dim]{kind}[/dim]")
    return ("\n" if is_terminal() else ", ").join(lines)


def print_listing(listing: Listing) -> None:
    """Prints the tools of a server as a table."""
    out, info = console(), listing.server_info
    who = f"{info.title or info.name} {info.version}".strip() if info else listing.server.uri
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    table.add_column("Name", style="cyan", no_wrap=True)
    table.add_column("Description", ratio=3)
    table.add_column("Arguments (* required)", ratio=2)
    for definition in listing.definitions:
        name = definition.wire_name or definition.name
        table.add_row(escape(name), escape(_first_line(definition.description)), _arguments(definition.parameters))
    out.print(f"[bold]{escape(who)}[/bold]: {counted(len(listing.definitions), 'tool')}, MCP {listing.era or '?'}")
    out.print()
    out.print(table)


def _definition_as_json(definition: ToolDefinition) -> dict[str, Any]:
    return {
        "name": definition.wire_name or definition.name,
        "title": definition.display_name,
        "description": definition.description,
        "inputSchema": definition.parameters,
        "outputSchema": definition.output_schema,
        "annotations": dict(definition.annotations),
    }


def listing_as_json(listing: Listing) -> dict[str, Any]:
    """Everything known about a server's tools."""
    return {
        "server": listing.server.uri,
        "protocol": listing.era,
        "serverInfo": asdict(listing.server_info) if listing.server_info else None,
        "tools": [_definition_as_json(definition) for definition in listing.definitions],
        "problems": [asdict(problem) for problem in listing.problems],
        "error": listing.error,
    }


def print_result(result: ToolResult, *, raw: bool) -> None:
    """Prints the text of a result, or with `raw` all of it as JSON."""
    if not raw:
        print(result.text)
        return
    whole = {"content": list(result.content), "structuredContent": result.structured, "isError": result.is_error}
    print(json.dumps(whole, indent=2, ensure_ascii=False))
