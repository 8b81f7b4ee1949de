"""What leads to a server and outlives its sessions: the HTTP client, or the recipe for a child process.

This is the first of two phases: a line is made once per server, the handshake over it again after every loss.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from mcp.client.streamable_http import streamable_http_client

from knime_ext.mcp.egress import EgressPolicy, Origin
from knime_ext.mcp.egress_gate import EgressGate
from knime_ext.mcp.exchange import Exchange
from knime_ext.mcp.guarded_client import GuardedClient
from knime_ext.mcp.servers import HTTPServer, Server, SSEServer, StdioServer, StreamableHTTPServer
from knime_ext.mcp.sign_in import chosen_urls
from knime_ext.mcp.sse import sse_transport
from knime_ext.mcp.stdio import ChildNotes, stdio_transport

__all__ = ["Door", "Line", "forget_verdicts", "open_line"]

STREAMABLE_HTTP = "streamable HTTP"
HTTP_SSE = "HTTP+SSE"


@dataclass(frozen=True, slots=True)
class Door:
    """One way to speak with a server.

    Attributes:
        name: The transport's name for people.
        media_types: How an answer of a server that speaks it is typed.
        transport: Makes a transport of the SDK that takes notes while it lives.
    """

    name: str
    media_types: frozenset[str]
    transport: Callable[[Exchange], AbstractAsyncContextManager[Any]]

    def is_wrong(self, exchange: Exchange) -> bool:
        """Whether the server answered, but in a way that says that it does not speak this transport."""
        if exchange.failure is not None or exchange.breach is not None or exchange.status is None:
            return False
        if exchange.status >= 400:
            return exchange.status == 501 or exchange.status < 500 and exchange.status not in _OTHER_REASONS
        return exchange.status == 200 and exchange.content_type not in self.media_types


_OTHER_REASONS = frozenset({401, 403, 407, 408, 429})
"""Refusals that say nothing about the transport."""


class Line(ABC):
    """The way to one server.

    Attributes:
        child: Notes on the child process that was started last, if the server is one.
    """

    child: ChildNotes | None = None

    @property
    def session_id(self) -> str | None:
        """The identifier that the server gave to the session, if it gives one."""
        return None

    @abstractmethod
    def admit(self) -> None:
        """Asks the egress policy whether the server may be spoken with at all.

        Raises:
            EgressDenied: It may not.
        """

    @abstractmethod
    def doors(self) -> Sequence[Door]:
        """The transports to try, in order."""

    @abstractmethod
    def settle(self, door: Door | None) -> None:
        """Remembers which door was right; None forgets it."""

    @abstractmethod
    async def close(self) -> None:
        """Closes every connection. The line can be used again and opens others then."""


_verdicts: dict[str, str] = {}
"""What the URLs of this process turned out to speak: URL to the name of a door."""


def forget_verdicts() -> None:
    """Forgets what URLs turned out to speak."""
    _verdicts.clear()


class HTTPLine(Line):
    """A server behind a URL; all of its sessions share one HTTP client."""

    def __init__(self, server: HTTPServer, policy: EgressPolicy, origin: Origin) -> None:
        self._server = server
        self._gate = EgressGate(policy, server.url, origin, server.headers, chosen_urls(server.auth))
        self._client: GuardedClient | None = None

    def admit(self) -> None:
        """Asks the egress policy about the address."""
        self._gate.admit()

    @property
    def session_id(self) -> str | None:
        """What the header `Mcp-Session-Id` said last."""
        return None if self._client is None else self._client.session_id

    def doors(self) -> Sequence[Door]:
        """One door if the transport is known, else both, the remembered one first."""
        streamable = Door(STREAMABLE_HTTP, frozenset({"application/json", "text/event-stream"}), self._streamable)
        sse = Door(HTTP_SSE, frozenset({"text/event-stream"}), self._sse)
        if isinstance(self._server, StreamableHTTPServer):
            return [streamable]
        if isinstance(self._server, SSEServer):
            return [sse]
        return [sse, streamable] if _verdicts.get(self._server.url) == HTTP_SSE else [streamable, sse]

    def settle(self, door: Door | None) -> None:
        """Remembers what the URL speaks, for the whole process."""
        if door is None:
            _verdicts.pop(self._server.url, None)
        else:
            _verdicts[self._server.url] = door.name

    async def close(self) -> None:
        """Closes the HTTP client."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _open_client(self) -> GuardedClient:
        if self._client is None:
            self._client = GuardedClient(self._server, self._gate)
        return self._client

    def _streamable(self, exchange: Exchange) -> AbstractAsyncContextManager[Any]:
        limit = self._server.limits.answer_bytes
        return streamable_http_client(self._server.url, http_client=self._open_client(), max_sse_event_size=limit)

    def _sse(self, exchange: Exchange) -> AbstractAsyncContextManager[Any]:
        return sse_transport(self._server.url, self._open_client())


class StdioLine(Line):
    """A server that is a child process; every handshake starts a new one."""

    def __init__(self, server: StdioServer, policy: EgressPolicy, origin: Origin) -> None:
        self._server = server
        self._policy = policy
        self._origin: Origin = origin

    def admit(self) -> None:
        """Asks the egress policy whether the program may be started."""
        self._policy.check_program(self._server.name, self._origin)

    def doors(self) -> Sequence[Door]:
        """The only one."""
        return [Door("stdio", frozenset(), self._start)]

    def settle(self, door: Door | None) -> None:
        """There is nothing to find out."""

    async def close(self) -> None:
        """The child has ended with its conversation."""

    def _start(self, exchange: Exchange) -> AbstractAsyncContextManager[Any]:
        self.child = ChildNotes()
        return stdio_transport(self._server, self.child, exchange)


def open_line(server: Server, policy: EgressPolicy, origin: Origin) -> Line:
    """The way to a server; nothing is sent or started yet.

    Args:
        server: The server.
        policy: Where requests may go.
        origin: Where the server's address comes from.
    """
    if isinstance(server, StdioServer):
        return StdioLine(server, policy, origin)
    return HTTPLine(server, policy, origin)
