"""Being in contact with one server: the conversation over its line, opened when needed, renewed when it is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import TypeVar

import anyio
from mcp.client import Client

from knime_ext.errors import MCPConnectionError, MCPError
from knime_ext.mcp.border import Attempt, border
from knime_ext.mcp.conversation import Conversation
from knime_ext.mcp.deadlines import Deadline
from knime_ext.mcp.egress import EgressPolicy, Origin
from knime_ext.mcp.exchange import Exchange
from knime_ext.mcp.foreign_text import name_of
from knime_ext.mcp.idleness import Idleness
from knime_ext.mcp.lines import Door, open_line
from knime_ext.mcp.loss import Loss, loss_of
from knime_ext.mcp.questions import Handlers
from knime_ext.mcp.scrubbing import keep_secrets_of, without_secrets
from knime_ext.mcp.servers import Server, Timeouts
from knime_ext.mcp.tap import Tap

__all__ = ["Contact", "Request"]

PROBE_SECONDS = 5.0
"""How long a server may think about which era of the protocol it speaks."""

T = TypeVar("T")
Request = Callable[[Client, Exchange], Awaitable[T]]


class Contact:
    """Sends requests to a server, used from one event loop by any number of tasks at the same time.

    The line to the server is made once, the conversation over it on the first request, and again when the server has
    ended it (once for all requests that notice, and once per request) or when nobody used it for a while.

    Attributes:
        handshakes: How many conversations there have been.
    """

    def __init__(self, server: Server, policy: EgressPolicy, origin: Origin, handlers: Handlers) -> None:
        keep_secrets_of(server)
        self.handshakes = 0
        self._server = server
        self._callbacks = handlers.callbacks(lambda value: without_secrets(value, server))
        self._line = open_line(server, policy, origin)
        self._lock = asyncio.Lock()
        self._idleness = Idleness(self._rest)
        self._failure: MCPError | None = None
        self._failed_at = 0.0
        self._failed_after: float | None = None
        self._conversation: Conversation | None = None
        self._retired: list[Conversation] = []
        self._mode = "auto"
        self._closed = False

    @property
    def conversation(self) -> Conversation | None:
        """The conversation that was opened last, None before there is one and while nobody uses the contact."""
        return self._conversation

    @property
    def is_open(self) -> bool:
        """Whether a conversation is open. The next request opens one in any case."""
        return self._conversation is not None and not self._conversation.is_over

    @property
    def session_id(self) -> str | None:
        """The server's identifier of the session; None before the handshake and where there is none."""
        return self._line.session_id if self.is_open else None

    def in_use(self, limits: Timeouts) -> AbstractContextManager[None]:
        """Somebody uses the contact inside; it is let go of some time after the last one has left."""
        return self._idleness.busy(limits.unused)

    async def current(self, seconds: float | None) -> Conversation:
        """The open conversation; a new one if there is none or the server has closed it.

        Callers that wait while a server turns out to be dead share the failure, so that a hundred of them do not wait
        a hundred times as long.

        Args:
            seconds: Time limit of the handshake.

        Raises:
            MCPError: The server cannot be reached or does not speak MCP.
        """
        arrived = anyio.current_time()
        async with self._lock:
            if self._closed:
                raise MCPConnectionError(f"the session with server {name_of(self._server)} is closed; open a new pool")
            if self._conversation is not None and self._conversation.is_over:
                self._retire(self._conversation)
            if self._conversation is None:
                if self._failure is not None and self._failed_at >= arrived and self._was_given(seconds):
                    raise type(self._failure)(*self._failure.args)
                self._conversation = await self._connect_noting(seconds)
            return self._conversation

    async def ask(
        self, request: Request[T], attempt: Attempt, *, limits: Timeouts, repeatable: bool, deadline: Deadline
    ) -> T:
        """Sends a request; if the session turns out to be lost, renews it and sends the request again, once.

        Args:
            request: What to send.
            attempt: What it is, for the sentence that is said if it fails.
            limits: Time limits of whoever asks.
            repeatable: True if the request may be carried out twice.
            deadline: The request's own time limit.

        Raises:
            MCPError: The server, or the way to it, failed.
        """
        conversation = await self.current(limits.connect)
        with border(attempt), _within(deadline, attempt):
            try:
                return await self._send(conversation, request, attempt)
            except Exception as error:
                loss = loss_of(error, attempt.exchange, is_legacy=conversation.is_legacy)
                if loss is Loss.NONE:
                    raise
                conversation.exchange.gone = loss is Loss.REFUSED
                await self._drop(conversation)
                if loss is Loss.UNKNOWN and not repeatable:
                    raise
            conversation = await self.current(limits.connect)
            return await self._send(conversation, request, attempt)

    async def close(self) -> None:
        """Ends the conversation and closes every connection; a child process is gone afterwards."""
        await self._idleness.stop()
        async with self._lock:
            self._closed = True
            await self._let_go()

    async def _rest(self) -> None:
        """Lets go of everything, unless somebody has come meanwhile."""
        async with self._lock:
            if not self._idleness.is_busy:
                await self._let_go()

    async def _let_go(self) -> None:
        open_ones = [*self._retired, *([self._conversation] if self._conversation else [])]
        self._conversation, self._retired = None, []
        await asyncio.gather(*(conversation.close() for conversation in open_ones))
        await self._line.close()

    async def _send(self, conversation: Conversation, request: Request[T], attempt: Attempt) -> T:
        exchange = attempt.exchange = Exchange(seconds=attempt.seconds, survives=True)
        try:
            return await conversation.ask(lambda client: request(client, exchange), exchange)
        except Exception:
            exchange.breach = exchange.breach or conversation.exchange.breach
            raise
        finally:
            attempt.noise = conversation.tap.noise

    def _was_given(self, seconds: float | None) -> bool:
        """Whether the try that failed last had as much time as somebody would give it."""
        return self._failed_after is None or (seconds is not None and seconds <= self._failed_after)

    async def _connect_noting(self, seconds: float | None) -> Conversation:
        self._failure = None
        try:
            return await self._connect(seconds)
        except MCPError as error:
            self._failure, self._failed_at, self._failed_after = error, anyio.current_time(), seconds
            raise

    async def _drop(self, lost: Conversation) -> None:
        """Makes the next request open a new conversation; requests on their way over the lost one may still finish."""
        async with self._lock:
            if self._conversation is lost:
                self._retire(lost)

    def _retire(self, conversation: Conversation) -> None:
        conversation.retire()
        self._retired = [old for old in self._retired if not old.is_done] + [conversation]
        self._conversation = None

    async def _connect(self, seconds: float | None) -> Conversation:
        attempt = Attempt(server=self._server, what="complete the MCP handshake", seconds=seconds, setting="connect")
        with border(attempt):
            self._line.admit()
            try:
                with Deadline(attempt.seconds).running():
                    conversation = await self._enter(attempt)
            except Exception:
                # The next try starts without prejudice: the server may have been replaced.
                self._mode = "auto"
                if attempt.exchange.failure is None:
                    self._line.settle(None)
                raise
        self._mode = "legacy" if conversation.is_legacy else "auto"
        self.handshakes += 1
        return conversation

    async def _enter(self, attempt: Attempt) -> Conversation:
        """Tries the doors in turn; one that is not spoken behind leads to the next."""
        wrong: list[tuple[Door, Exchange]] = []
        for door in self._line.doors():
            exchange = attempt.exchange = Exchange(seconds=attempt.seconds)
            tap = Tap(door.transport(exchange), patience=_patience(attempt.seconds))
            try:
                conversation = await Conversation.open(tap, exchange, self._mode, self._callbacks)
            except Exception:
                if not door.is_wrong(exchange):
                    raise
                wrong.append((door, exchange))
                continue
            finally:
                attempt.noise, attempt.child = tap.noise, self._line.child
            self._line.settle(door)
            return conversation
        tried = " nor ".join(f"{door.name} (it answered with {_answer(exchange)})" for door, exchange in wrong)
        verb = "speaks neither" if len(wrong) > 1 else "does not speak"
        raise MCPConnectionError(
            f"server {name_of(self._server)} {verb} {tried}; check the path of its address (usually /mcp or /sse)"
        )


def _answer(exchange: Exchange) -> str:
    if exchange.status == 200:
        return "a web page" if "html" in exchange.content_type else exchange.content_type or "no content"
    return f"HTTP {exchange.status}"


def _patience(seconds: float | None) -> float:
    return PROBE_SECONDS if seconds is None else min(PROBE_SECONDS, seconds / 2)


@contextmanager
def _within(deadline: Deadline, attempt: Attempt) -> Generator[None]:
    """Raises TimeoutError if the block is not left in time; the attempt says which limit it was."""
    try:
        with deadline.running():
            yield
    except TimeoutError:
        if attempt.setting == "call" and deadline.was_extended and deadline.is_total_over:
            attempt.setting, attempt.seconds = "total", deadline.total
        raise
