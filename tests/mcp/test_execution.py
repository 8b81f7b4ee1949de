"""Hosts call tools that are rows: from any thread, side by side, also inside a running loop."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from knime.types.tool import MCPTool
from knime_ext.errors import ConfigurationError, MCPConnectionError, MCPTimeout, ToolFailed
from knime_ext.mcp import (
    MCPToolCaller,
    SSEServer,
    StdioServer,
    StreamableHTTPServer,
    URLServer,
    tools_from_listing,
)
from tests.mcp.bench import listed
from tests.servers.legacy import LegacyServer, serving
from tests.servers.process import HERE, free_port, mcpserver

SCHEMA = {"type": "object"}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with mcpserver("streamable-http") as address:
        yield address


def row(name: str, uri: str, **options: object) -> MCPTool:
    return MCPTool(name, "", SCHEMA, server_uri=uri, **options)  # pyright: ignore[reportArgumentType]


def test_a_row_from_a_listing_can_be_called(url: str):
    tools = {tool.tool_name: tool for tool in tools_from_listing(listed(URLServer(url)))}
    assert tools["add"].name == "Add two numbers"
    with MCPToolCaller() as caller:
        assert caller.call(tools["add"], {"a": 1, "b": 2}).structured == {"result": 3}
        assert caller.text(tools["greet"], {"name": "Ada", "excited": True}) == "Hello, Ada!"


def test_a_failure_of_the_tool_is_an_error_when_a_text_is_wanted(url: str):
    with MCPToolCaller() as caller:
        assert caller.call(row("fail", url), {"reason": "x"}).is_error
        with pytest.raises(ToolFailed, match="Error executing tool fail"):
            caller.text(row("fail", url), {"reason": "x"})


def test_calls_from_many_threads_at_once_share_one_session():
    with serving(LegacyServer()) as server, MCPToolCaller() as caller, ThreadPoolExecutor(8) as threads:
        tool = row("echo", server.url)
        calls = [threads.submit(caller.text, tool, {"text": str(n)}) for n in range(40)]
        assert [call.result(30) for call in calls] == [str(n) for n in range(40)]
        assert server.handshakes == 1


def test_sync_and_async_calls_work_inside_a_running_loop(url: str):
    async def scenario(caller: MCPToolCaller) -> list[str]:
        tool = row("greet", url)
        results = await asyncio.gather(*(caller.acall(tool, {"name": str(n)}) for n in range(3)))
        return [result.text for result in results] + [caller.text(tool, {"name": "sync"})]

    with MCPToolCaller() as caller:
        assert asyncio.run(scenario(caller)) == ["Hello, 0.", "Hello, 1.", "Hello, 2.", "Hello, sync."]


def test_cancelling_an_async_call_on_another_loop_reaches_the_server(url: str):
    async def scenario(caller: MCPToolCaller) -> None:
        await caller.acall(row("add", url), {"a": 1, "b": 1})
        call = asyncio.create_task(caller.acall(row("wait", url), {"name": "from afar"}))
        await caller.acall(row("add", url), {"a": 1, "b": 1})
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(5):
            while "from afar" not in (await caller.acall(row("cancellations", url), {})).text:
                await asyncio.sleep(0)

    with MCPToolCaller() as caller:
        asyncio.run(scenario(caller))


def test_a_time_limit_of_the_caller_replaces_that_of_the_server(url: str):
    with MCPToolCaller(timeout=0.2) as caller, pytest.raises(MCPTimeout, match="within 0.2 s"):
        caller.text(row("wait", url), {"name": "limit"})


def test_providers_are_looked_up_by_name_and_bring_their_credentials():
    with serving(LegacyServer()) as server:
        provider = StreamableHTTPServer(server.url, headers={"Authorization": "Bearer abcd1234"})
        with MCPToolCaller(providers={"crm": provider}) as caller:
            assert caller.text(row("echo", server.url, provider="crm"), {"text": "x"}) == "x"
        assert {headers["authorization"] for headers in server.headers} == {"Bearer abcd1234"}


def test_a_row_cannot_send_the_credentials_of_a_provider_somewhere_else():
    with serving(LegacyServer()) as thief:
        provider = StreamableHTTPServer("http://127.0.0.1:1/mcp", headers={"Authorization": "Bearer abcd1234"})
        with MCPToolCaller(providers={"crm": provider}) as caller, pytest.raises(ConfigurationError, match="'crm'"):
            caller.text(row("echo", thief.url, provider="crm"), {})
        assert thief.seen == []


def test_a_row_cannot_start_a_command_only_name_a_registered_one():
    toolbox = StdioServer("toolbox", sys.executable, (str(HERE / "lines.py"),))
    with MCPToolCaller(providers={"toolbox": toolbox}) as caller:
        assert json.loads(caller.text(row("echo", "stdio:toolbox"), {"a": 1})) == {"a": 1}
        with pytest.raises(ConfigurationError, match=r"no provider 'rm' is registered \(known: 'toolbox'\)"):
            caller.text(row("echo", "stdio:rm"), {})


def test_an_error_inside_the_block_leaves_no_child():
    toolbox = StdioServer("toolbox", sys.executable, (str(HERE / "lines.py"), "family"))
    with pytest.raises(KeyError), MCPToolCaller(providers={"toolbox": toolbox}) as caller:
        caller.text(row("pids", "stdio:toolbox"), {})
        raise KeyError


def test_an_interrupt_from_the_keyboard_ends_a_hanging_call_and_its_child():
    program = f"""
from knime.types.tool import MCPTool
from knime_ext.mcp import MCPToolCaller, StdioServer
server = StdioServer("toolbox", {sys.executable!r}, ({str(HERE / "lines.py")!r},))
with MCPToolCaller(providers={{"toolbox": server}}) as caller:
    caller.text(MCPTool("hang", "", {{}}, server_uri="stdio:toolbox"), {{}})
"""
    with subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True) as process:
        tick, deadline = threading.Event(), time.monotonic() + 30
        while not (children := psutil.Process(process.pid).children()):
            assert time.monotonic() < deadline
            tick.wait(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert psutil.wait_procs(children, timeout=5)[1] == []


def test_equal_names_on_two_servers_reach_the_right_one():
    with mcpserver("sse") as first, mcpserver("streamable-http") as second, MCPToolCaller() as caller:
        uris = [first, second, first, second]
        pids = [json.loads(caller.text(row("environment", uri), {}))["pid"] for uri in uris]
    assert pids[:2] == pids[2:]
    assert pids[0] != pids[1]


def test_servers_are_listed_side_by_side_and_a_dead_one_is_data(url: str):
    dead = SSEServer(f"http://127.0.0.1:{free_port()}/sse")
    with MCPToolCaller() as caller:
        first, second = caller.list_tools([dead, URLServer(url)])
    assert first.error is not None and first.definitions == ()
    assert second.error is None and len(second.definitions) > 5


def test_an_unreachable_server_is_an_error_of_the_call():
    with MCPToolCaller() as caller, pytest.raises(MCPConnectionError, match="cannot reach server"):
        caller.text(row("echo", f"http://127.0.0.1:{free_port()}/mcp"), {})


def test_a_caller_that_is_not_used_starts_nothing_and_a_closed_one_refuses():
    before = threading.enumerate()
    with MCPToolCaller() as caller:
        assert threading.enumerate() == before
    with pytest.raises(RuntimeError, match="is closed"):
        caller.text(row("echo", "http://127.0.0.1:1/mcp"), {})
