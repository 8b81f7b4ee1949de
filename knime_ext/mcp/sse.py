"""The HTTP+SSE transport (MCP 2024-11-05): one stream of events in, one POST per message out.

The SDK has one of its own, which cannot be used here: it fixes the size of an event at 1 MiB, and when a POST fails
(the server ended the session, say) it only logs that, so that the call waits until its time is up. Here the failure
reaches the call that it belongs to.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter

from knime_ext.mcp.guarded_client import GuardedClient
from knime_ext.mcp.tap import Streams

__all__ = ["sse_transport"]

MAX_REDIRECTS = 5
_JSON = {"Content-Type": "application/json"}


@asynccontextmanager
async def sse_transport(url: str, client: GuardedClient) -> AsyncGenerator[Streams]:
    """Connects to a server over HTTP+SSE.

    Args:
        url: The endpoint of the event stream.
        client: The HTTP client; it stays open.

    Raises:
        httpx2.HTTPStatusError: The server refuses the stream.
        httpx2.SSEError: It answers with something else than events, or an event is too large.
        httpx2.TransportError: It cannot be reached.
    """
    async with _open_events(client, httpx2.URL(url)) as source:
        events = aiter(source)
        endpoint = await _endpoint(events, source.response.request.url)
        incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        async with incoming, read, anyio.create_task_group() as tasks:
            tasks.start_soon(_deliver, events, incoming)
            yield read, _Postbox(client, endpoint)
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def _open_events(client: GuardedClient, url: httpx2.URL) -> AsyncGenerator[httpx2.EventSource]:
    """The event stream; redirects are followed within the origin, where the headers may go."""
    for _ in range(MAX_REDIRECTS):
        async with client.event_stream(url) as source:
            target = source.response.next_request
            if target is None or _origin(target.url) != _origin(url):
                source.response.raise_for_status()
                yield source
                return
            url = target.url
    raise httpx2.TooManyRedirects(f"more than {MAX_REDIRECTS} redirects")


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


async def _endpoint(events: AsyncIterator[httpx2.ServerSentEvent], url: httpx2.URL) -> httpx2.URL:
    """The address for messages, which the server sends first."""
    async for event in events:
        if event.event == "endpoint":
            endpoint = url.join(event.data)
            if _origin(endpoint) != _origin(url):
                raise httpx2.SSEError("the server wants messages sent to a different host")
            return endpoint
    raise httpx2.SSEError("the server closed the event stream before it said where messages go")


async def _deliver(
    events: AsyncIterator[httpx2.ServerSentEvent], incoming: MemoryObjectSendStream[SessionMessage | Exception]
) -> None:
    """Hands events on as messages until the stream ends."""
    async with incoming:
        try:
            async for event in events:
                if event.event == "message" and event.data:
                    await incoming.send(_message(event.data))
        except (httpx2.TransportError, httpx2.StreamError, anyio.BrokenResourceError):
            return  # the stream is over; whoever waits for an answer is told so by its end


def _message(text: str) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
    except ValueError as error:
        return error


class _Postbox:
    """The write side: every message is a POST, in the task of its sender."""

    def __init__(self, client: GuardedClient, endpoint: httpx2.URL) -> None:
        self._client = client
        self._endpoint = endpoint

    async def send(self, item: SessionMessage, /) -> None:
        content = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            response = await self._client.post(self._endpoint, content=content, headers=_JSON)
            response.raise_for_status()
        except (httpx2.HTTPError, httpx2.StreamError):
            # What needs no answer is sent by the session itself, which an exception would end.
            if isinstance(item.message, JSONRPCRequest):
                raise

    async def aclose(self) -> None:
        """Nothing to close: the HTTP client lives longer."""
