"""Offers only some of a toolset's tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from knime_ext.tools.definition import ToolDefinition
from knime_ext.tools.result import ToolResult
from knime_ext.tools.toolset import Toolset
from knime_ext.tools.wrapper import WrapperToolset

__all__ = ["FilteredToolset"]


class FilteredToolset(WrapperToolset):
    """Hides the tools for which `keep` is false; they cannot be called either."""

    def __init__(self, wrapped: Toolset, keep: Callable[[ToolDefinition], bool]) -> None:
        super().__init__(wrapped)
        self._keep = keep

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        """The definitions that are kept."""
        return [definition for definition in await self.wrapped.list_definitions() if self._keep(definition)]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls a tool that is kept.

        Raises:
            UnknownTool: The tool is hidden or not there.
        """
        await self.definition(name)
        return await self.wrapped.call(name, arguments)
