"""The border of the room: what the SDK, the HTTP client and the system raise becomes an error of ours.

One context manager does it, and every sentence that people read about a failed server is written here.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

import httpx2
from mcp import MCPError as WireError
from mcp_types import METHOD_NOT_FOUND, PARSE_ERROR, REQUEST_TIMEOUT
from pydantic import ValidationError

from knime_ext.errors import (
    EgressDenied,
    KnimeExtError,
    MCPAuthError,
    MCPConnectionError,
    MCPError,
    MCPSessionLost,
    MCPTimeout,
)
from knime_ext.mcp.egress_gate import AddressRefused
from knime_ext.mcp.exchange import Exchange
from knime_ext.mcp.foreign_text import name_of, quotable, secrets_of
from knime_ext.mcp.loss import is_broken_stream, refuses_session
from knime_ext.mcp.scrubbing import betrays
from knime_ext.mcp.servers import Server, StdioServer
from knime_ext.mcp.stdio import ChildNotes

__all__ = ["Attempt", "border"]

# The SDK logs the same failures with tracebacks, which reach the terminal of a program that sets up no logging.
for _name in ("mcp", "client"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


@dataclass(slots=True, kw_only=True)
class Attempt:
    """What is being tried, for the sentence that is said if it fails.

    Attributes:
        server: With whom.
        what: What the server should do, to follow "did not": `"answer the call of tool 'add'"`.
        seconds: The time limit, None for no limit.
        setting: Name of the time limit among the server's `timeouts`.
        exchange: Notes on the request.
        child: Notes on the child process, if the server is one.
        noise: How many messages could not be read.
        has_effects: True if it matters whether the request was carried out.
    """

    server: Server
    what: str
    seconds: float | None
    setting: str
    exchange: Exchange = field(default_factory=Exchange)
    child: ChildNotes | None = None
    noise: int = 0
    has_effects: bool = False


@contextmanager
def border(attempt: Attempt) -> Generator[None]:
    """Translates errors; ours and cancellation pass unchanged.

    Raises:
        MCPError: Or a more specific one.
    """
    try:
        yield
    except KnimeExtError:
        raise
    except Exception as error:
        explained = _explain(_innermost(error), attempt)
        # What stands behind an error is printed with its traceback.
        raise explained from (None if betrays(error, attempt.server) else error)


def _innermost(error: Exception) -> Exception:
    """The first real error in a group; the SDK's task groups wrap what goes wrong in them."""
    while isinstance(error, ExceptionGroup):
        error = cast("ExceptionGroup[Exception]", error).exceptions[0]
    return error


def _explain(error: Exception, attempt: Attempt) -> MCPError:
    for rule in (_policy, _limit, _time, _credentials, _reach, _child, _session, _http, _stream, _content, _wire):
        explained = rule(error, attempt)
        if explained is not None:
            return explained
    who, text = name_of(attempt.server), quotable(str(error), secrets_of(attempt.server))
    return MCPError(f"server {who} did not {attempt.what}: {type(error).__name__}: {text}")


def _policy(error: Exception, attempt: Attempt) -> MCPError | None:
    refused = attempt.exchange.failure or error
    return EgressDenied(str(refused)) if isinstance(refused, AddressRefused) else None


def _limit(error: Exception, attempt: Attempt) -> MCPError | None:
    if attempt.exchange.breach is None:
        return None
    return MCPConnectionError(
        f"server {name_of(attempt.server)} did not {attempt.what}: {attempt.exchange.breach}; ask it for less, or "
        "raise `answer_bytes` in the limits of the server"
    )


def _time(error: Exception, attempt: Attempt) -> MCPError | None:
    timed_out = isinstance(error, TimeoutError | httpx2.TimeoutException) or (
        isinstance(error, WireError) and error.code == REQUEST_TIMEOUT and attempt.exchange.status in (None, 200)
    )
    if not timed_out and not isinstance(attempt.exchange.failure, httpx2.TimeoutException):
        return None
    limit = "in time" if attempt.seconds is None else f"within {attempt.seconds:g} s"
    noise = f" (messages of it that are not JSON-RPC: {attempt.noise})" if attempt.noise else ""
    words = _last_words(attempt)
    return MCPTimeout(
        f"server {name_of(attempt.server)} did not {attempt.what} {limit}{noise}; see whether it hangs, or raise the "
        f"time limit `{attempt.setting}`" + (f"; its last words: {words}" if words else "")
    )


def _credentials(error: Exception, attempt: Attempt) -> MCPError | None:
    if attempt.exchange.refusal is not None:
        return attempt.exchange.refusal
    status = attempt.exchange.status
    if attempt.exchange.failure is not None or status not in (401, 403, 407):
        return None
    return MCPAuthError(
        f"server {name_of(attempt.server)} refused the credentials (HTTP {status}); give it a valid token in the "
        "`Authorization` header of a registered provider"
    )


