"""The session with one server, as callers see it: it connects by itself and outlives the loss of a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import anyio
from mcp import MCPError as WireError
from mcp.client import Client
from mcp_types import METHOD_NOT_FOUND

from knime_ext.errors import MCPConnectionError, MCPError
from knime_ext.mcp.border import Attempt, border
from knime_ext.mcp.cached_list import CachedList, ttl_seconds
from knime_ext.mcp.calls import call_tool
from knime_ext.mcp.conversation import Conversation
from knime_ext.mcp.deadlines import Deadline
from knime_ext.mcp.egress import EgressPolicy, Origin
from knime_ext.mcp.exchange import Exchange
from knime_ext.mcp.foreign_text import name_of, quotable
from knime_ext.mcp.lines import Door, open_line
from knime_ext.mcp.listing import ServerInfo
from knime_ext.mcp.loss import Loss, loss_of
from knime_ext.mcp.pages import ToolPages
from knime_ext.mcp.progress import Progress, current_listener
from knime_ext.mcp.questions import NOBODY, Handlers
from knime_ext.mcp.scrubbing import scrubbed
from knime_ext.mcp.servers import Server
from knime_ext.mcp.tap import Tap
from knime_ext.tools import ToolDefinition, ToolResult

__all__ = ["Session"]

PROBE_SECONDS = 5.0
"""How long a server may think about which era of the protocol it speaks."""

T = TypeVar("T")
_Request = Callable[[Client, Exchange], Awaitable[T]]


class Session:
    """All requests to one server go through here.

    Used from one event loop, by any number of tasks at the same time. The line to the server is made once, the
    conversation over it on the first request, and again when the server has ended it: once for all requests that
    notice, and once per request.
    """

    def __init__(
        self,
        server: Server,
        policy: EgressPolicy | None = None,
        origin: Origin = "typed",
        handlers: Handlers = NOBODY,
    ) -> None:
        self.server = server
        self._handlers = handlers
        self._line = open_line(server, EgressPolicy.from_environment() if policy is None else policy, origin)
        self._lock = asyncio.Lock()
        self._list_lock = asyncio.Lock()
        self._cached: CachedList | None = None
        self._handshakes = 0
        self._failure: MCPError | None = None
        self._failed_at = 0.0
        self._conversation: Conversation | None = None
        self._retired: list[Conversation] = []
        self._mode = "auto"
        self._closed = False

    @property
    def is_connected(self) -> bool:
        """Whether a conversation is open. The next request opens one in any case."""
        return self._conversation is not None and not self._conversation.is_over

    @property
    def era(self) -> str | None:
        """Protocol revision of the conversation, None before there is one."""
        return None if self._conversation is None else self._conversation.client.protocol_version

    @property
    def session_id(self) -> str | None:
        """The server's identifier of the session; None before the handshake and where there is none."""
        return self._line.session_id if self.is_connected else None

    @property
    def capabilities(self) -> tuple[str, ...]:
        """What the server says it can do, such as "tools"; empty before there is a conversation."""
        if self._conversation is None:
            return ()
        return tuple(self._conversation.client.server_capabilities.model_dump(exclude_none=True, by_alias=True))

    @property
    def server_info(self) -> ServerInfo | None:
        """What the server says about itself."""
        info = None if self._conversation is None else self._conversation.client.server_info
        return None if info is None else ServerInfo(name=info.name, version=info.version, title=info.title)

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any], *, timeout: float | None = None, repeatable: bool = False
    ) -> ToolResult:
        """Calls a tool. Every call of a tool, whoever makes it, goes through this method.

        Cancelling the call tells the server to stop.

        Args:
            name: Name of the tool on the server.
            arguments: JSON object of its arguments.
            timeout: Seconds for the call in any case, instead of the server's own limits.
            repeatable: True if the tool may run twice, so that the call is repeated even when it is unknown whether
                it took effect.

        Returns:
            The result; a failure of the tool is a result with `is_error`.

        Raises:
            MCPToolNotFoundError: The server has no such tool.
            MCPTimeout: It did not answer in time.
            MCPSessionLost: The connection broke, and it is unknown whether the call took effect.
            MCPError: Anything else that the server, or the way to it, failed with.
        """
        limits = self.server.timeouts
        seconds, total = (limits.call, limits.total) if timeout is None else (timeout, timeout)
        if total is not None:
            total = None if seconds is None else max(seconds, total)
        deadline, listener = Deadline(total, seconds), current_listener()

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            deadline.extend()
            if listener is not None:
                listener(Progress(done=progress, total=total, message=quotable(message or "")))

        attempt = self._attempt(f"answer the call of tool {name!r}", seconds, "call", has_effects=not repeatable)

        async def send(client: Client, exchange: Exchange) -> ToolResult:
            return await call_tool(client, name, arguments, exchange, progressed)

        return scrubbed(await self._ask(send, attempt, repeatable=repeatable, deadline=deadline), self.server)

    async def list_tools(self, pages: ToolPages) -> None:
        """Reads the whole list of tools into `pages`, which keeps what came before a failure.

        Callers that ask at the same time share one answer, and so do later ones for as long as the server allows it
        (`ttlMs`) and does not say that the list has changed. The list belongs to this session, thus to one server and
        its credentials, so that a private list never reaches anybody else.

        Raises:
            MCPError: The list could not be read, or not to its end.
        """
        arrived = anyio.current_time()
        async with self._list_lock:
            await self.connect()
            if self._cached is None or not self._cached.is_good(arrived, self._changes()):
                changes = self._changes()
                ttl = await self._read_list(pages)
                self._cached = CachedList.of(pages, ttl, changes)
            else:
                self._cached.fill(pages)

    async def known_tool(self, name: str) -> ToolDefinition | None:
        """A tool as this session knows it; the server is asked for its list if it has not been before.

        Raises:
            MCPError: The list could not be read.
        """
        if self._cached is None or self._cached.changes != self._changes():
            await self.list_tools(ToolPages(self.server.uri, self.server.limits))
        assert self._cached is not None
        return self._cached.tool(name)

    def _changes(self) -> int:
        """How often the server has said that its list has changed; a new conversation counts as a change."""
        return 0 if self._conversation is None else (self._handshakes << 32) + self._conversation.tap.list_changes

    async def _read_list(self, pages: ToolPages) -> float:
        """Reads every page; gives the seconds for which the server lets the list be kept."""
        attempt = self._attempt("list its tools", self.server.timeouts.list, "list")
        ttl = float("inf")
        deadline = Deadline(attempt.seconds)
        cursor: str | None = None
        while True:
            page, kept = await self._ask(_page_after(cursor), attempt, repeatable=True, deadline=deadline)
            cursor = pages.add(page, attempt.exchange.problems, kept)
            ttl = min(ttl, ttl_seconds(page))
            if cursor is None:
                return ttl

    async def connect(self) -> None:
        """Opens the conversation, unless it is open.

        Raises:
            MCPError: The server cannot be reached or does not speak MCP.
        """
        await self._current()

    async def close(self) -> None:
        """Ends the conversation and closes every connection; a child process is gone afterwards."""
        async with self._lock:
            self._closed = True
            open_ones = [*self._retired, *([self._conversation] if self._conversation else [])]
            self._conversation, self._retired = None, []
            await asyncio.gather(*(conversation.close() for conversation in open_ones))
            await self._line.close()

    async def _ask(self, request: _Request[T], attempt: Attempt, *, repeatable: bool, deadline: Deadline) -> T:
        """Sends a request; if the session turns out to be lost, renews it and sends the request again, once."""
        conversation = await self._current()
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
            conversation = await self._current()
            return await self._send(conversation, request, attempt)

    async def _send(self, conversation: Conversation, request: _Request[T], attempt: Attempt) -> T:
        exchange = attempt.exchange = Exchange(seconds=attempt.seconds, survives=True)
        try:
            return await conversation.ask(lambda client: request(client, exchange), exchange)
        except Exception:
            exchange.breach = exchange.breach or conversation.exchange.breach
            raise
        finally:
            attempt.noise = conversation.tap.noise

    async def _current(self) -> Conversation:
        """The open conversation; a new one if there is none or the server has closed it.

        Callers that wait while a server turns out to be dead share the failure, so that a hundred of them do not wait
        a hundred times as long.
        """
        arrived = anyio.current_time()
        async with self._lock:
            if self._closed:
                raise MCPConnectionError(f"the session with server {name_of(self.server)} is closed; open a new pool")
            if self._conversation is not None and self._conversation.is_over:
                self._retire(self._conversation)
            if self._conversation is None:
                if self._failure is not None and self._failed_at >= arrived:
                    raise type(self._failure)(*self._failure.args)
                self._conversation = await self._connect_noting()
            return self._conversation

    async def _connect_noting(self) -> Conversation:
        self._failure = None
        try:
            return await self._connect()
        except MCPError as error:
            self._failure, self._failed_at = error, anyio.current_time()
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

    async def _connect(self) -> Conversation:
        attempt = self._attempt("complete the MCP handshake", self.server.timeouts.connect, "connect")
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
        self._handshakes += 1
        return conversation

    async def _enter(self, attempt: Attempt) -> Conversation:
        """Tries the doors in turn; one that is not spoken behind leads to the next."""
        wrong: list[tuple[Door, Exchange]] = []
        for door in self._line.doors():
            exchange = attempt.exchange = Exchange(seconds=attempt.seconds)
            tap = Tap(door.transport(exchange), patience=_patience(attempt.seconds))
            try:
                conversation = await Conversation.open(tap, exchange, self._mode, self._handlers)
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
            f"server {name_of(self.server)} {verb} {tried}; check the path of its address (usually /mcp or /sse)"
        )

    def _attempt(self, what: str, seconds: float | None, setting: str, *, has_effects: bool = False) -> Attempt:
        return Attempt(server=self.server, what=what, seconds=seconds, setting=setting, has_effects=has_effects)


def _page_after(cursor: str | None) -> _Request[tuple[Mapping[str, Any], list[str]]]:
    async def send(client: Client, exchange: Exchange) -> tuple[Mapping[str, Any], list[str]]:
        try:
            page = await client.list_tools(cursor=cursor)
        except WireError as error:
            if error.code == METHOD_NOT_FOUND and client.server_capabilities.tools is None:
                return {"tools": []}, []  # it has other things to offer, and said so
            raise
        return exchange.answer or {"tools": []}, [tool.name for tool in page.tools]

    return send


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
