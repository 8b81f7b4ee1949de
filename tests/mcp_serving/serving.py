"""A toolset behind a real server of HTTP, for as long as a test needs it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from knime_ext.mcp.serving import HTTPDoor, ToolsetServer, serve_http
from knime_ext.tools import Toolset


@asynccontextmanager
async def served(toolset: Toolset, door: HTTPDoor) -> AsyncGenerator[str]:
    """The URL of a running server, stopped at the end."""
    stop, urls = asyncio.Event(), asyncio.Queue[str]()
    server = ToolsetServer(toolset, await toolset.list_definitions(), name="shop")
    serving = asyncio.create_task(serve_http(server, door, stop, urls.put_nowait))
    try:
        yield await asyncio.wait_for(urls.get(), 10)
    finally:
        stop.set()
        await asyncio.wait_for(serving, 10)
