"""Offers some of a toolset's tools under other names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from knime_ext.errors import ConfigurationError
from knime_ext.tools.definition import ToolDefinition
from knime_ext.tools.result import ToolResult
from knime_ext.tools.toolset import Toolset, unknown_tool
from knime_ext.tools.wrapper import WrapperToolset

__all__ = ["RenamedToolset"]


class RenamedToolset(WrapperToolset):
    """Renames tools: a renamed tool answers to its new name only, the others keep theirs."""

    def __init__(self, wrapped: Toolset, names: Mapping[str, str]) -> None:
        """Takes the new names.

        Args:
            wrapped: The toolset whose tools are renamed.
            names: New name to old name.

        Raises:
            ConfigurationError: Two new names stand for one old name.
        """
        super().__init__(wrapped)
        self._old = dict(names)
        self._new = {old: new for new, old in names.items()}
        if len(self._new) < len(self._old):
            raise ConfigurationError("two new names stand for one tool; give every tool one name")

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        """The definitions under their new names.

        Raises:
            ConfigurationError: A new name is the name of another tool.
        """
        renamed = [
            replace(definition, name=self._new.get(definition.name, definition.name))
            for definition in await self.wrapped.list_definitions()
        ]
        names = [definition.name for definition in renamed]
        for name in self._old:
            if names.count(name) > 1:
                raise ConfigurationError(f"the new name {name!r} is another tool's name already; choose another one")
        return renamed

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls a tool by its new name.

        Raises:
            UnknownTool: It is the old name of a renamed tool, or there is no such tool.
        """
        if name in self._new and name not in self._old:
            raise unknown_tool(name, [definition.name for definition in await self.list_definitions()])
        return await self.wrapped.call(self._old.get(name, name), arguments)
