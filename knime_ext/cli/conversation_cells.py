"""What a run's tables say about a conversation: its messages, and what kind its tools are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from knime.types.message import MessageValue, MessageValueFactory
from knime.types.tool import MCPTool, Tool
from knime_ext.runtime.knext.value_types import MESSAGE_FACTORY, TOOL_FACTORY, WORKFLOW_TOOL_FACTORY, logical_type_text
from knime_ext.tools import decode_tools

if TYPE_CHECKING:
    from knime_ext.runtime.knext.table import Table

__all__ = ["messages_in", "tool_kinds"]


def _columns(table: Table, *factories: str) -> list[Any]:
    """The Arrow columns whose cells one of these value factories reads."""
    wanted = set(map(logical_type_text, factories))
    data = table.to_pyarrow()
    return [data.column(each.name) for each in table.schema if getattr(each.ktype, "logical_type", None) in wanted]


def messages_in(table: Table) -> list[MessageValue]:
    """The messages of the first conversation column, without missing ones; empty if there is no such column."""
    decode = MessageValueFactory().decode
    for column in _columns(table, MESSAGE_FACTORY):
        cells = [cell for chunk in column.chunks for cell in chunk.storage.to_pylist()]
        return [message for cell in cells if (message := decode(cell)) is not None]
    return []


def tool_kinds(tables: Iterable[Table]) -> dict[str, str]:
    """What each tool of these tables is, by its name: "workflow", or "MCP" and the server that has it."""
    kinds: dict[str, str] = {}
    for table in tables:
        for column in _columns(table, TOOL_FACTORY, WORKFLOW_TOOL_FACTORY):
            for tool in decode_tools(column, on_damage="report").tools:
                if tool is not None:
                    kinds[tool.name] = _kind(tool)
    return kinds


def _kind(tool: Tool) -> str:
    if not isinstance(tool, MCPTool):
        return "workflow"
    return f"MCP, {urlsplit(tool.server_uri).netloc or tool.server_uri}"
