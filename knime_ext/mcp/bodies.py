"""Bodies of HTTP responses that are bounded and leave their connection usable."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress

import anyio
import httpx2

from knime_ext.mcp.exchange import Exchange

__all__ = ["BodyLost", "BoundedBody", "EventBody"]

DRAIN_SECONDS = 1.0
DRAIN_BYTES = 64 * 1024


class BodyLost(httpx2.StreamError):
    """A body that broke off or breaks a limit; the exchange's `failure` or `breach` says more.

    The SDK takes this kind of error for a failure of the one request, and any other for the end of the session.
    """


class BoundedBody(httpx2.AsyncByteStream):
    """A body that ends with an error where the limit is."""

    def __init__(self, inner: httpx2.AsyncByteStream, limit: int, exchange: Exchange) -> None:
        self._inner = inner
        self._limit = limit
        self._exchange = exchange
        self._source: AsyncIterator[bytes] | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The body, chunk by chunk."""
        if self._exchange.breach is not None:
            raise BodyLost(self._exchange.breach)
        size = 0
        async for chunk in self._chunks():
            size += len(chunk)
            if size > self._limit:
                self._exchange.breach = f"its answer is larger than the {self._limit} bytes that are allowed"
                raise BodyLost(self._exchange.breach)
            yield chunk

    async def aclose(self) -> None:
        """Closes the body, and the connection if it has not been read to its end."""
        await self._inner.aclose()

    async def _chunks(self) -> AsyncIterator[bytes]:
        self._source = aiter(self._inner)
        try:
            async for chunk in self._source:
                yield chunk
        except httpx2.TransportError as error:
            self._exchange.failure = error
            raise BodyLost("the connection broke") from error


class EventBody(BoundedBody):
    """A stream of events.

    The SDK ends it at an event that is too large; here is noted that this is the reason. And the SDK closes the stream
    as soon as it has the answer, a few bytes before the end, which costs the connection; here the rest is read.
    """

    def __init__(self, inner: httpx2.AsyncByteStream, limit: int, exchange: Exchange, *, lasts: bool) -> None:
        super().__init__(inner, limit, exchange)
        self._lasts = lasts

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The events, chunk by chunk."""
        size = 0
        async for chunk in self._chunks():
            size += len(chunk)
            if size > self._limit:
                self._exchange.breach = f"it sent an event larger than the {self._limit} bytes that are allowed"
            end = max(chunk.rfind(b"\n\n"), chunk.rfind(b"\r\n\r\n"), chunk.rfind(b"\r\r"))
            if end >= 0:
                size = len(chunk) - end
            yield chunk

    async def aclose(self) -> None:
        """Reads the little that may be left, unless the stream is meant to last or is given up."""
        try:
            if self._source is not None and not self._lasts and self._exchange.breach is None:
                with anyio.move_on_after(DRAIN_SECONDS), suppress(httpx2.HTTPError, httpx2.StreamError):
                    await self._drain(self._source)
        finally:
            await super().aclose()

    async def _drain(self, source: AsyncIterator[bytes]) -> None:
        size = 0
        async for chunk in source:
            size += len(chunk)
            if size > DRAIN_BYTES:
                return
