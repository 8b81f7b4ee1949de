"""What every policy over a toolset starts from: passing everything through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from knime_ext.tools.definition import ToolDefinition
from knime_ext.tools.result import ToolResult
from knime_ext.tools.toolset import Toolset, find_definition

__all__ = ["WrapperToolset"]


class WrapperToolset(Toolset):
    """Passes everything on to the toolset that it wraps."""

    def __init__(self, wrapped: Toolset) -> None:
        self.wrapped = wrapped

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        """The wrapped toolset's definitions."""
        return await self.wrapped.list_definitions()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls the wrapped toolset."""
        return await self.wrapped.call(name, arguments)

    async def definition(self, name: str) -> ToolDefinition:
        """The definition of one tool of this toolset.

        Raises:
            UnknownTool: There is none of that name; the message names those that there are.
        """
        return find_definition(await self.list_definitions(), name)
