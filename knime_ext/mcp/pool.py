"""The sessions of a run: one per server, opened when needed, closed together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.egress import EgressPolicy, Origin
from knime_ext.mcp.listed import was_listed
from knime_ext.mcp.questions import Handlers, current_handlers
from knime_ext.mcp.servers import Server, server_from_uri
from knime_ext.mcp.sessions import Session

__all__ = ["SessionPool"]


class SessionPool:
    """Leases the one session per server value; an async context manager, used from one event loop.

    Args:
        providers: Servers registered by the operator, by name.
        policy: Where requests may go; that of the environment if none is given.
    """

    def __init__(self, providers: Mapping[str, Server] | None = None, policy: EgressPolicy | None = None) -> None:
        self._providers: Mapping[str, Server] = {} if providers is None else providers
        self._policy = EgressPolicy.from_environment() if policy is None else policy
        self._sessions: dict[tuple[Server, Origin, Handlers], Session] = {}

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

    def session(self, server: Server, origin: Origin = "typed") -> Session:
        """The session with a server, the same one for equal values. Nothing is opened before its first request.

        Whoever lets somebody answer the questions of servers (see `asking`) gets sessions of their own.

        Args:
            server: The server.
            origin: Where its address comes from: "typed" by a person (or by whoever wrote the program), or a "row".
        """
        key = server, self._origin(server, origin), current_handlers()
        if key not in self._sessions:
            self._sessions[key] = Session(server, self._policy, *key[1:])
        return self._sessions[key]

    def _origin(self, server: Server, origin: Origin) -> Origin:
        """What an address is worth: a registered one is the operator's word, a listed one the person's."""
        if any(server.uri == known.uri for known in self._registered()):
            return "provider"
        return "typed" if was_listed(server.uri) else origin

    def _registered(self) -> Iterator[Server]:
        for name in self._providers:
            # One whose variable is missing is no hindrance to the others; whoever uses it is told.
            with suppress(ConfigurationError):
                yield self._providers[name]

    async def close(self) -> None:
        """Ends all sessions; the pool can be used again afterwards."""
        sessions, self._sessions = list(self._sessions.values()), {}
        await asyncio.gather(*(session.close() for session in sessions))
