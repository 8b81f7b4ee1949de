"""Whether a failed request means that the session is lost, and whether the request may have taken effect. No I/O."""

from __future__ import annotations

from enum import Enum

import httpx2
from mcp import MCPError as WireError
from mcp_types import CONNECTION_CLOSED

from knime_ext.mcp.exchange import Exchange

__all__ = ["Loss", "is_broken_stream", "loss_of", "refuses_session"]


class Loss(Enum):
    """What a failure says about the session."""

    NONE = "the session goes on, or a new one would not help"
    REFUSED = "the session is over, and the request has not been carried out"
    UNKNOWN = "the session is over, and nobody knows whether the request has been carried out"


_REFUSING_STATUS = frozenset({400, 404, 410})


def loss_of(error: Exception, exchange: Exchange, *, is_legacy: bool) -> Loss:
    """Judges a failed request.

    Args:
        error: What was raised.
        exchange: Notes on the request.
        is_legacy: Whether the session is of the era before 2026. Later there are no sessions that a server could end.
    """
    if exchange.breach is not None or exchange.refusal is not None or isinstance(error, TimeoutError):
        return Loss.NONE
    if exchange.failure is not None:
        return _of_http_failure(exchange.failure)
    if isinstance(error, httpx2.HTTPStatusError):
        return Loss.REFUSED if exchange.status in _REFUSING_STATUS else Loss.NONE
    if not isinstance(error, WireError):
        return Loss.NONE
    if is_legacy and refuses_session(error, exchange):
        return Loss.REFUSED
    if not is_broken_stream(error):
        return Loss.NONE
    return Loss.UNKNOWN if exchange.sent else Loss.REFUSED


def _of_http_failure(failure: Exception) -> Loss:
    """A connection that broke while a request was under way; if none could be made, another session is no help."""
    never_sent = (httpx2.ConnectError, httpx2.UnsupportedProtocol, httpx2.ProxyError)
    if isinstance(failure, (*never_sent, httpx2.TimeoutException)):
        return Loss.NONE
    return Loss.UNKNOWN


def refuses_session(error: WireError, exchange: Exchange) -> bool:
    """Whether the server says, in answer to a request within a session, that it does not know the session.

    The protocol's word for it is status 404. Servers also answer 400 (the TypeScript examples) and put all kinds of
    codes into the body (-32600, -32000, -32001), but each names the session.
    """
    if exchange.status == 404:
        return True
    return "session" in error.message.lower() and (error.code == -32600 or exchange.status in _REFUSING_STATUS)


def is_broken_stream(error: WireError) -> bool:
    """Whether the SDK says that the answer cannot come any more; servers use the code for other things, too."""
    return error.code == CONNECTION_CLOSED and error.message.startswith(("Connection closed", "SSE stream"))
