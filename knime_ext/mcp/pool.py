"""The sessions of a run: one per server, opened when needed, closed together."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from knime_ext.mcp.servers import Server, server_from_uri
from knime_ext.mcp.sessions import Session

__all__ = ["SessionPool"]


class SessionPool:
    """Leases the one session per server value; an async context manager, used from one event loop.

    Args:
        providers: Servers registered by the operator, by name.
    """

    def __init__(self, providers: Mapping[str, Server] | None = None) -> None:
        self._providers = dict(providers or {})
        self._sessions: dict[Server, Session] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def server(self, uri: str) -> Server:
        """The server that an address in a row means.

        Raises:
            ConfigurationError: The address cannot be used, or no provider has that name.
        """
        return server_from_uri(uri, self._providers)

    def session(self, server: Server) -> Session:
        """The session with a server, the same one for equal values. Nothing is opened before its first request."""
        if server not in self._sessions:
            self._sessions[server] = Session(server)
        return self._sessions[server]

    async def close(self) -> None:
        """Ends all sessions; the pool can be used again afterwards."""
        sessions, self._sessions = list(self._sessions.values()), {}
        await asyncio.gather(*(session.close() for session in sessions))
