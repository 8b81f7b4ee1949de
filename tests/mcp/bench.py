"""Runs scenarios of the MCP room in a bounded event loop and proves that nothing is left of them."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import psutil

from knime_ext.mcp import Listing, MCPToolset, SessionPool
from knime_ext.mcp.servers import Server
from knime_ext.tools import ToolResult

T = TypeVar("T")


def run(scenario: Coroutine[Any, Any, T], *, seconds: float = 30) -> T:
    """Runs a coroutine; afterwards no task may be left on its loop."""

    async def bounded() -> T:
        async with asyncio.timeout(seconds):
            result = await scenario
        # Connections that are being closed need a few turns of the loop.
        for _ in range(10):
            await asyncio.sleep(0)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert others == set(), f"tasks are left: {others}"
        return result

    return asyncio.run(bounded())


def listed(server: Server, *, seconds: float = 30) -> Listing:
    """The tools of a server, with a pool of its own."""

    async def scenario() -> Listing:
        async with SessionPool() as pool:
            return await MCPToolset(server, pool).list()

    return run(scenario(), seconds=seconds)


def called(server: Server, name: str, arguments: dict[str, Any] | None = None) -> ToolResult:
    """The result of one call, with a pool of its own."""

    async def scenario() -> ToolResult:
        async with SessionPool() as pool:
            return await MCPToolset(server, pool).call(name, arguments or {})

    return run(scenario())


async def until(condition: Callable[[], bool], *, seconds: float = 5) -> None:
    """Waits until a condition holds."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)


def belongings() -> set[str]:
    """Threads, children and connected sockets of this process."""
    process = psutil.Process()
    threads = {f"thread {thread.name} {thread.ident}" for thread in threading.enumerate()}
    children = {f"child {child.pid}" for child in process.children(recursive=True)}
    connections = process.net_connections("tcp")
    return threads | children | {f"socket {one.laddr} {one.raddr}" for one in connections if one.raddr}


def assert_nothing_new_since(before: set[str], *, seconds: float = 5) -> None:
    """Fails unless everything that came since is gone again, in time."""
    tick, deadline = threading.Event(), time.monotonic() + seconds
    while left := belongings() - before:
        assert time.monotonic() < deadline, f"left behind: {left}"
        tick.wait(0.01)
