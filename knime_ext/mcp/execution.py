"""The MCP room's door for hosts: calls tools that are table rows, from sync and async code, in any thread."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, Self

from knime.types.tool import MCPTool
from knime_ext.bridge import Bridge, shared_bridge
from knime_ext.errors import ConfigurationError, MCPToolChanged, MCPToolNotFoundError, ToolFailed
from knime_ext.mcp.calls import is_repeatable
from knime_ext.mcp.comparison import ToolComparison, compare_tools
from knime_ext.mcp.drift import changes_since, has_changed
from knime_ext.mcp.egress import EgressPolicy
from knime_ext.mcp.leased_session import LeasedSession
from knime_ext.mcp.listing import Listing
from knime_ext.mcp.pool import SessionPool
from knime_ext.mcp.servers import Server, server_from_uri
from knime_ext.mcp.toolset import list_servers
from knime_ext.tools import ToolResult

__all__ = ["MCPToolCaller"]


@dataclass(frozen=True, slots=True)
class _Open:
    """What a caller holds once it has been used."""

    bridge: Bridge
    pool: SessionPool


class MCPToolCaller:
    """Calls MCP tools over pooled sessions, one per server.

    A context manager. Nothing happens before the first call; leaving it closes every session and stops what was
    started. All methods may be called from any thread, also side by side.

        with MCPToolCaller() as caller:
            print(caller.text(tool, {"amount": 10}))

    Args:
        providers: Servers registered by the operator, by name; rows refer to them as `stdio:NAME`. None for those
            in the operator's own file.
        timeout: Seconds for one call, instead of the server's own limit.
        policy: Where requests may go; that of the environment if none is given.
    """

    def __init__(
        self,
        providers: Mapping[str, Server] | None = None,
        timeout: float | None = None,
        policy: EgressPolicy | None = None,
    ) -> None:
        self._policy = policy
        self._given_providers = providers
        self._timeout = timeout
        self._compared: dict[tuple[str | None, ...], int] = {}
        self._lock = threading.Lock()
        self._entered = False
        self._stack = ExitStack()
        self._open: _Open | None = None

    def __enter__(self) -> Self:
        self._entered = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._entered, self._open = False, None
            self._compared.clear()
            self._stack.close()

    def call(self, tool: MCPTool, parameters: Mapping[str, Any]) -> ToolResult:
        """Calls a tool and waits for its result.

        Args:
            tool: The tool, as it stands in a row.
            parameters: JSON object of its arguments.

        Returns:
            The result with every content block. A failure of the tool itself is a result with `is_error`.

        Raises:
            ConfigurationError: The row's server address cannot be used.
            MCPToolChanged: The server describes the tool in another way than when the row was made.
            MCPError: The server, or the way to it, failed.
        """
        ready = self._ready()
        return ready.bridge.run(self._call(ready.pool, tool, parameters))

    async def acall(self, tool: MCPTool, parameters: Mapping[str, Any]) -> ToolResult:
        """The same as `call` for async code on any loop; cancelling it cancels the call on the server."""
        ready = self._ready()
        return await ready.bridge.arun(self._call(ready.pool, tool, parameters))

    def text(self, tool: MCPTool, parameters: Mapping[str, Any]) -> str:
        """Calls a tool and gives its result as text, never empty.

        Raises:
            ToolFailed: The tool reports a failure; the message is the tool's.
            MCPError: The server, or the way to it, failed.
        """
        result = self.call(tool, parameters)
        if result.is_error:
            raise ToolFailed(result.text)
        return result.text

    def list_tools(self, servers: Sequence[Server]) -> list[Listing]:
        """Lists the tools of several servers at the same time, in the order given; failures are data."""
        ready = self._ready()
        return ready.bridge.run(list_servers(servers, ready.pool))

    def compare(self, tools: Sequence[MCPTool]) -> list[ToolComparison]:
        """Compares tools in rows with what their servers say now, in the order given; failures are data."""
        ready = self._ready()
        return ready.bridge.run(compare_tools(tools, lambda tool: ready.pool.session(self._server(tool), "row")))

    def _ready(self) -> _Open:
        with self._lock:
            if not self._entered:
                raise RuntimeError(
                    "this caller of MCP tools is closed; use it inside `with MCPToolCaller() as caller:`"
                )
            if self._open is None:
                bridge = self._stack.enter_context(shared_bridge())
                pool = SessionPool(self._providers, self._policy)
                self._stack.callback(lambda: bridge.run(pool.close()))
                self._open = _Open(bridge, pool)
            return self._open

    async def _call(self, pool: SessionPool, tool: MCPTool, parameters: Mapping[str, Any]) -> ToolResult:
        session = pool.session(self._server(tool), "row")
        await self._compare(session, tool)
        return await session.call_tool(
            tool.tool_name, parameters, timeout=self._timeout, repeatable=is_repeatable(tool.annotations)
        )

    async def _compare(self, session: LeasedSession, tool: MCPTool) -> None:
        """Makes sure that the server still describes a tool as it did when it was listed.

        Once per run, and again when the server says that its list has changed, or has been connected to anew.
        """
        key = (tool.provider, tool.server_uri, tool.tool_name, tool.fingerprint)
        if tool.fingerprint is None or self._compared.get(key) == session.list_version:
            return
        now = await session.known_tool(tool.tool_name)
        if now is None:
            raise MCPToolNotFoundError(
                f"server {tool.server_uri!r} has no tool {tool.tool_name!r} any more; list its tools again"
            )
        if has_changed(tool, now):
            fields = ", ".join(change.field for change in changes_since(tool, now)) or "its description"
            raise MCPToolChanged(
                f"tool {tool.tool_name!r} of server {tool.server_uri!r} has changed since it was listed ({fields}); "
                "see whether you still trust it and list the tools again, or accept changed tools where they are called"
            )
        self._compared[key] = session.list_version

    @cached_property
    def _providers(self) -> Mapping[str, Server]:
        if self._given_providers is not None:
            return self._given_providers
        from knime_ext.mcp.providers import load_providers

        return load_providers().servers

    def _server(self, tool: MCPTool) -> Server:
        if tool.provider is None:
            return server_from_uri(tool.server_uri, self._providers)
        server = self._providers.get(tool.provider)
        if server is None or server.uri != tool.server_uri:
            raise ConfigurationError(
                f"tool {tool.name!r} uses the provider {tool.provider!r} for {tool.server_uri!r}, and no provider of "
                "that name is registered for that address; register it"
            )
        return server
