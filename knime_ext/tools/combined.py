"""Several toolsets as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from knime_ext.tools.definition import ToolDefinition
from knime_ext.tools.names import NameMap
from knime_ext.tools.result import ToolResult
from knime_ext.tools.toolset import Toolset, unknown_tool

__all__ = ["CombinedToolset"]


class CombinedToolset(Toolset):
    """Offers the tools of several toolsets under safe, distinct names; `wire_name` and `origin` tell them apart."""

    def __init__(self, toolsets: Sequence[Toolset]) -> None:
        self._toolsets = tuple(toolsets)
        self._routes: dict[str, tuple[Toolset, str]] = {}

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        """All definitions, in the order of the toolsets, equal names made distinct (`_2`, `_3`, ...)."""
        found = [(toolset, tool) for toolset in self._toolsets for tool in await toolset.list_definitions()]
        names = NameMap([tool.name for _, tool in found])
        self._routes = {safe: (toolset, tool.name) for safe, (toolset, tool) in zip(names.safe, found, strict=True)}
        return [replace(tool, name=safe) for safe, (_, tool) in zip(names.safe, found, strict=True)]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls the tool in the toolset that it comes from.

        Raises:
            UnknownTool: No toolset has it.
        """
        if not self._routes:
            await self.list_definitions()
        if name not in self._routes:
            raise unknown_tool(name, list(self._routes))
        toolset, own_name = self._routes[name]
        return await toolset.call(own_name, arguments)
