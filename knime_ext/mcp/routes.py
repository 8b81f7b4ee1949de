"""The tools of several servers as one toolset, each call going to the server that has the tool."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from knime_ext.errors import ConfigurationError, MCPError
from knime_ext.mcp.listing import Listing
from knime_ext.mcp.offered_tools import OfferedTools
from knime_ext.mcp.toolset import MCPToolset
from knime_ext.tools import ToolDefinition, ToolResult, ToolSelection, Toolset, check_arguments
from knime_ext.tools.selection import matches_any

__all__ = ["RoutedToolset"]


class RoutedToolset(Toolset):
    """Asks all servers at the same time; one that fails does not hide the others.

    The tools have names for models; equal names of two servers are made distinct.

    Args:
        toolsets: The tools of each server, by the name of its provider.
        allowed: Names or globs of the tools that may be called, by the servers' own names; None allows all.

    Attributes:
        problems: Why servers are missing, as of the last listing, by the name of the provider.
    """

    def __init__(self, toolsets: Mapping[str, MCPToolset], allowed: Sequence[str] | None) -> None:
        self.problems: Mapping[str, str] = {}
        self._toolsets = toolsets
        self._allowed = allowed
        self._offered = OfferedTools([])
        self._stops: Sequence[tuple[ToolDefinition, MCPToolset]] = ()

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        """The allowed tools of all servers.

        Raises:
            MCPError: No server could be listed.
            ConfigurationError: An allowed name is that of no tool, although all servers answered.
        """
        toolsets = self._toolsets
        answers = await asyncio.gather(*(tools.list() for tools in toolsets.values()))
        listings = dict(zip(toolsets, answers, strict=True))
        problems = {name: listing.error for name, listing in listings.items() if listing.error is not None}
        if len(problems) == len(listings):
            raise MCPError("; ".join(problems.values()))
        if not problems:
            _check_allowed(self._allowed or (), listings)
        selection = ToolSelection.of(self._allowed)
        self.problems = problems
        self._stops = [
            (tool, toolsets[name])
            for name, listing in listings.items()
            for tool in listing.definitions
            if selection.takes(tool.name)
        ]
        self._offered = OfferedTools([tool for tool, _ in self._stops])
        return [replace(tool.definition, name=tool.name) for tool in self._offered]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls a tool where it is.

        Raises:
            UnknownTool: No server has it.
            InvalidArguments: The arguments do not fit; nothing was called.
            MCPError: The server, or the way to it, failed.
        """
        definition, toolset = self._stops[self._offered.place(name)]
        check_arguments(definition.parameters, arguments, name)
        return await toolset.call(definition.name, arguments)


def _check_allowed(allowed: Sequence[str], listings: Mapping[str, Listing]) -> None:
    names = [tool.name for listing in listings.values() for tool in listing.definitions]
    missing = [pattern for pattern in allowed if not any(matches_any(name, [pattern]) for name in names)]
    if missing:
        raise ConfigurationError(
            f"no tool of {_listed(listings)} is called {_listed(missing)}; correct 'allow_tools' (the tools are: "
            f"{', '.join(sorted(names)) or 'none'})"
        )


def _listed(names: Sequence[str] | Mapping[str, Any]) -> str:
    return " or ".join(map(repr, names))
