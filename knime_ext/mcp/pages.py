"""Gathers the tools of a list that comes in pages. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from knime_ext.errors import MCPError
from knime_ext.mcp.listing import ToolProblem
from knime_ext.mcp.listing_bounds import excess_of, size_of
from knime_ext.mcp.servers import Limits
from knime_ext.tools import ToolDefinition

__all__ = ["ToolPages", "definition_from_wire"]

_NAME_CHARS = 128
"""What is shown of the name of a tool that cannot be used."""


def definition_from_wire(tool: Mapping[str, Any], origin: str) -> ToolDefinition:
    """A tool as the server lists it, as a definition; the schemas stay exactly as they came.

    Args:
        tool: One valid element of `tools` of the answer to `tools/list`.
        origin: Address of the server.
    """
    annotations: dict[str, Any] = tool.get("annotations") or {}
    return ToolDefinition(
        name=tool["name"],
        description=tool.get("description") or "",
        parameters=tool["inputSchema"],
        wire_name=tool["name"],
        display_name=tool.get("title") or annotations.get("title") or tool["name"],
        output_schema=tool.get("outputSchema"),
        annotations=annotations,
        origin=origin,
    )


@dataclass(slots=True)
class ToolPages:
    """The pages so far.

    Attributes:
        origin: Address of the server.
        limits: How many pages and tools are taken, and how large ones.
        definitions: The usable tools, in order, names unique.
        problems: The others.
        era: Protocol revision, once known.
    """

    origin: str
    limits: Limits
    definitions: list[ToolDefinition] = field(default_factory=list[ToolDefinition])
    problems: list[ToolProblem] = field(default_factory=list[ToolProblem])
    _bytes: int = 0
    _names: set[str] = field(default_factory=set[str])
    _cursors: set[str] = field(default_factory=set[str])

    def add(self, page: Mapping[str, Any], problems: Sequence[ToolProblem], kept: Sequence[str]) -> str | None:
        """Takes a page.

        Args:
            page: The answer to `tools/list`, without malformed tools.
            problems: The malformed tools.
            kept: Names that the SDK kept. It drops tools whose arguments cannot travel as headers as they ask to.

        Returns:
            The cursor of the next page, None if this was the last one.

        Raises:
            MCPError: The list does not end, or is longer or larger than the limits.
        """
        for problem in problems:
            self._add_problem(problem.name, problem.reason)
        usable = set(kept)
        for tool in page["tools"]:
            self._add_tool(tool, usable)
        return self._next(page.get("nextCursor"))

    def _add_tool(self, tool: Mapping[str, Any], usable: set[str]) -> None:
        name: str = tool["name"]
        excess = excess_of(tool, self.limits)
        if excess is not None:
            self._add_problem(name, excess)
        elif name not in usable:
            self._add_problem(name, "its 'x-mcp-header' annotations are invalid")
        elif name in self._names:
            self._add_problem(name, "is listed more than once; only the first one is used")
        else:
            self._count(size_of(tool))
            self._names.add(name)
            self.definitions.append(definition_from_wire(tool, self.origin))

    def _add_problem(self, name: str, reason: str) -> None:
        self._count(0)
        shown = name if len(name) <= _NAME_CHARS else name[:_NAME_CHARS] + "…"
        self.problems.append(ToolProblem(name=shown, reason=reason))

    def _count(self, size: int) -> None:
        """Makes sure that there is room for one more tool.

        Raises:
            MCPError: There is not.
        """
        if len(self.definitions) + len(self.problems) >= self.limits.tools:
            raise MCPError(f"the server lists more than {self.limits.tools} tools; raise `tools` in its limits")
        self._bytes += size
        if self._bytes > self.limits.listing_bytes:
            raise MCPError(
                f"the server's tools take more than {self.limits.listing_bytes} bytes together; raise `listing_bytes` "
                "in its limits"
            )

    def _next(self, cursor: str | None) -> str | None:
        if cursor is None:
            return None
        if cursor in self._cursors:
            raise MCPError(
                "the server's list of tools goes round in circles: it gave the same page mark twice; see its log"
            )
        self._cursors.add(cursor)
        if len(self._cursors) >= self.limits.pages:
            raise MCPError(
                f"the server's list of tools has more than {self.limits.pages} pages; raise `pages` in its limits"
            )
        return cursor
