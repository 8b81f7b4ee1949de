"""The client for people who write Python: one server, its tools and its results, without any node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from knime_ext.errors import KnimeExtError, MCPToolNotFoundError, UnknownTool
from knime_ext.mcp.closing import Closing
from knime_ext.mcp.lease import Lease
from knime_ext.mcp.leased_session import LeasedSession
from knime_ext.mcp.offered_tools import OfferedTools
from knime_ext.mcp.openai_tools import (
    Arguments,
    AsyncToolExecutor,
    ToolExecutor,
    called_arguments,
    executor_reply,
    openai_tools,
)
from knime_ext.mcp.pool import SessionPool
from knime_ext.mcp.server_choice import ProviderMap, choose_server, with_credentials
from knime_ext.mcp.servers import Server
from knime_ext.mcp.tool_info import ToolCallResult, ToolInfo
from knime_ext.mcp.toolset import MCPToolset
from knime_ext.tools import Dialect, NamePatterns, ToolDefinition, ToolResult, ToolSelection, Toolset, unknown_tool
from knime_ext.tools.selection import name_patterns

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from knime_ext.mcp.langchain_tools import ToolCalls

__all__ = ["MCPClient"]


class MCPClient(Closing):
    """Lists and calls the tools of one MCP server.

    Connects by itself at the first use and may be used from any thread, also side by side. Everything is there for
    sync and for async code; the async names begin with an `a`.

        with MCPClient("https://example.org/mcp", token="...") as client:
            print(client.call_tool("search", {"query": "customers"}).data)

    A closed client connects again when it is used again.

    Args:
        server: A URL, the name of a registered provider, or a server value.
        token: Sent as bearer token.
        headers: More headers of every request. They and the token replace those of the server or provider.
        providers: Registered servers by name; those of the operator if not given.
        timeout: Seconds for one call, instead of the server's own limit.
        wrap: Policies over the server's tools, such as `lambda tools: tools.validated()`.

    Raises:
        ConfigurationError: The server cannot be used as it is given.
    """

    def __init__(
        self,
        server: Server | str,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        providers: ProviderMap | None = None,
        timeout: float | None = None,
        wrap: Callable[[Toolset], Toolset] | None = None,
    ) -> None:
        choice = choose_server(server, providers)
        self.server = with_credentials(choice.server, token, headers)
        self.provider = choice.provider
        self._timeout = timeout
        self._wrap = wrap
        self._lease = Lease(self._new_pool)
        self._tools: tuple[SessionPool, Toolset] | None = None
        self._offered: OfferedTools | None = None

    def __repr__(self) -> str:
        return f"MCPClient({self.server!r})"

    @property
    def is_client_initialized(self) -> bool:
        """Whether a session with the server is open. Calls open one in any case."""
        session = self._session()
        return session is not None and session.is_connected

    @property
    def session_id(self) -> str | None:
        """The server's identifier of the open session; None where there is none (stateless servers, stdio)."""
        session = self._session()
        return None if session is None else session.session_id

    def list_tools(self, include: NamePatterns | None = None, exclude: NamePatterns | None = None) -> list[ToolInfo]:
        """The server's tools at this moment, in its order.

        Args:
            include: Names, globs or enum members; only tools that fit one are given. None takes all.
            exclude: Tools that fit one of these are left out.

        Raises:
            MCPError: The server, or the way to it, failed.
        """
        return self._lease.run(lambda pool: self._list(pool, ToolSelection.of(include, exclude)))

    async def alist_tools(
        self, include: NamePatterns | None = None, exclude: NamePatterns | None = None
    ) -> list[ToolInfo]:
        """The same as `list_tools` for async code."""
        return await self._lease.arun(lambda pool: self._list(pool, ToolSelection.of(include, exclude)))

    def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolCallResult:
        """Calls a tool and waits for its result.

        Args:
            name: Name of the tool on the server, or a member of an enum of such names.
            arguments: JSON object of its arguments.

        Returns:
            The result. A failure that the tool itself reports is a result without `success`;
            `result.raise_for_failure()` makes an error of it.

        Raises:
            MCPToolNotFoundError: The server has no such tool.
            MCPToolExecutionError: The tool asks for something that cannot be given.
            MCPError: The server, or the way to it, failed.
        """
        return self._lease.run(lambda pool: self._checked_call(pool, name, arguments or {}))

    async def acall_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolCallResult:
        """The same as `call_tool` for async code; cancelling it tells the server to stop."""
        return await self._lease.arun(lambda pool: self._checked_call(pool, name, arguments or {}))

    def as_langchain_tools(
        self, include: NamePatterns | None = None, exclude: NamePatterns | None = None
    ) -> list[BaseTool]:
        """The server's tools for LangChain; see `list_tools` for the arguments.

        Their `metadata` tells `tool_type`, `display_name`, `server`, `provider`, `wire_name` and `annotations`. They
        work as long as the client is not closed, and reopen it if it is. Failures raise `ToolException`.
        """
        return self._for_langchain(self._lease.run(self._offer), ToolSelection.of(include, exclude))

    async def aas_langchain_tools(
        self, include: NamePatterns | None = None, exclude: NamePatterns | None = None
    ) -> list[BaseTool]:
        """The same as `as_langchain_tools` for async code."""
        return self._for_langchain(await self._lease.arun(self._offer), ToolSelection.of(include, exclude))

    def as_openai_tools(
        self,
        include: NamePatterns | None = None,
        exclude: NamePatterns | None = None,
        *,
        dialect: Dialect | str | None = None,
    ) -> list[dict[str, Any]]:
        """The server's tools as OpenAI's function schemas; see `list_tools` for the arguments.

        Args:
            include: Names, globs or enum members; only tools that fit one are given. None takes all.
            exclude: Tools that fit one of these are left out.
            dialect: The vendor's dialect for the schemas of arguments, such as "openai-strict"; an executor of the
                same dialect takes the calls. None keeps every keyword.

        Raises:
            MCPError: The server, or the way to it, failed.
            ConfigurationError: There is no such dialect.
        """
        return openai_tools(self._lease.run(self._offer).selected(ToolSelection.of(include, exclude)), dialect)

    async def aas_openai_tools(
        self,
        include: NamePatterns | None = None,
        exclude: NamePatterns | None = None,
        *,
        dialect: Dialect | str | None = None,
    ) -> list[dict[str, Any]]:
        """The same as `as_openai_tools` for async code."""
        offered = await self._lease.arun(self._offer)
        return openai_tools(offered.selected(ToolSelection.of(include, exclude)), dialect)

    def create_tool_executor(self, *, dialect: Dialect | str | None = None) -> ToolExecutor:
        """A function that runs OpenAI's tool calls: `(name, arguments) -> dict`.

        Arguments may be an object or JSON text. The reply is the object that the tool gave, `{"result": ...}` for
        anything else, and `{"error": ...}` whatever went wrong: the function never raises for a call.

        Args:
            dialect: The dialect in which the model got the schemas; its arguments are taken back to what the tools
                want.
        """

        def execute(name: str, arguments: Arguments = None) -> dict[str, Any]:
            try:
                return self._lease.run(lambda pool: self._execute(pool, name, arguments, dialect))
            except KnimeExtError as error:
                return {"error": str(error)}

        return execute

    def create_async_tool_executor(self, *, dialect: Dialect | str | None = None) -> AsyncToolExecutor:
        """The same as `create_tool_executor`; the function is to be awaited."""

        async def execute(name: str, arguments: Arguments = None) -> dict[str, Any]:
            try:
                return await self._lease.arun(lambda pool: self._execute(pool, name, arguments, dialect))
            except KnimeExtError as error:
                return {"error": str(error)}

        return execute

    def tool_calls(self, labels: Mapping[str, Any] | None = None) -> ToolCalls:
        """How calls of this client's tools go out, for whoever makes LangChain tools of them.

        Args:
            labels: More entries for the `metadata` of each tool.
        """
        from knime_ext.mcp.langchain_tools import ToolCalls

        return ToolCalls(call=self._invoke, acall=self._ainvoke, provider=self.provider, labels=labels or {})

    def _session(self) -> LeasedSession | None:
        """The session, None while nothing has been asked of the server."""
        pool = self._lease.pool
        return None if pool is None else pool.known_session(self.server)

    def _new_pool(self) -> SessionPool:
        return SessionPool({self.provider: self.server} if self.provider is not None else {})

    def _toolset(self, pool: SessionPool) -> Toolset:
        if self._tools is None or self._tools[0] is not pool:
            plain = MCPToolset(self.server, pool, call_seconds=self._timeout)
            self._tools = pool, plain if self._wrap is None else self._wrap(plain)
        return self._tools[1]

    async def _definitions(self, pool: SessionPool) -> Sequence[ToolDefinition]:
        definitions = await self._toolset(pool).list_definitions()
        self._offered = OfferedTools(definitions)
        return definitions

    async def _list(self, pool: SessionPool, selection: ToolSelection) -> list[ToolInfo]:
        return [ToolInfo.of(tool) for tool in await self._definitions(pool) if selection.takes(tool.name)]

    async def _offer(self, pool: SessionPool) -> OfferedTools:
        return OfferedTools(await self._definitions(pool))

    async def _call(self, pool: SessionPool, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        return await self._toolset(pool).call(name, arguments)

    async def _checked_call(self, pool: SessionPool, name: str, arguments: Mapping[str, Any]) -> ToolCallResult:
        (name,) = name_patterns(name)  # it may be an enum's member
        try:
            result = await self._call(pool, name, arguments)
        except UnknownTool as error:
            raise MCPToolNotFoundError(await self._not_found(pool, name) or str(error)) from error
        if result.is_error and name in result.text and _says_unknown(result.text):
            # Some servers report an unknown tool as a failure of the tool.
            reason = await self._not_found(pool, name)
            if reason is not None:
                raise MCPToolNotFoundError(reason)
        return ToolCallResult.of(name, result)

    async def _not_found(self, pool: SessionPool, name: str) -> str | None:
        """What to say about a tool that the server does not list; None if it does."""
        known = [tool.name for tool in await self._definitions(pool)]
        return None if name in known else str(unknown_tool(name, known))

    async def _execute(
        self, pool: SessionPool, name: str, arguments: Arguments, dialect: Dialect | str | None
    ) -> dict[str, Any]:
        tool = await self._find(pool, name)
        result = await self._call(pool, tool.name, called_arguments(arguments, tool, dialect, called=name))
        return executor_reply(ToolCallResult.of(tool.name, result))

    async def _find(self, pool: SessionPool, name: str) -> ToolDefinition:
        """The tool that a model means; the server is asked again for one that was not there before."""
        if self._offered is not None:
            with suppress(UnknownTool):
                return self._offered.find(name)
        return (await self._offer(pool)).find(name)

    def _for_langchain(self, offered: OfferedTools, selection: ToolSelection) -> list[BaseTool]:
        from knime_ext.mcp.langchain_tools import langchain_tool

        calls = self.tool_calls()
        return [langchain_tool(tool, calls) for tool in offered.selected(selection)]

    def _invoke(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        return self._lease.run(lambda pool: self._call(pool, name, arguments))

    async def _ainvoke(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        return await self._lease.arun(lambda pool: self._call(pool, name, arguments))


def _says_unknown(text: str) -> bool:
    lower = text.lower()
    return "unknown" in lower or "not found" in lower or "no such" in lower
