"""One session per server and principal for the whole process: shared by whoever holds it, closed when nobody does."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from knime.types.tool import MCPTool
from knime_ext.errors import MCPConnectionError, MCPTimeout
from knime_ext.mcp import (
    MCPClient,
    MCPRegistry,
    MCPToolCaller,
    MCPToolset,
    SessionPool,
    StdioServer,
    StreamableHTTPServer,
    Timeouts,
    ToolConfig,
)
from tests.mcp.bench import run, until
from tests.servers.legacy import JSON, LegacyServer, serving, text_result
from tests.servers.process import HERE


def lines(*behaviours: str, unused: float | None = 300) -> StdioServer:
    timeouts = Timeouts(unused=unused)
    return StdioServer("lines", sys.executable, (str(HERE / "lines.py"), *behaviours), timeouts=timeouts)


def soon(condition: Callable[[], bool], seconds: float = 10) -> bool:
    tick, deadline = threading.Event(), time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        tick.wait(0.01)
    return True


def lives(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_clients_callers_and_registries_share_one_session_and_one_connection():
    with serving(LegacyServer()) as server:
        value = StreamableHTTPServer(server.url)
        tool = MCPTool("echo", "", {}, server_uri=server.url, provider="p")
        with (
            MCPClient(value) as first,
            MCPClient(StreamableHTTPServer(server.url)) as second,
            MCPRegistry({"p": value}, [ToolConfig(tool_alias="a", providers=["p"])]) as registry,
            MCPRegistry({"p": value}, [ToolConfig(tool_alias="a", providers=["p"])]) as other_registry,
            MCPToolCaller({"p": value}) as caller,
            MCPToolCaller({"p": value}) as other_caller,
        ):
            assert first.call_tool("echo", {"text": "1"}).text == second.call_tool("echo", {"text": "1"}).text
            assert first.session_id == second.session_id is not None
            typed = server.handshakes
            assert len(registry.get_mcp("a").get_tool_schemas()) == len(other_registry.get_mcp("a").get_tool_schemas())
            assert caller.text(tool, {"text": "2"}) == other_caller.text(tool, {"text": "2"}) == "2"
        # What an operator registered may go to more places than what somebody typed, so that is another session.
        assert (typed, server.handshakes) == (1, 2)
        assert len(server.clients) == 2
        assert server.sessions == set()


def test_first_uses_by_many_clients_at_once_connect_once():
    with serving(LegacyServer()) as server, ThreadPoolExecutor(8) as threads:
        clients = [MCPClient(server.url) for _ in range(16)]
        calls = [
            threads.submit(client.call_tool, "echo", {"text": str(number)}) for number, client in enumerate(clients)
        ]
        assert [call.result(30).text for call in calls] == [str(number) for number in range(16)]
        assert server.handshakes == 1
        for client in clients:
            client.close()
        assert server.sessions == set()


def test_lists_that_several_clients_ask_for_at_once_make_one_request():
    async def scenario(clients: list[MCPClient]) -> list[list[str]]:
        lists = await asyncio.gather(*(client.alist_tools() for client in clients))
        return [[tool.name for tool in tools] for tools in lists]

    with serving(LegacyServer()) as server:
        clients = [MCPClient(server.url) for _ in range(10)]
        try:
            assert asyncio.run(scenario(clients)) == [["echo"]] * 10
        finally:
            for client in clients:
                client.close()
        assert (server.handshakes, server.seen.count("tools/list")) == (1, 1)


def test_another_token_is_another_principal_and_gets_another_session():
    with serving(LegacyServer()) as server:
        with MCPClient(server.url, token="ann-0123456789") as ann, MCPClient(server.url, token="bob-0123456789") as bob:
            assert (ann.call_tool("echo", {"text": "x"}).text, bob.call_tool("echo", {"text": "x"}).text) == ("x", "x")
            assert ann.session_id != bob.session_id
        assert server.handshakes == 2


def test_holders_of_one_session_keep_their_own_time_limits():
    async def never(params: JSON) -> JSON:
        if params["arguments"]["text"] == "hang":
            await asyncio.sleep(2)
        return text_result("done")

    with serving(LegacyServer(on_call=never)) as server:

        async def scenario() -> str:
            async with SessionPool() as hasty, SessionPool() as patient:
                quick = hasty.session(StreamableHTTPServer(server.url, timeouts=Timeouts(call=0.2)))
                slow = patient.session(StreamableHTTPServer(server.url, timeouts=Timeouts(call=20)))
                with pytest.raises(MCPTimeout, match=r"within 0\.2 s"):
                    await quick.call_tool("echo", {"text": "hang"})
                return (await slow.call_tool("echo", {"text": "hang"})).text

        assert run(scenario()) == "done"
        assert server.handshakes == 1


def test_a_session_ends_with_its_last_holder_and_a_closed_holder_cannot_use_it():
    async def scenario() -> tuple[int, int]:
        first, second = SessionPool(), SessionPool()
        (pid,) = json.loads((await MCPToolset(lines(), first).call("pids", {})).text)
        lease = first.session(lines())
        await first.close()
        with pytest.raises(MCPConnectionError, match="is closed"):
            await lease.call_tool("pids", {})
        assert not lives(pid)  # nobody else had taken it
        (pid,) = json.loads((await MCPToolset(lines(), first).call("pids", {})).text)
        (same,) = json.loads((await MCPToolset(lines(), second).call("pids", {})).text)
        await first.close()
        assert lives(pid)
        assert json.loads((await MCPToolset(lines(), second).call("pids", {})).text) == [pid]
        await second.close()
        assert not lives(pid)
        return pid, same

    first, second = run(scenario())
    assert first == second


def test_an_unused_session_is_closed_and_the_next_use_opens_another():
    with serving(LegacyServer()) as server:
        client = MCPClient(StreamableHTTPServer(server.url, timeouts=Timeouts(unused=0.1)))
        with client:
            client.call_tool("echo", {"text": "1"})
            first = client.session_id
            assert soon(lambda: not client.is_client_initialized)
            assert soon(lambda: server.sessions == set())
            port = int(server.url.split(":")[2].split("/")[0])
            assert soon(lambda: not _connections_to(port))
            assert client.session_id is None
            assert client.call_tool("echo", {"text": "2"}).text == "2"
            assert client.session_id not in (first, None)
        assert server.handshakes == 2


def _connections_to(port: int) -> list[object]:
    return [one for one in psutil.Process().net_connections("tcp") if one.raddr and one.raddr.port == port]


def test_an_unused_child_process_ends_with_its_whole_group():
    with MCPClient(lines("family", unused=0.1)) as client:
        pids = client.call_tool("pids").data
        assert isinstance(pids, list) and len(pids) == 2
        assert soon(lambda: not any(map(lives, pids)))
        assert client.call_tool("echo", {"a": 1}).data == {"a": 1}


def test_a_call_that_takes_longer_than_a_session_may_be_unused_is_not_cut_off():
    async def slow(params: JSON) -> JSON:
        await asyncio.sleep(0.4)
        return text_result("done")

    with serving(LegacyServer(on_call=slow)) as server:
        with MCPClient(StreamableHTTPServer(server.url, timeouts=Timeouts(unused=0.05))) as client:
            assert client.call_tool("echo", {"text": "x"}).text == "done"
        assert server.handshakes == 1


def test_calls_that_come_while_an_unused_session_is_being_closed_are_answered():
    async def scenario(url: str) -> list[str]:
        async with SessionPool() as pool:
            session = pool.session(StreamableHTTPServer(url, timeouts=Timeouts(unused=0)))
            answers: list[str] = []
            for number in range(20):
                answers.append((await session.call_tool("echo", {"text": str(number)})).text)
                for _ in range(number % 7):
                    await asyncio.sleep(0)
            await until(lambda: not session.is_connected)
            return answers

    with serving(LegacyServer()) as server:
        assert run(scenario(server.url)) == [str(number) for number in range(20)]
        assert server.sessions == set()


def test_a_killed_child_takes_its_family_along_although_that_holds_its_output_open():
    with MCPClient(lines("family")) as client:
        child, grandchild = json.loads(client.call_tool("pids").text)
        os.kill(child, signal.SIGKILL)
        assert soon(lambda: not lives(child) and not lives(grandchild), 5)
        assert soon(lambda: not client.is_client_initialized, 5)
        assert client.call_tool("echo", {"a": 1}).data == {"a": 1}


def test_a_killed_program_leaves_no_child_behind_not_even_a_stubborn_family():
    program = f"""
import sys, time
from knime_ext.mcp import MCPClient, StdioServer
server = StdioServer("lines", sys.executable, ({str(HERE / "lines.py")!r}, "family", "stubborn"))
client = MCPClient(server)
print(client.call_tool("pids").text, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pids = json.loads(process.stdout.readline())
        family = {child.pid for child in psutil.Process(process.pid).children(recursive=True)} | set(pids)
        assert len(family) == 3  # with the one that watches
        process.kill()
        process.wait(10)
        assert soon(lambda: not any(map(lives, family)))
