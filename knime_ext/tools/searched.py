"""Offers a search and one way to call what it finds, where the definitions of all tools would be too many."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from knime_ext.tools.definition import ToolDefinition
from knime_ext.tools.names import safe_name
from knime_ext.tools.result import ToolResult
from knime_ext.tools.schemas import check_arguments
from knime_ext.tools.token_estimate import estimated_tokens
from knime_ext.tools.tool_search import FOUND, SEARCH_TOOLS, ToolSearch
from knime_ext.tools.toolset import Toolset
from knime_ext.tools.wrapper import WrapperToolset

__all__ = ["CALL_TOOL", "SearchedToolset"]

CALL_TOOL = ToolDefinition(
    name="call_tool",
    description="Calls a tool that was found before. Its arguments must fit the parameters that the search has shown.",
    parameters={
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Name of the tool."},
            "arguments": {"type": "object", "description": "Its arguments."},
        },
        "required": ["name"],
        "additionalProperties": False,
    },
    wire_name="call_tool",
    display_name="call_tool",
    origin="agent",
)

_PARAMETERS = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "description": {"type": "string"}, "parameters": {"type": "object"}},
    "required": ["name", "description", "parameters"],
}
_OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {"tools": {"type": "array", "items": _PARAMETERS}},
    "required": ["tools"],
}


class SearchedToolset(WrapperToolset):
    """Lists all tools as long as their definitions are small enough, else a search and a way to call what it finds.

    Every tool can be called by its own name in any case. Works without any memory of what was found, for callers whose
    list of tools cannot change while they work.

    Args:
        wrapped: The tools. Their list is taken to stay as it is.
        above: Estimated tokens that the definitions may have together.
    """

    def __init__(self, wrapped: Toolset, above: int) -> None:
        super().__init__(wrapped)
        self._above = above
        self._hidden: dict[str, ToolDefinition] | None = None
        self._search: ToolSearch | None = None
        self._names = ("", "")

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        """All definitions, or the search and the call."""
        definitions = await self.wrapped.list_definitions()
        if sum(map(estimated_tokens, definitions)) <= self._above:
            self._hidden, self._search = {}, None
            return definitions
        self._hidden = {definition.name: definition for definition in definitions}
        self._search = ToolSearch(definitions)
        finder = safe_name(SEARCH_TOOLS.name, self._hidden)
        caller = safe_name(CALL_TOOL.name, self._hidden)
        self._names = (finder, caller)
        about = f"{SEARCH_TOOLS.description} There are {len(definitions)}; call those that are found with {caller!r}."
        return [
            replace(SEARCH_TOOLS, name=finder, description=about, output_schema=_OUTPUT),
            replace(CALL_TOOL, name=caller),
        ]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Searches, or calls a tool.

        Raises:
            InvalidArguments: The arguments of the search or of the call do not fit.
            UnknownTool: There is no such tool.
        """
        if self._hidden is None:
            await self.list_definitions()
        if self._search is None or name not in self._names:
            return await self.wrapped.call(name, arguments)
        if name == self._names[0]:
            check_arguments(SEARCH_TOOLS.parameters, arguments, name)
            return self._found(self._search, str(arguments["query"]), int(arguments.get("limit", FOUND)))
        check_arguments(CALL_TOOL.parameters, arguments, name)
        return await self.wrapped.call(str(arguments["name"]), arguments.get("arguments") or {})

    def _found(self, search: ToolSearch, query: str, limit: int) -> ToolResult:
        found = [(self._hidden or {})[name] for name in search.find(query, limit)]
        tools = [{"name": tool.name, "description": tool.description, "parameters": tool.parameters} for tool in found]
        text = json.dumps(tools, ensure_ascii=False) if tools else "No tool fits; search with other words."
        return replace(ToolResult.of_text(text), structured={"tools": tools})
