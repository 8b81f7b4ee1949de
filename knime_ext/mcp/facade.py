"""Tools for any chat completion in OpenAI's form, without an agent framework."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knime_ext.errors import KnimeExtError, MCPError
from knime_ext.mcp.completions import RequestedCall, read_completion
from knime_ext.mcp.lease import Lease
from knime_ext.mcp.offered_tools import OfferedTools
from knime_ext.mcp.openai_tools import called_arguments, openai_tools
from knime_ext.mcp.pool import SessionPool
from knime_ext.mcp.routes import RoutedToolset
from knime_ext.mcp.servers import Server
from knime_ext.mcp.tool_config import ToolConfig
from knime_ext.mcp.toolset import MCPToolset
from knime_ext.tools import Dialect, Toolset

__all__ = ["MCPFacade"]

REFUSAL = (
    "This call was not made: no more tool calls are possible in this conversation. Answer now with what you know, "
    "without asking for tools."
)


@dataclass(slots=True, kw_only=True)
class _Reached:
    """The tools over one pool.

    Attributes:
        pool: The pool.
        servers: The tools where they are.
        tools: The same under the policies of the registry.
        offered: What was listed last; None before the first listing.
    """

    pool: SessionPool
    servers: RoutedToolset
    tools: Toolset
    offered: OfferedTools | None = None


class MCPFacade:
    """The tools of one `ToolConfig`; a registry makes it. Usable from any thread and any event loop.

        while facade.has_tool_calls(reply := complete(messages, tools=facade.get_tool_schemas())):
            messages += facade.process_completion_response(reply)

    Args:
        config: Which tools of which providers.
        servers: Gives the servers by the name of their provider; called when a listing is made.
        lease: Sessions, shared with other facades.
        wrap: Policies over the tools.
    """

    def __init__(
        self,
        config: ToolConfig,
        servers: Callable[[], Mapping[str, Server]],
        lease: Lease,
        *,
        wrap: Callable[[Toolset], Toolset] | None = None,
    ) -> None:
        self._config = config
        self._servers = servers
        self._lease = lease
        self._wrap = wrap
        self._reached: _Reached | None = None
        self._dialect: Dialect | str | None = None

    @property
    def tool_alias(self) -> str:
        """Name that the tools are asked for by."""
        return self._config.tool_alias

    @property
    def providers(self) -> list[str]:
        """Names of the providers."""
        return list(self._config.providers)

    @property
    def max_tool_call_turns(self) -> int:
        """How many replies of the model may ask for tools; the caller counts them."""
        return self._config.max_tool_call_turns

    @property
    def allow_tools(self) -> list[str] | None:
        """Names or globs of the tools that may be called; None allows all."""
        return None if self._config.allow_tools is None else list(self._config.allow_tools)

    @property
    def timeout_sec(self) -> float | None:
        """Seconds for one call."""
        return self._config.timeout_sec

    @property
    def problems(self) -> dict[str, str]:
        """Why tools of some providers are missing, as of the last listing, by the name of the provider."""
        return {} if self._reached is None else dict(self._reached.servers.problems)

    @staticmethod
    def tool_call_count(completion_response: Any) -> int:
        """How many tool calls a reply asks for."""
        return len(read_completion(completion_response).calls)

    @staticmethod
    def has_tool_calls(completion_response: Any) -> bool:
        """Whether a reply asks for tools."""
        return MCPFacade.tool_call_count(completion_response) > 0

    def get_tool_schemas(self, dialect: Dialect | str | None = None) -> list[dict[str, Any]]:
        """The tools as function schemas, for `tools` of a request. The servers are asked at the same time.

        Args:
            dialect: The vendor's dialect for the schemas of arguments, such as "openai-strict"; None keeps every
                keyword. Replies are read in the same dialect, until schemas are asked for in another.

        Raises:
            ConfigurationError: A provider cannot be used, no server has an allowed tool, or there is no such dialect.
            MCPError: No server could be listed; if only some could not, `problems` tells why.
        """
        return self._schemas(self._lease.run(self._list), dialect)

    async def aget_tool_schemas(self, dialect: Dialect | str | None = None) -> list[dict[str, Any]]:
        """The same as `get_tool_schemas` for async code."""
        return self._schemas(await self._lease.arun(self._list), dialect)

    def _schemas(self, offered: OfferedTools, dialect: Dialect | str | None) -> list[dict[str, Any]]:
        schemas = openai_tools(offered, dialect)
        self._dialect = dialect
        return schemas

    def process_completion_response(self, completion_response: Any) -> list[dict[str, Any]]:
        """Runs the tool calls of a reply, all at the same time.

        Args:
            completion_response: The reply: an object or mapping with `choices[0].message`.

        Returns:
            The messages to append: the model's own, then one per call, in the order of the calls. Whatever goes wrong
            with a call is told in its message.

        Raises:
            ConfigurationError: A provider cannot be used, or the reply is none.
        """
        return self._lease.run(lambda pool: self._process(pool, completion_response))

    async def aprocess_completion_response(self, completion_response: Any) -> list[dict[str, Any]]:
        """The same as `process_completion_response` for async code; cancelling it cancels the calls."""
        return await self._lease.arun(lambda pool: self._process(pool, completion_response))

    def refuse_completion_response(
        self, completion_response: Any, refusal_message: str | None = None
    ) -> list[dict[str, Any]]:
        """Refuses every tool call of a reply, for when the budget is used up.

        Args:
            completion_response: The reply.
            refusal_message: What to tell the model instead of the usual words.

        Returns:
            The messages to append: the model's own, then one refusal per call. Nothing is called.
        """
        completion = read_completion(completion_response)
        text = REFUSAL if refusal_message is None else refusal_message
        return [completion.as_message(), *(call.answer(text) for call in completion.calls)]

    async def _list(self, pool: SessionPool) -> OfferedTools:
        reached = self._reach(pool)
        reached.offered = OfferedTools(await reached.tools.list_definitions())
        return reached.offered

    def _reach(self, pool: SessionPool) -> _Reached:
        """The tools over a pool; policies over them last as long as the pool does."""
        if self._reached is None or self._reached.pool is not pool:
            toolsets = {
                name: MCPToolset(server, pool, call_seconds=self.timeout_sec)
                for name, server in self._servers().items()
            }
            servers = RoutedToolset(toolsets, self._config.allow_tools)
            tools = servers if self._wrap is None else self._wrap(servers)
            self._reached = _Reached(pool=pool, servers=servers, tools=tools)
        return self._reached

    async def _process(self, pool: SessionPool, completion_response: Any) -> list[dict[str, Any]]:
        completion = read_completion(completion_response)
        try:
            offered = await self._offered(pool, completion.calls)
        except MCPError as error:
            return [completion.as_message(), *(call.answer(str(error)) for call in completion.calls)]
        tools = self._reach(pool).tools
        answers = await asyncio.gather(*(self._answer(tools, offered, call) for call in completion.calls))
        return [completion.as_message(), *answers]

    async def _offered(self, pool: SessionPool, calls: Sequence[RequestedCall]) -> OfferedTools:
        """What is known of the tools; the servers are asked again for one that was not there before."""
        offered = self._reach(pool).offered
        if offered is not None and all(call.name in offered for call in calls):
            return offered
        return await self._list(pool)

    async def _answer(self, tools: Toolset, offered: OfferedTools, call: RequestedCall) -> dict[str, Any]:
        try:
            tool = offered.find(call.name)
            arguments = called_arguments(call.arguments, tool, self._dialect, called=call.name)
            result = await tools.call(tool.name, arguments)
        except KnimeExtError as error:
            return call.answer(str(error))
        except Exception as error:
            return call.answer(f"the tool {call.name!r} failed: {type(error).__name__}: {error}")
        return call.answer(result.text)
