"""The HTTP client of a server: opened once, kept over lost sessions, bounded, and able to say what went wrong.

It is the one place where requests leave for the network, so the egress policy holds here for every one of them.
"""

from __future__ import annotations

import functools
import ssl
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx2

from knime_ext.errors import MCPAuthError
from knime_ext.mcp.bodies import BoundedBody, EventBody
from knime_ext.mcp.egress_gate import AddressRefused, DirectTransport, EgressGate, ProxiedTransport
from knime_ext.mcp.exchange import Exchange, current_exchange
from knime_ext.mcp.foreign_text import name_of
from knime_ext.mcp.servers import HTTPServer

__all__ = ["GuardedClient"]

EVENT_STREAM = "text/event-stream"
IDLE_SECONDS = 30.0
SHORT_BYTES = 64 * 1024
LISTENS = "knime_mcp_listens"
"""Extension of requests for a lasting stream, which may be silent for any time."""


@functools.cache
def tls_context() -> ssl.SSLContext:
    """The TLS settings that all servers share; making them takes about 30 ms."""
    return httpx2.create_ssl_context()


class GuardedClient(httpx2.AsyncClient):
    """An HTTP client that notes what happens to a request and bounds what comes back.

    Attributes:
        session_id: The session that the server named last, in the eras that have one.
    """

    def __init__(self, server: HTTPServer, gate: EgressGate) -> None:
        self._gate = gate
        # Compressed answers are refused, because a few kilobytes can unpack to gigabytes.
        super().__init__(
            headers={**server.headers, "Accept-Encoding": "identity"},
            verify=tls_context(),
            timeout=httpx2.Timeout(None, connect=server.timeouts.connect),
            limits=httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=IDLE_SECONDS),
            auth=_sign_in(server),
        )
        self._server = server
        self._answer_bytes = server.limits.answer_bytes
        self.session_id: str | None = None

    def _init_transport(self, *args: Any, **options: Any) -> httpx2.AsyncBaseTransport:
        return DirectTransport(self._gate, verify=options["verify"], limits=options["limits"])

    def _init_proxy_transport(self, proxy: httpx2.Proxy, *args: Any, **options: Any) -> httpx2.AsyncBaseTransport:
        return ProxiedTransport(self._gate, proxy, verify=options["verify"], limits=options["limits"])

    def event_stream(self, url: str | httpx2.URL) -> AbstractAsyncContextManager[httpx2.EventSource]:
        """Opens a lasting stream of server-sent events."""
        return self.sse(url, max_event_size=self._answer_bytes, extensions={LISTENS: True})

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """Sends a request; the response's body is bounded."""
        exchange = current_exchange() or Exchange()
        if _is_standing_get(request):
            if not exchange.listens:
                # Nobody would answer what comes there, and the stream would cost a connection per session.
                return httpx2.Response(405, request=request)
            request.extensions = {**request.extensions, LISTENS: True, "timeout": {**_timeouts(request), "read": None}}
        if request.method == "DELETE" and exchange.gone:
            return httpx2.Response(200, request=request)
        if LISTENS not in request.extensions:
            request.extensions = {
                **request.extensions,
                "timeout": {**_timeouts(request), "read": exchange.seconds},
            }
        try:
            with self._gate.sending(str(request.url)):
                response = await super().send(request, stream=True, **options)
            self._note(response, exchange)
            if not stream or _is_short_and_unread(response):
                await response.aread()
            return response
        except MCPAuthError as error:
            return self._refused(error, exchange, request)
        except httpx2.TransportError as error:
            if (elsewhere := _elsewhere(error, request)) is not None:
                # Only signing in leads elsewhere.
                refusal = MCPAuthError(
                    f"cannot reach the authorization server {elsewhere!r} of server {name_of(self._server)}: "
                    f"{error or type(error).__name__}; check that it runs"
                )
                return self._refused(refusal, exchange, request)
            exchange.failure = error
            if not exchange.survives:
                raise
            # An exception would end the SDK's transport and with it every other call on the session.
            return httpx2.Response(503, request=request)

    def _refused(self, error: MCPAuthError, exchange: Exchange, request: httpx2.Request) -> httpx2.Response:
        """What becomes of a request for which signing in failed."""
        exchange.refusal, exchange.status = error, 401
        if not exchange.survives:
            raise error from None
        return httpx2.Response(401, request=request)

    def _note(self, response: httpx2.Response, exchange: Exchange) -> None:
        exchange.status = response.status_code
        exchange.content_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        exchange.location = response.headers.get("location")
        self.session_id = response.headers.get("mcp-session-id", self.session_id)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        size = int(response.headers.get("content-length", "0") or 0)
        if response.headers.get("content-encoding", "identity") != "identity":
            exchange.breach = "it sent a compressed answer, although asked not to"
        elif exchange.content_type == EVENT_STREAM:
            lasts = exchange.lasts or LISTENS in response.request.extensions
            response.stream = EventBody(response.stream, self._answer_bytes, exchange, lasts=lasts)
            return
        elif size > self._answer_bytes:
            exchange.breach = f"it sent an answer of {size} bytes, and {self._answer_bytes} are allowed"
        response.stream = BoundedBody(response.stream, self._answer_bytes, exchange)


def _sign_in(server: HTTPServer) -> httpx2.Auth | None:
    if server.auth is None:
        return None
    from knime_ext.mcp.auth import sign_in_flow  # costs time that servers without sign-in need not spend

    return sign_in_flow(server)


def _elsewhere(error: httpx2.TransportError, request: httpx2.Request) -> str | None:
    """The origin of a request that was sent on the way and failed, if it is not that of the request itself."""
    if isinstance(error, AddressRefused):
        return None
    try:
        failed, meant = error.request.url, request.url
    except RuntimeError:  # the library does not say
        return None
    origin = f"{failed.scheme}://{failed.netloc.decode()}"
    return None if origin == f"{meant.scheme}://{meant.netloc.decode()}" else origin


def _is_short_and_unread(response: httpx2.Response) -> bool:
    """Whether the SDK would drop this response unread, and with it a connection that could be used again."""
    size = response.headers.get("content-length")
    return response.status_code != 200 and size is not None and int(size) <= SHORT_BYTES


def _timeouts(request: httpx2.Request) -> dict[str, Any]:
    return request.extensions.get("timeout", {})


def _is_standing_get(request: httpx2.Request) -> bool:
    """Whether this is the SDK's request to listen for messages that no request asked for."""
    return (
        request.method == "GET"
        and EVENT_STREAM in request.headers.get("accept", "")
        and "last-event-id" not in request.headers
        and LISTENS not in request.extensions
    )
