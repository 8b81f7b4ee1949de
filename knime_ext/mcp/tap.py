"""A wrapper around any transport of the SDK that sees every message.

It adds what the SDK lacks and needs nothing but the public shape of a transport (a context manager that gives a
read stream and a write stream): malformed tools are taken out of a page before the SDK would refuse all of it, the
answer to a request is kept as the server sent it, and the end of the stream is noticed at once.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import METHOD_NOT_FOUND, ErrorData, JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from mcp_types.version import LATEST_HANDSHAKE_VERSION

from knime_ext.mcp.exchange import Exchange, current_exchange, noting
from knime_ext.mcp.sieve import sift_page

__all__ = ["ReadStream", "Streams", "Tap", "WriteStream"]

LIST_CHANGED = "notifications/tools/list_changed"

NOTICE_SECONDS = 5.0
"""How long a server may take to accept a message that needs no answer. The SDK sends these one after the other, so
one that hangs would hold up all others."""


class ReadStream(Protocol):
    """Where messages of the server come in; what cannot be read as a message comes as the exception."""

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        ...

    async def aclose(self) -> None:
        """Closes the stream."""
        ...


class WriteStream(Protocol):
    """Where messages to the server go out."""

    async def send(self, item: SessionMessage, /) -> None:
        """Sends a message."""
        ...

    async def aclose(self) -> None:
        """Closes the stream."""
        ...


Streams: TypeAlias = tuple[ReadStream, WriteStream]


class Tap:
    """A transport around a transport.

    Args:
        transport: The inner one.
        patience: Seconds after which a server that ignores `server/discover` is taken for one of the era before. The
            protocol wants an error from these, but some never answer a method that they do not know.

    Attributes:
        ended: Set as soon as the server's side of the stream is closed.
        noise: How many times something came that is no JSON-RPC message.
        list_changes: How many times the server has said that its list of tools has changed.
        listens: Whether somebody answers what the server asks, so that it may send messages unasked.
        version: Protocol revision of the session, set once it is agreed on.
    """

    def __init__(self, transport: AbstractAsyncContextManager[Any], *, patience: float = float("inf")) -> None:
        self._transport = transport
        self._patience = patience
        self._probe_deadline = anyio.current_time() + patience
        self._waiting: dict[str, tuple[str, Exchange]] = {}
        self.ended = asyncio.Event()
        self.noise = 0
        self.list_changes = 0
        self.listens = False
        self.version = LATEST_HANDSHAKE_VERSION

    async def __aenter__(self) -> tuple[_TappedReads, _TappedWrites]:
        read, write = await self._transport.__aenter__()
        return _TappedReads(self, read), _TappedWrites(self, write)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        try:
            return await self._transport.__aexit__(kind, error, trace)
        finally:
            self.ended.set()

    @property
    def patience_left(self) -> float:
        """Seconds until the probe for the protocol's era is given up."""
        return self._probe_deadline - anyio.current_time()

    def wait_on(self) -> bool:
        """Starts anew to be patient if it is not the server that takes so long, but signing in."""
        is_signing_in = any(exchange.is_signing_in for _, exchange in self._waiting.values())
        if is_signing_in:
            self._probe_deadline = anyio.current_time() + self._patience
        return is_signing_in

    def give_up_probe(self) -> SessionMessage | None:
        """The answer that the server should have given to the probe, if it is still waited for."""
        self._probe_deadline = float("inf")
        for number, (method, _) in self._waiting.items():
            if method == "server/discover":
                error = ErrorData(code=METHOD_NOT_FOUND, message="the server did not answer the probe")
                return SessionMessage(JSONRPCError(jsonrpc="2.0", id=int(number), error=error))
        return None

    def outgoing(self, item: SessionMessage) -> Exchange:
        """The notes to take on a message while it is sent; an answer to it will find them again."""
        if not isinstance(item.message, JSONRPCRequest):
            return Exchange(seconds=NOTICE_SECONDS, survives=True, listens=self.listens)
        exchange = current_exchange() or Exchange()
        exchange.sent = True
        self._waiting[str(item.message.id)] = (item.message.method, exchange)
        return exchange

    def forget(self, exchange: Exchange) -> None:
        """Stops waiting for the answer that belongs to these notes."""
        for number in [number for number, (_, notes) in self._waiting.items() if notes is exchange]:
            del self._waiting[number]

    def incoming(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        """Takes notes on an answer; gives the message that the SDK shall see."""
        if isinstance(item, Exception):
            self.noise += 1
            return item
        if isinstance(item.message, JSONRPCNotification) and item.message.method == LIST_CHANGED:
            self.list_changes += 1
        if not isinstance(item.message, JSONRPCResponse | JSONRPCError):
            return item
        self._probe_deadline = float("inf")
        method, exchange = self._waiting.pop(str(item.message.id), ("", None))
        if exchange is None or isinstance(item.message, JSONRPCError):
            return item
        exchange.answer = item.message.result
        if method != "tools/list":
            return item
        exchange.answer, exchange.problems = sift_page(item.message.result, self.version)
        return SessionMessage(item.message.model_copy(update={"result": dict(exchange.answer)}), item.metadata)


class _Tapped:
    """What both directions share: they are closed with the `with` block, as the SDK expects."""

    async def aclose(self) -> None:
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


class _TappedReads(_Tapped):
    def __init__(self, tap: Tap, inner: ReadStream) -> None:
        self._tap = tap
        self._inner = inner

    @property
    def last_context(self) -> Any:
        """Context of the sender of the last message; the SDK runs handlers in it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        try:
            while True:
                with anyio.move_on_after(self._tap.patience_left):
                    return self._tap.incoming(await self._inner.receive())
                if not self._tap.wait_on():
                    break
            return self._tap.give_up_probe() or self._tap.incoming(await self._inner.receive())
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._tap.ended.set()
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class _TappedWrites(_Tapped):
    def __init__(self, tap: Tap, inner: WriteStream) -> None:
        self._tap = tap
        self._inner = inner

    async def send(self, item: SessionMessage, /) -> None:
        with noting(self._tap.outgoing(item)):
            await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()
