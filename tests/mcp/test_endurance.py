"""Many calls, many callers, dead servers: right results for the healthy, bounded time, nothing left behind."""

import asyncio
import json
import socket
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

import psutil
import pytest

from knime_ext.errors import MCPError
from knime_ext.mcp import MCPToolset, SessionPool, StreamableHTTPServer, Timeouts, list_servers
from tests.mcp.bench import listed, run
from tests.servers.legacy import ECHO, JSON, LegacyServer, serving
from tests.servers.process import HERE, free_port, running

CALLS = 10_000
WARM_UP = 2_000
GROWTH_BYTES = 8 * 1024 * 1024


@contextmanager
def lean() -> Generator[str]:
    """The URL of the server in `lean.py`, which is a process of its own."""
    with running([sys.executable, str(HERE / "lean.py")], r"ready (\d+)") as (_, ready):
        yield f"http://127.0.0.1:{ready[1]}/mcp"


@pytest.mark.timeout(1200)
def test_ten_thousand_calls_use_one_connection_and_no_more_memory_than_a_few():
    process = psutil.Process()

    async def scenario(url: str) -> tuple[int, JSON]:
        async with SessionPool() as pool:
            session = pool.session(StreamableHTTPServer(url))
            warm = 0
            for number in range(CALLS):
                result = await session.call_tool("echo", {"text": str(number)})
                assert result.text == str(number)
                if number == WARM_UP:
                    warm = process.memory_info().rss
            grown = process.memory_info().rss - warm
            return grown, json.loads((await session.call_tool("counted", {})).text)

    with lean() as url:
        growth, counted = run(scenario(url), seconds=1150)
    assert growth < GROWTH_BYTES
    assert counted == {"connections": 1, "greetings": 1, "pages": 0}


def test_two_hundred_callers_over_eight_servers_of_which_three_are_dead():
    quick = Timeouts(connect=2, list=2, call=20)
    with ExitStack() as stack:
        healthy = [stack.enter_context(serving(LegacyServer())) for _ in range(5)]
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=200))
        dead = [f"http://127.0.0.1:{free_port()}/mcp", f"http://127.0.0.1:{free_port()}/mcp"]
        hanging = f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"
        urls = [*(server.url for server in healthy), *dead, hanging]

        async def call(pool: SessionPool, number: int) -> str | MCPError:
            session = pool.session(StreamableHTTPServer(urls[number % 8], timeouts=quick))
            try:
                return (await session.call_tool("echo", {"text": str(number)})).text
            except MCPError as error:
                return error

        async def scenario() -> list[str | MCPError]:
            async with SessionPool() as pool:
                return await asyncio.gather(*(call(pool, number) for number in range(200)))

        started = time.monotonic()
        results = run(scenario(), seconds=100)
        assert time.monotonic() - started < 40
    for number, result in enumerate(results):
        if number % 8 < 5:
            assert result == str(number)
        else:
            assert isinstance(result, MCPError)
    assert [server.handshakes for server in healthy] == [1] * 5


def test_three_hundred_tools_with_ten_broken_ones():
    tools: list[JSON] = [{**ECHO, "name": f"tool_{number}"} for number in range(300)]
    for number in range(0, 300, 30):
        tools[number] = {"name": f"tool_{number}", "inputSchema": {"type": "object", "properties": 7}}
    with serving(LegacyServer(tools=tools)) as server:
        listing = listed(StreamableHTTPServer(server.url))
    assert (len(listing.definitions), len(listing.problems), listing.error) == (290, 10, None)
    assert [problem.name for problem in listing.problems] == [f"tool_{number}" for number in range(0, 300, 30)]


def test_a_list_of_ever_more_pages_ends_at_the_limit():
    async def scenario(url: str) -> tuple[str | None, JSON]:
        async with SessionPool() as pool:
            server = StreamableHTTPServer(url, timeouts=Timeouts(list=100))
            listing = await MCPToolset(server, pool).list()
            return listing.error, json.loads((await pool.session(server).call_tool("counted", {})).text)

    with lean() as url:
        error, counted = run(scenario(url), seconds=110)
    assert error is not None and "more than 1000 pages" in error
    assert counted == {"connections": 1, "greetings": 1, "pages": 1000}


def test_dead_servers_do_not_hold_up_the_healthy_ones():
    with serving(LegacyServer()) as server, socket.create_server(("127.0.0.1", 0)) as silent:
        hanging = f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"

        async def scenario():
            async with SessionPool() as pool:
                servers = [StreamableHTTPServer(url, timeouts=Timeouts(connect=1)) for url in (hanging, server.url)]
                return await list_servers(servers, pool)

        slow, good = run(scenario())
    assert slow.error is not None and good.error is None
    assert good.seconds < 1 <= slow.seconds
