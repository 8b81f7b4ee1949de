"""A holder's share in the session with a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from knime_ext.errors import MCPConnectionError
from knime_ext.mcp.foreign_text import name_of
from knime_ext.mcp.listing import ServerInfo
from knime_ext.mcp.pages import ToolPages
from knime_ext.mcp.servers import Server
from knime_ext.mcp.sessions import Session
from knime_ext.tools import ToolDefinition, ToolResult

__all__ = ["LeasedSession"]


class LeasedSession:
    """The session with a server as one holder sees it: the session is shared, the time limits are the holder's own.

    Args:
        server: The server, with the holder's time limits.
        session: The session.
        give_back: Says that this holder needs the session no more.
    """

    def __init__(self, server: Server, session: Session, give_back: Callable[[], Awaitable[None]]) -> None:
        self.server = server
        self._held: Session | None = session
        self._give_back = give_back

    @property
    def is_connected(self) -> bool:
        """Whether a conversation is open. The next request opens one in any case."""
        return self._held is not None and self._held.is_connected

    @property
    def era(self) -> str | None:
        """Protocol revision of the conversation, None before there is one."""
        return None if self._held is None else self._held.era

    @property
    def session_id(self) -> str | None:
        """The server's identifier of the session; None before the handshake and where there is none."""
        return None if self._held is None else self._held.session_id

    @property
    def capabilities(self) -> tuple[str, ...]:
        """What the server says it can do, such as "tools"; empty before there is a conversation."""
        return () if self._held is None else self._held.capabilities

    @property
    def server_info(self) -> ServerInfo | None:
        """What the server says about itself."""
        return None if self._held is None else self._held.server_info

    @property
    def list_version(self) -> int:
        """A number that changes when the server says that its list has changed, or has been connected to anew."""
        return 0 if self._held is None else self._held.list_version

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any], *, timeout: float | None = None, repeatable: bool = False
    ) -> ToolResult:
        """Calls a tool; see `Session.call_tool`."""
        return await self._session.call_tool(
            name, arguments, timeout=timeout, repeatable=repeatable, limits=self.server.timeouts
        )

    async def list_tools(self, pages: ToolPages) -> None:
        """Reads the whole list of tools into `pages`; see `Session.list_tools`."""
        await self._session.list_tools(pages, self.server.timeouts)

    async def known_tool(self, name: str) -> ToolDefinition | None:
        """A tool as the session knows it; see `Session.known_tool`."""
        return await self._session.known_tool(name, self.server.timeouts)

    async def connect(self) -> None:
        """Opens the conversation, unless it is open; see `Session.connect`."""
        await self._session.connect(self.server.timeouts)

    async def close(self) -> None:
        """Gives the session back. It ends with its last holder."""
        if self._held is not None:
            self._held = None
            await self._give_back()

    @property
    def _session(self) -> Session:
        if self._held is None:
            raise MCPConnectionError(f"the session with server {name_of(self.server)} is closed; open a new pool")
        return self._held
