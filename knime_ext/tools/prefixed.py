"""Puts a prefix before every name of a toolset, so that toolsets with equal names combine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from knime_ext.tools.definition import ToolDefinition
from knime_ext.tools.result import ToolResult
from knime_ext.tools.toolset import Toolset, unknown_tool
from knime_ext.tools.wrapper import WrapperToolset

__all__ = ["PrefixedToolset"]


class PrefixedToolset(WrapperToolset):
    """Every tool is called `<prefix>_<name>`."""

    def __init__(self, wrapped: Toolset, prefix: str) -> None:
        super().__init__(wrapped)
        self._prefix = f"{prefix}_"

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        """The definitions under their prefixed names."""
        return [
            replace(definition, name=self._prefix + definition.name)
            for definition in await self.wrapped.list_definitions()
        ]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls a tool by its prefixed name.

        Raises:
            UnknownTool: The name has not the prefix, or there is no such tool.
        """
        if not name.startswith(self._prefix):
            raise unknown_tool(name, [definition.name for definition in await self.list_definitions()])
        return await self.wrapped.call(name.removeprefix(self._prefix), arguments)
