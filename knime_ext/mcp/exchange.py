"""Notes on one request to a server, taken by the layers it passes through.

The SDK's errors say little about what happened below (a 401 and a 500 look the same). Its transports run every
HTTP request in the context of the task that sent the message, so a context variable brings the notes of a request
to every layer without touching the SDK.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from knime_ext.errors import MCPAuthError
from knime_ext.mcp.listing import ToolProblem

__all__ = ["Exchange", "current_exchange", "noting"]


@dataclass(slots=True, kw_only=True)
class Exchange:
    """What is known about one request and its answer.

    Attributes:
        seconds: Time limit of the request, None for no limit.
        survives: True if a failed HTTP request must not end the session (it would take other calls with it).
        sent: True once the request has been handed to the transport.
        status: Status of the last HTTP response, if there was one.
        content_type: Its media type, lower case, without parameters.
        location: Where it redirects to.
        failure: Why no HTTP response came.
        refusal: Why signing in failed.
        is_signing_in: True while the server is not waited for, but an authorization server or a person.
        breach: Which limit the answer exceeded.
        answer: The result as JSON, exactly as the server sent it.
        problems: Tools of a page that are malformed.
        listens: True if the server may also send messages that belong to no request, over a stream that lasts.
        lasts: True if the answer is a stream that may be silent for any time, and that nobody reads to its end.
        gone: True if the server has forgotten the session, so that there is nothing to take leave of.
    """

    seconds: float | None = None
    survives: bool = False
    sent: bool = False
    status: int | None = None
    content_type: str = ""
    location: str | None = None
    failure: Exception | None = None
    refusal: MCPAuthError | None = None
    is_signing_in: bool = False
    breach: str | None = None
    answer: Mapping[str, Any] | None = None
    problems: list[ToolProblem] = field(default_factory=list[ToolProblem])
    listens: bool = False
    lasts: bool = False
    gone: bool = False


_current: ContextVar[Exchange | None] = ContextVar("knime_mcp_exchange", default=None)


def current_exchange() -> Exchange | None:
    """The notes of the request that is being sent in this context."""
    return _current.get()


@contextmanager
def noting(exchange: Exchange) -> Generator[Exchange]:
    """Takes notes on the request that is sent inside."""
    token = _current.set(exchange)
    try:
        yield exchange
    finally:
        _current.reset(token)
