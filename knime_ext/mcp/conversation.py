"""One conversation with a server, from the handshake to its end, owned by one task.

The SDK's transports and sessions hold cancel scopes, which must be left in the task that entered them. So one task
opens a conversation, waits, and closes it; callers send their requests through it from tasks of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Self, TypeVar

import anyio
from mcp.client import Client
from mcp_types import Implementation
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from knime_ext import __version__
from knime_ext.mcp.exchange import Exchange, noting
from knime_ext.mcp.listening import Listening
from knime_ext.mcp.tap import Tap

__all__ = ["Conversation"]

CLOSE_SECONDS = 2.0
"""How long telling the server goodbye may take. Stopping a child process has its own limits."""

CLIENT_INFO = Implementation(name="knime-mcp", version=__version__)

T = TypeVar("T")


class Conversation:
    """An initialised session of the SDK.

    Attributes:
        tap: Sees the messages.
        exchange: Notes on the handshake, and on a stream that lasts as long as the conversation.
    """

    def __init__(self, tap: Tap, exchange: Exchange, mode: str, callbacks: Mapping[str, Any]) -> None:
        self.tap = tap
        self.exchange = exchange
        self._mode = mode
        self._callbacks = callbacks
        tap.listens = bool(callbacks)
        self._scope = anyio.CancelScope()
        self._leave = asyncio.Event()
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._requests = 0
        self._retired = False
        self._listening = Listening(tap)
        self._owner = asyncio.create_task(self._own(), name="knime-mcp-conversation")

    @classmethod
    async def open(cls, tap: Tap, exchange: Exchange, mode: str, callbacks: Mapping[str, Any]) -> Self:
        """Connects and shakes hands.

        Args:
            tap: The transport.
            exchange: Where to take notes.
            mode: "auto" finds out the protocol's era, "legacy" knows that it is the one before 2026.
            callbacks: What answers the server's questions, as arguments of the SDK's client.

        Raises:
            Exception: Whatever the transport or the SDK raise; nothing is left behind.
        """
        self = cls(tap, exchange, mode, callbacks)
        try:
            await asyncio.shield(self._ready)
        except BaseException:
            self._scope.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait([self._owner])
            if not self._ready.cancelled():
                self._ready.exception()  # retrieved, or the loop would complain about an error that nobody saw
            raise
        return self

    @property
    def client(self) -> Client:
        """The SDK's client, initialised."""
        return self._ready.result()

    @property
    def is_legacy(self) -> bool:
        """Whether the server speaks a revision from before 2026."""
        return self.client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS

    @property
    def is_over(self) -> bool:
        """Whether the server's side is closed: no request can succeed any more."""
        return self.tap.ended.is_set()

    @property
    def is_done(self) -> bool:
        """Whether nothing is left of it."""
        return self._owner.done()

    async def ask(self, request: Callable[[Client], Awaitable[T]], exchange: Exchange) -> T:
        """Sends a request and waits for its answer, in the task of the caller."""
        self._requests += 1
        try:
            with noting(exchange):
                return await request(self.client)
        finally:
            self._requests -= 1
            self.tap.forget(exchange)
            self._leave_if_idle()

    def listen(self) -> None:
        """Lets the server say between calls that its list of tools has changed, if it can."""
        if not self.is_over and not self._leave.is_set():
            self._listening.start(self.client)

    def retire(self) -> None:
        """Ends the conversation as soon as the requests that are under way are answered."""
        self._retired = True
        self._leave_if_idle()

    async def close(self) -> None:
        """Ends the conversation now and waits until nothing is left of it."""
        self._leave.set()
        await asyncio.wait([self._owner])

    def _leave_if_idle(self) -> None:
        if self._retired and self._requests == 0:
            self._leave.set()

    async def _own(self) -> None:
        try:
            with self._scope, noting(self.exchange):
                options = self._callbacks
                async with Client(self.tap, mode=self._mode, cache=None, client_info=CLIENT_INFO, **options) as client:
                    self.tap.version = client.protocol_version
                    self._ready.set_result(client)
                    try:
                        await self._leave.wait()
                    finally:
                        await self._listening.stop()
                    self._scope.deadline = anyio.current_time() + CLOSE_SECONDS
        except Exception as error:
            # After the handshake, the end of the stream tells the callers; the reason is in their own notes.
            if not self._ready.done():
                self._ready.set_exception(error)
        finally:
            self.tap.ended.set()
            if not self._ready.done():
                self._ready.cancel()
