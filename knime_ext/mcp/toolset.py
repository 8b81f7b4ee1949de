"""The tools of one MCP server as a toolset."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from knime_ext.errors import MCPError, MCPToolNotFoundError, UnknownTool
from knime_ext.mcp.calls import is_repeatable
from knime_ext.mcp.listed import remember_listed
from knime_ext.mcp.listing import Listing
from knime_ext.mcp.pages import ToolPages
from knime_ext.mcp.pool import SessionPool
from knime_ext.mcp.servers import Server
from knime_ext.tools import ToolDefinition, ToolResult, Toolset

__all__ = ["MCPToolset", "list_servers"]


class MCPToolset(Toolset):
    """Lists and calls the tools of a server over its session in a pool.

    Args:
        server: The server.
        pool: Where its session is.
        call_seconds: Time limit of a call, instead of the server's own.
    """

    def __init__(self, server: Server, pool: SessionPool, *, call_seconds: float | None = None) -> None:
        self._server = server
        self._pool = pool
        self._call_seconds = call_seconds
        self._repeatable: frozenset[str] = frozenset()

    async def list(self) -> Listing:
        """What the server offers at this moment. Failures are data: nothing about the server is raised."""
        started = time.perf_counter()
        session = self._pool.session(self._server)
        pages = ToolPages(self._server.uri, self._server.limits)
        error: str | None = None
        try:
            await self._read(pages)
        except MCPError as reason:
            error = str(reason)
        return Listing(
            server=self._server,
            definitions=tuple(pages.definitions),
            problems=tuple(pages.problems),
            error=error,
            seconds=time.perf_counter() - started,
            era=session.era,
            server_info=session.server_info,
            capabilities=session.capabilities,
        )

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        """The usable tools.

        Raises:
            MCPError: The list could not be read to its end.
        """
        pages = ToolPages(self._server.uri, self._server.limits)
        await self._read(pages)
        return tuple(pages.definitions)

    async def _read(self, pages: ToolPages) -> None:
        try:
            await self._pool.session(self._server).list_tools(pages)
            remember_listed(self._server.uri)
        finally:
            self._repeatable = frozenset(tool.name for tool in pages.definitions if is_repeatable(tool.annotations))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls a tool; see `Session.call_tool` for what may be raised.

        Raises:
            UnknownTool: The server has no tool of that name.
            MCPError: The server, or the way to it, failed.
        """
        session = self._pool.session(self._server)
        try:
            return await session.call_tool(
                name, arguments, timeout=self._call_seconds, repeatable=name in self._repeatable
            )
        except MCPToolNotFoundError as error:
            raise UnknownTool(str(error)) from error


async def list_servers(servers: Sequence[Server], pool: SessionPool) -> list[Listing]:
    """Asks several servers at the same time; one that fails does not hide the others.

    Returns:
        One listing per server, in the order given.
    """
    return await asyncio.gather(*(MCPToolset(server, pool).list() for server in servers))
