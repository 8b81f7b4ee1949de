"""The tools of a server under names that every chat model takes, and the way back. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knime_ext.tools import NameMap, ToolDefinition, ToolSelection, unknown_tool

__all__ = ["OfferedTool", "OfferedTools"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedTool:
    """A tool and the name that the model knows it by."""

    name: str
    definition: ToolDefinition


class OfferedTools:
    """Every tool of a list with its name for models.

    The names depend on the whole list only, not on what is selected of it, so that they stay the same for all uses.
    """

    def __init__(self, definitions: Sequence[ToolDefinition]) -> None:
        self._definitions = tuple(definitions)
        self._names = NameMap([tool.name for tool in definitions])
        self._own = {tool.name: place for place, tool in reversed(list(enumerate(self._definitions)))}

    def __iter__(self) -> Iterator[OfferedTool]:
        return iter(self.selected(ToolSelection()))

    def __contains__(self, name: str) -> bool:
        return name in self._names.safe or name in self._own

    def selected(self, selection: ToolSelection) -> list[OfferedTool]:
        """The selected tools, in the order of the list; the selection speaks of the servers' own names."""
        return [
            OfferedTool(name=self._names.to_safe(place), definition=tool)
            for place, tool in enumerate(self._definitions)
            if selection.takes(tool.name)
        ]

    def find(self, name: str) -> ToolDefinition:
        """The tool of that name: the one for models, or the server's own.

        Raises:
            UnknownTool: There is none; the message names the nearest and those that there are.
        """
        return self._definitions[self.place(name)]

    def place(self, name: str) -> int:
        """Position of that tool in the list; the arguments and errors are those of `find`."""
        if name in self._names.safe:
            return self._names.index(name)
        if name in self._own:
            return self._own[name]
        raise unknown_tool(name, self._names.safe)
