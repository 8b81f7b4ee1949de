"""The sessions that somebody holds: taken when needed, given back together."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.egress import EgressPolicy, Origin
from knime_ext.mcp.leased_session import LeasedSession
from knime_ext.mcp.listed import was_listed
from knime_ext.mcp.questions import Handlers, current_handlers
from knime_ext.mcp.servers import Server, server_from_uri
from knime_ext.mcp.shared_sessions import sessions_of_this_loop

__all__ = ["SessionPool"]


class SessionPool:
    """Leases sessions; an async context manager, used from one event loop.

    There is one session per server and principal in the whole process, however many pools hold it. It ends when the
    last pool that holds it is closed.

    Args:
        providers: Servers registered by the operator, by name.
        policy: Where requests may go; that of the environment if none is given.
    """

    def __init__(self, providers: Mapping[str, Server] | None = None, policy: EgressPolicy | None = None) -> None:
        self._providers: Mapping[str, Server] = {} if providers is None else providers
        self._policy = EgressPolicy.from_environment() if policy is None else policy
        self._leases: dict[tuple[Server, Origin, Handlers], LeasedSession] = {}

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

    def session(self, server: Server, origin: Origin = "typed") -> LeasedSession:
        """The session with a server, the same one for equal values. Nothing is opened before its first request.

        Whoever lets somebody answer the questions of servers (see `asking`) gets sessions of their own.

        Args:
            server: The server.
            origin: Where its address comes from: "typed" by a person (or by whoever wrote the program), or a "row".
        """
        key = server, self._origin(server, origin), current_handlers()
        if key not in self._leases:
            self._leases[key] = sessions_of_this_loop().lease(server, self._policy, *key[1:])
        return self._leases[key]

    def known_session(self, server: Server) -> LeasedSession | None:
        """The session with a server if it has been asked for; may be called from any thread."""
        return next((lease for key, lease in tuple(self._leases.items()) if key[0] == server), None)

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
        """Gives all sessions back; the pool can be used again afterwards."""
        leases, self._leases = list(self._leases.values()), {}
        await asyncio.gather(*(lease.close() for lease in leases))
