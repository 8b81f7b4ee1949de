"""A list of tools that is kept for as long as its server allows. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import anyio

from knime_ext.mcp.listing import ToolProblem
from knime_ext.mcp.pages import ToolPages
from knime_ext.tools import ToolDefinition

__all__ = ["CachedList", "ttl_seconds"]

MAX_TTL_SECONDS = 24 * 3600.0
"""A server may say what it likes; nobody wants last week's list."""


def ttl_seconds(page: Mapping[str, Any]) -> float:
    """For how many seconds the server lets a page be kept (MCP 2026-07-28, `ttlMs`); 0 where it does not say."""
    ttl = page.get("ttlMs")
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not ttl > 0:
        return 0.0
    return min(ttl / 1000, MAX_TTL_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedList:
    """A complete list.

    Attributes:
        definitions: The usable tools.
        problems: The others.
        read_at: When it was complete, on the clock of the event loop.
        ttl: Seconds for which it may be used.
        changes: The session's count of changes when it was asked for.
    """

    definitions: tuple[ToolDefinition, ...]
    problems: tuple[ToolProblem, ...]
    read_at: float
    ttl: float
    changes: int

    @classmethod
    def of(cls, pages: ToolPages, ttl: float, changes: int) -> Self:
        """The list that was just read."""
        return cls(
            definitions=tuple(pages.definitions),
            problems=tuple(pages.problems),
            read_at=anyio.current_time(),
            ttl=ttl,
            changes=changes,
        )

    def is_good(self, arrived: float, changes: int) -> bool:
        """Whether somebody who asked at a time may have this list: it was read meanwhile, or may still be used."""
        return self.changes == changes and (self.read_at >= arrived or anyio.current_time() < self.read_at + self.ttl)

    def fill(self, pages: ToolPages) -> None:
        """Hands the list on."""
        pages.definitions[:] = self.definitions
        pages.problems[:] = self.problems

    def tool(self, name: str) -> ToolDefinition | None:
        """The tool of that name."""
        return next((tool for tool in self.definitions if tool.name == name), None)