def _reach(error: Exception, attempt: Attempt) -> MCPError | None:
    failure = attempt.exchange.failure or error
    if isinstance(failure, httpx2.ConnectError | httpx2.ProxyError | httpx2.UnsupportedProtocol):
        reason = quotable(str(failure), secrets_of(attempt.server)) or type(failure).__name__
        return MCPConnectionError(
            f"cannot reach server {name_of(attempt.server)}: {reason}; check that it runs and that the address is right"
        )
    if isinstance(failure, httpx2.TransportError) and not isinstance(failure, httpx2.SSEError):
        return _lost(attempt, "broke the connection")
    return None


def _child(error: Exception, attempt: Attempt) -> MCPError | None:
    server = attempt.server
    if not isinstance(server, StdioServer):
        return None
    if isinstance(error, OSError):
        return MCPConnectionError(
            f"cannot start server {name_of(server)}: {error.strerror or error}; check that the provider's command "
            f"{server.command!r} is installed and executable, and that its working directory exists"
        )
    if attempt.setting != "connect" or not (isinstance(error, WireError) and is_broken_stream(error)):
        return None
    code, words = None if attempt.child is None else attempt.child.exit_code, _last_words(attempt)
    ended = "ended" if code is None else f"ended with exit code {code}"
    return MCPConnectionError(
        f"server {name_of(server)} {ended} while it was being started; "
        + (f"its last words: {words}" if words else "check the command of the provider")
    )


def _last_words(attempt: Attempt) -> str:
    """What the child process wrote to standard error before it failed, if anything."""
    if attempt.child is None:
        return ""
    return quotable(attempt.child.last_words, secrets_of(attempt.server), end=True)


def _session(error: Exception, attempt: Attempt) -> MCPError | None:
    """The second refusal in a row: the first one led to a new session."""
    refused = isinstance(error, WireError) and refuses_session(error, attempt.exchange)
    if attempt.setting == "connect" or not refused:
        return None
    return MCPSessionLost(
        f"server {name_of(attempt.server)} ended the session before it could {attempt.what}, and a new one as "
        "well; see its log"
    )


def _http(error: Exception, attempt: Attempt) -> MCPError | None:
    status, where = attempt.exchange.status, attempt.exchange.location
    who = name_of(attempt.server)
    if isinstance(error, httpx2.TooManyRedirects):
        return MCPConnectionError(f"server {who} redirects without end; check its address")
    if status is None or 200 <= status < 300:
        return None
    if status < 400 and where is not None:
        target = quotable(where.partition("?")[0], secrets_of(attempt.server))
        return MCPConnectionError(f"server {who} moved to {target!r}; use that address if you trust it")
    if _is_answer(error, status):
        return None
    if status in (429, 503):
        return MCPConnectionError(f"server {who} is busy (HTTP {status}); try again later or call it less often")
    return MCPConnectionError(f"server {who} did not {attempt.what}: HTTP {status}; check its address and its log")


def _is_answer(error: Exception, status: int) -> bool:
    """Whether the server put an error of its own into the body, which says more than the status."""
    return isinstance(error, WireError) and status < 500 and error.code not in (METHOD_NOT_FOUND, -32603)


def _content(error: Exception, attempt: Attempt) -> MCPError | None:
    kind, who = attempt.exchange.content_type, name_of(attempt.server)
    if isinstance(error, WireError) and error.code == PARSE_ERROR:
        return MCPConnectionError(f"server {who} answered with broken JSON; see its log")
    if isinstance(error, ValidationError):
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, fault["loc"]))
        return MCPConnectionError(f"server {who} sent an answer that is not valid MCP ({place}: {fault['msg']})")
    if isinstance(error, httpx2.SSEError) and kind == "text/event-stream":
        return MCPConnectionError(f"server {who} does not keep to HTTP+SSE: {quotable(str(error))}; see its log")
    if kind in ("application/json", "text/event-stream") or not isinstance(error, WireError | httpx2.SSEError):
        return None
    if attempt.exchange.status is None:
        return None
    got = "a web page" if "html" in kind else repr(kind) if kind else "nothing useful"
    return MCPConnectionError(
        f"server {who} answered with {got} instead of MCP; check the path of the address (usually /mcp or /sse)"
    )


def _stream(error: Exception, attempt: Attempt) -> MCPError | None:
    if isinstance(error, WireError) and is_broken_stream(error):
        return _lost(attempt, "closed the connection")
    return None


def _lost(attempt: Attempt, did: str) -> MCPError:
    who = name_of(attempt.server)
    if attempt.setting == "connect":
        return MCPConnectionError(f"server {who} {did} during the handshake; see its log")
    if attempt.has_effects:
        return MCPSessionLost(
            f"server {who} {did} before it could {attempt.what}, and it is unknown whether the call took effect; find "
            "that out before you repeat it"
        )
    return MCPSessionLost(f"server {who} {did} before it could {attempt.what}; try again")


def _wire(error: Exception, attempt: Attempt) -> MCPError | None:
    if not isinstance(error, WireError):
        return None
    text = quotable(error.message, secrets_of(attempt.server))
    return MCPError(f"server {name_of(attempt.server)} did not {attempt.what}: {text} (error {error.code})")
