"""The session with one server: its tools, and every call of them, over a contact that outlives lost connections."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from mcp import MCPError as WireError
from mcp.client import Client
from mcp_types import METHOD_NOT_FOUND

from knime_ext.mcp.attendance import Attendance
from knime_ext.mcp.border import Attempt
from knime_ext.mcp.cached_list import CachedList, ttl_seconds
from knime_ext.mcp.calls import call_tool
from knime_ext.mcp.contact import Contact, Request
from knime_ext.mcp.deadlines import Deadline
from knime_ext.mcp.egress import EgressPolicy, Origin
from knime_ext.mcp.exchange import Exchange
from knime_ext.mcp.foreign_text import quotable
from knime_ext.mcp.listing import ServerInfo, ToolProblem
from knime_ext.mcp.pages import ToolPages
from knime_ext.mcp.progress import Progress, current_listener
from knime_ext.mcp.questions import NOBODY, Handlers
from knime_ext.mcp.scrubbing import scrubbed, scrubbed_page, without_secrets
from knime_ext.mcp.servers import Server, Timeouts
from knime_ext.tools import ToolDefinition, ToolResult

__all__ = ["Session"]


class Session:
    """All requests to one server, with one set of credentials, go through here.

    Used from one event loop, by any number of tasks at the same time. Whoever uses it brings time limits of their own;
    those of the server value hold where none are given.
    """

    def __init__(
        self,
        server: Server,
        policy: EgressPolicy | None = None,
        origin: Origin = "typed",
        handlers: Handlers = NOBODY,
    ) -> None:
        self.server = server
        policy = EgressPolicy.from_environment() if policy is None else policy
        self._attendance = Attendance(server.uri, handlers)
        self._contact = Contact(server, policy, origin, self._attendance.handlers)
        self._list_lock = asyncio.Lock()
        self._cached: CachedList | None = None

    @property
    def is_connected(self) -> bool:
        """Whether a conversation is open. The next request opens one in any case."""
        return self._contact.is_open

    @property
    def era(self) -> str | None:
        """Protocol revision of the conversation, None before there is one."""
        conversation = self._contact.conversation
        return None if conversation is None else conversation.client.protocol_version

    @property
    def session_id(self) -> str | None:
        """The server's identifier of the session; None before the handshake and where there is none."""
        return self._contact.session_id

    @property
    def capabilities(self) -> tuple[str, ...]:
        """What the server says it can do, such as "tools"; empty before there is a conversation."""
        conversation = self._contact.conversation
        if conversation is None:
            return ()
        return tuple(conversation.client.server_capabilities.model_dump(exclude_none=True, by_alias=True))

    @property
    def server_info(self) -> ServerInfo | None:
        """What the server says about itself."""
        conversation = self._contact.conversation
        info = None if conversation is None else conversation.client.server_info
        if info is None:
            return None
        name, version, title = without_secrets([info.name, info.version, info.title], self.server)
        return ServerInfo(name=name or "", version=version or "", title=title)

    @property
    def list_version(self) -> int:
        """A number that changes when the server says that its list has changed, or has been connected to anew."""
        conversation = self._contact.conversation
        return 0 if conversation is None else (self._contact.handshakes << 32) + conversation.tap.list_changes

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        timeout: float | None = None,
        repeatable: bool = False,
        limits: Timeouts | None = None,
    ) -> ToolResult:
        """Calls a tool. Every call of a tool, whoever makes it, goes through this method.

        Cancelling the call tells the server to stop.

        Args:
            name: Name of the tool on the server.
            arguments: JSON object of its arguments.
            timeout: Seconds for the call in any case, instead of the limits for calls.
            repeatable: True if the tool may run twice, so that the call is repeated even when it is unknown whether
                it took effect.
            limits: Time limits instead of the server's own.

        Returns:
            The result; a failure of the tool is a result with `is_error`.

        Raises:
            MCPToolNotFoundError: The server has no such tool.
            MCPTimeout: It did not answer in time.
            MCPSessionLost: The connection broke, and it is unknown whether the call took effect.
            MCPError: Anything else that the server, or the way to it, failed with.
        """
        limits = limits or self.server.timeouts
        seconds, total = (limits.call, limits.total) if timeout is None else (timeout, timeout)
        if total is not None:
            total = None if seconds is None else max(seconds, total)
        deadline, listener = Deadline(total, seconds), current_listener()

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            deadline.extend()
            if listener is not None:
                text = quotable(without_secrets(message or "", self.server))
                listener(Progress(done=progress, total=total, message=text))

        attempt = self._attempt(f"answer the call of tool {name!r}", seconds, "call", has_effects=not repeatable)

        async def send(client: Client, exchange: Exchange) -> ToolResult:
            return await call_tool(client, name, arguments, exchange, progressed)

        with self._contact.in_use(limits), self._attendance.timed(deadline):
            self._watch_list()
            result = await self._contact.ask(send, attempt, limits=limits, repeatable=repeatable, deadline=deadline)
        return scrubbed(result, self.server)

    async def list_tools(self, pages: ToolPages, limits: Timeouts | None = None) -> None:
        """Reads the whole list of tools into `pages`, which keeps what came before a failure.

        Callers that ask at the same time share one answer, and so do later ones for as long as the server allows it
        (`ttlMs`) and does not say that the list has changed. The list belongs to this session, thus to one server and
        its credentials, so that a private list never reaches anybody else.

        Args:
            pages: What to fill.
            limits: Time limits instead of the server's own.

        Raises:
            MCPError: The list could not be read, or not to its end.
        """
        limits = limits or self.server.timeouts
        arrived = anyio.current_time()
        with self._contact.in_use(limits):
            async with self._list_lock:
                await self._contact.current(limits.connect)
                if self._cached is None or not self._cached.is_good(arrived, self.list_version):
                    version = self.list_version
                    ttl = await self._read_list(pages, limits)
                    self._cached = CachedList.of(pages, ttl, version)
                else:
                    self._watch_list()
                    self._cached.fill(pages)

    async def known_tool(self, name: str, limits: Timeouts | None = None) -> ToolDefinition | None:
        """A tool as this session knows it; the server is asked for its list if it has not been before.

        Raises:
            MCPError: The list could not be read.
        """
        if self._cached is None or self._cached.changes != self.list_version:
            await self.list_tools(ToolPages(self.server.uri, self.server.limits), limits)
        assert self._cached is not None
        return self._cached.tool(name)

    def _watch_list(self) -> None:
        """Listens for changes of the list, if there is one to keep: those who only look at it pay nothing for that."""
        if self._cached is not None and self._contact.conversation is not None:
            self._contact.conversation.listen()

    async def _read_list(self, pages: ToolPages, limits: Timeouts) -> float:
        """Reads every page; gives the seconds for which the server lets the list be kept."""
        attempt = self._attempt("list its tools", limits.list, "list")
        ttl = float("inf")
        deadline = Deadline(attempt.seconds)
        cursor: str | None = None
        while True:
            page, kept = await self._contact.ask(
                _page_after(cursor), attempt, limits=limits, repeatable=True, deadline=deadline
            )
            clean, nameless = scrubbed_page(page, self.server)
            cursor = pages.add(clean, [*self._clean(attempt.exchange.problems), *nameless], kept)
            ttl = min(ttl, ttl_seconds(page))
            if cursor is None:
                return ttl

    async def connect(self, limits: Timeouts | None = None) -> None:
        """Opens the conversation, unless it is open.

        Raises:
            MCPError: The server cannot be reached or does not speak MCP.
        """
        limits = limits or self.server.timeouts
        with self._contact.in_use(limits):
            await self._contact.current(limits.connect)

    async def close(self) -> None:
        """Ends the conversation and closes every connection; a child process is gone afterwards."""
        await self._contact.close()

    def _clean(self, problems: Sequence[ToolProblem]) -> list[ToolProblem]:
        texts = without_secrets([[problem.name, problem.reason] for problem in problems], self.server)
        return [ToolProblem(name=name, reason=reason) for name, reason in texts]

    def _attempt(self, what: str, seconds: float | None, setting: str, *, has_effects: bool = False) -> Attempt:
        return Attempt(server=self.server, what=what, seconds=seconds, setting=setting, has_effects=has_effects)


def _page_after(cursor: str | None) -> Request[tuple[Mapping[str, Any], list[str]]]:
    async def send(client: Client, exchange: Exchange) -> tuple[Mapping[str, Any], list[str]]:
        try:
            page = await client.list_tools(cursor=cursor)
        except WireError as error:
            if error.code == METHOD_NOT_FOUND and client.server_capabilities.tools is None:
                return {"tools": []}, []  # it has other things to offer, and said so
            raise
        return exchange.answer or {"tools": []}, [tool.name for tool in page.tools]

    return send
