"""Content that is no plain text: results that are tables or JSON, images, sound, resources, tables handed over."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from knime_ext.agent.page.json_view import json_block, laid_out, text_block
from knime_ext.agent.page.markdown import has_table, prose
from knime_ext.agent.page.tables import FoundTable, table_in_text, table_in_value, table_view
from knime_ext.agent.page.texts import counted, shown
from knime_ext.agent.trace import TraceTable

__all__ = ["CALLS", "blocks_view", "handed_over", "part", "result_text", "table_card"]

CALLS = "calls"
"""Type of the block that lists what a piece of code has called; it is shown by `calls`, not here."""

_MEDIA_TYPE = re.compile(r"(?:image|audio)/[a-z0-9.+-]{1,60}")
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]+")


def part(heading: str, body: str, kind: str = "") -> str:
    """A piece of a call under a small heading."""
    return f'<div class="part{f" {kind}" if kind else ""}"><p class="caption">{shown(heading, 300)}</p>{body}</div>'


def result_text(text: str) -> str:
    """The text of a result: as a table or as JSON where it is one."""
    value = _json_value(text)
    if value is not None:
        table = table_in_value(value)
        return json_block(value) if table is None else _with_source(table, "JSON", text_block(laid_out(value)))
    table = table_in_text(text)
    if table is not None:
        return _with_source(table, "text", text_block(text))
    if has_table(text[:100_000]):
        return f'<div class="mixed">{prose(text)}</div>'
    return text_block(text)


def _json_value(text: str) -> Any:
    try:
        return json.loads(text) if text.lstrip()[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        return None


def _with_source(table: FoundTable, kind: str, source: str) -> str:
    rest = json_block(table.rest) if table.rest else ""
    return f'{rest}{table_view(table)}<details class="fold source"><summary>As {kind}</summary>{source}</details>'


def blocks_view(blocks: Sequence[Mapping[str, Any]]) -> str:
    """Everything that a message has besides its text."""
    return "".join(_block(block) for block in blocks if block.get("type") != CALLS)


def _block(block: Mapping[str, Any]) -> str:
    match block.get("type"):
        case "image" | "audio" as kind:
            return _media(kind, block.get("mimeType"), block.get("data"), block.get("omitted_bytes"))
        case "resource_link":
            return part("Link", _address(block))
        case "resource":
            return part("Resource", _resource(block.get("resource"), block))
        case "text":
            return part("Text", text_block(str(block.get("text", ""))))
        case kind:
            return part(str(kind), json_block(dict(block)))


def _media(kind: str, mime: Any, data: Any, omitted: Any = None) -> str:
    source = _data_url(kind, mime, data)
    if source is None:
        size = omitted if isinstance(omitted, int) else len(str(data or "")) * 3 // 4
        why = "too large for this page" if omitted else "not shown"
        return part(
            kind.capitalize(), f'<p class="quiet">{shown(mime or "unknown type", 100)}, {size:,} bytes, {why}</p>'
        )
    if kind == "image":
        return f'<figure><img alt="Image from the tool" loading="lazy" src="{source}"></figure>'
    return f'<figure><audio controls preload="none" src="{source}"></audio></figure>'


def _data_url(kind: str, mime: Any, data: Any) -> str | None:
    """The address of data that the page itself holds, if it is what it says."""
    if not (isinstance(mime, str) and mime.startswith(f"{kind}/") and _MEDIA_TYPE.fullmatch(mime)):
        return None
    if not (isinstance(data, str) and _BASE64.fullmatch(data)):
        return None
    return f"data:{mime};base64,{''.join(data.split())}"


def _address(block: Mapping[str, Any]) -> str:
    """Where a resource is, as text that leads nowhere."""
    words = [str(block[key]) for key in ("title", "name", "description", "mimeType") if block.get(key)]
    about = f'<p class="quiet">{shown(", ".join(words), 600)}</p>' if words else ""
    return f"{about}{text_block(str(block.get('uri', '')))}"


def _resource(given: Any, block: Mapping[str, Any]) -> str:
    if not isinstance(given, Mapping):
        return json_block(dict(block))
    resource = cast("Mapping[str, Any]", given)
    address = f'<p class="quiet">{shown(resource.get("uri", ""), 600)}</p>'
    if isinstance(resource.get("text"), str):
        return address + result_text(resource["text"])
    mime = str(resource.get("mimeType") or "")
    return address + _media(mime.partition("/")[0] or "data", mime, resource.get("blob"), resource.get("omitted_bytes"))


def handed_over(tables: Sequence[TraceTable]) -> str:
    """Tables that a tool put into the data repository."""
    cards = "".join(
        table_card(
            table.name,
            f"id {table.id}, {counted(table.rows, 'row')}, {counted(len(table.columns), 'column')}",
            table.columns,
        )
        for table in tables
    )
    return part("Data handed over", f'<div class="tables">{cards}</div>') if cards else ""


def table_card(name: str, size: str, columns: Mapping[str, str], about: str = "") -> str:
    """A table of which only the columns are known."""
    chips = "".join(
        f"<li><bdi>{shown(column, 200)}</bdi> <em>{shown(kind, 100)}</em></li>"
        for column, kind in list(columns.items())[:200]
    )
    described = f'<p class="quiet" dir="auto">{shown(about, 2_000)}</p>' if about else ""
    return (
        f'<div class="table"><span class="name">{shown(name, 200)}</span> <span class="size">{shown(size, 200)}</span>'
        f'{described}<ul class="chips">{chips}</ul></div>'
    )
