"""A toolset behind the SDK's low-level server: lists and calls go through, nothing is added."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp import MCPError as WireError
from mcp.server import Server, ServerRequestContext
from mcp_types import INVALID_PARAMS, CallToolRequestParams, InputRequiredResult, PaginatedRequestParams

from knime_ext.errors import KnimeExtError, UnknownTool
from knime_ext.mcp.live_secrets import without_live_secrets
from knime_ext.mcp.progress import Progress, showing_progress
from knime_ext.mcp.serving.approval import AskFirst, serving_call
from knime_ext.mcp.serving.wire import wire_result, wire_tool
from knime_ext.mcp.sieve import sift_page
from knime_ext.tools import ToolDefinition, ToolResult, Toolset

__all__ = ["ToolsetServer"]

PAGE_TOOLS = 1_000
"""Tools in one answer to `tools/list`; few clients ask for a second page."""

TTL_MILLISECONDS = 60_000
"""How long a client may keep the list: a table does not change while it is served, but the next start may differ."""

_MAX_WAITING = 1_000


def _nowhere(text: str) -> None:
    """Reports to nobody."""


class ToolsetServer:
    """Serves the tools of a toolset to any number of clients, in both eras of the protocol.

    Args:
        toolset: The tools; what it does not list cannot be seen, and what it does not call cannot be called.
        definitions: What it lists.
        name: How the server calls itself.
        version: Its version.
        instructions: Said to clients about the server as a whole; nothing if empty.
        report: Told in one line what the operator should know.
    """

    def __init__(
        self,
        toolset: Toolset,
        definitions: Sequence[ToolDefinition],
        *,
        name: str,
        version: str = "",
        instructions: str = "",
        report: Callable[[str], None] = _nowhere,
    ) -> None:
        self._toolset = toolset
        self._definitions = tuple(definitions)
        self._report = report
        self._pages: dict[str, list[dict[str, Any]]] = {}
        self._schemas = {tool.name: tool.parameters for tool in definitions}
        self.wire: Server[Any] = Server(
            name, version=version, instructions=instructions or None, get_tool_input_schema=self._schemas.get
        )
        # Not the constructor's handlers: those must return the SDK's models, which drop fields they do not know.
        self.wire.add_request_handler("tools/list", PaginatedRequestParams, self._list_tools)
        self.wire.add_request_handler("tools/call", CallToolRequestParams, self._call_tool)

    async def _list_tools(self, ctx: ServerRequestContext[Any], params: PaginatedRequestParams) -> dict[str, Any]:
        tools = self._usable(ctx.protocol_version)
        start = _start_of(params.cursor, len(tools))
        end = start + PAGE_TOOLS
        page: dict[str, Any] = {
            "tools": tools[start:end],
            "resultType": "complete",
            "ttlMs": TTL_MILLISECONDS,
            "cacheScope": "private",
        }
        return {**page, "nextCursor": str(end)} if end < len(tools) else page

    def _usable(self, version: str) -> list[dict[str, Any]]:
        """The tools that can be told in this revision; one that cannot does not take the others with it."""
        if version not in self._pages:
            page = {"tools": [wire_tool(definition, version) for definition in self._definitions]}
            good, problems = sift_page(page, version)
            self._pages[version] = good["tools"]
            for problem in problems:
                self._report(f"tool {problem.name!r} is left out for clients of {version}: {problem.reason}")
        return self._pages[version]

    async def _call_tool(
        self, ctx: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> dict[str, Any] | InputRequiredResult:
        try:
            with serving_call(ctx, params):
                async with _progress_to(ctx):
                    result = await self._result(params.name, params.arguments or {})
        except AskFirst as asking:
            return asking.answer
        return wire_result(result, ctx.protocol_version)

    async def _result(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        try:
            return await self._toolset.call(name, arguments)
        except UnknownTool as error:
            raise WireError(INVALID_PARAMS, without_live_secrets(f"Unknown tool {name!r}: {error}")) from None
        except AskFirst:
            raise
        except KnimeExtError as error:
            return ToolResult.of_text(without_live_secrets(str(error)), is_error=True)
        except Exception as error:
            # The text of a foreign error may hold anything, so it stays here.
            self._report(without_live_secrets(f"tool {name!r} failed: {type(error).__name__}: {error}"))
            return ToolResult.of_text(f"the tool {name!r} failed with {type(error).__name__}", is_error=True)


def _start_of(cursor: str | None, count: int) -> int:
    if cursor is None:
        return 0
    if not (cursor.isdecimal() and int(cursor) < count):
        raise WireError(INVALID_PARAMS, "the cursor does not belong to this list; list the tools from the beginning")
    return int(cursor)


@asynccontextmanager
async def _progress_to(ctx: ServerRequestContext[Any]) -> AsyncGenerator[None]:
    """Passes the progress of calls on, in order and before the answer; the session drops what nobody asked for."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[Progress | None] = asyncio.Queue()

    def put(progress: Progress) -> None:
        if waiting.qsize() < _MAX_WAITING:
            waiting.put_nowait(progress)

    def listen(progress: Progress) -> None:
        loop.call_soon_threadsafe(put, progress)

    async def pass_on() -> None:
        while (progress := await waiting.get()) is not None:
            await ctx.session.report_progress(progress.done, progress.total, progress.message or None)

    passing = asyncio.create_task(pass_on())
    try:
        with showing_progress(listen):
            yield
        # What the bridge's thread has posted before it posted the result stands in the loop's queue before this.
        loop.call_soon(waiting.put_nowait, None)
        await passing
    finally:
        passing.cancel()
