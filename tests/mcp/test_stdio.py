"""Servers as child processes: they start, answer, die, flood, and never stay behind."""

import asyncio
import json
import os
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from knime_ext.errors import MCPConnectionError, MCPSessionLost, MCPTimeout
from knime_ext.mcp import Limits, MCPToolset, SessionPool, StdioServer, Timeouts
from tests.mcp.bench import called, listed, run, until
from tests.servers.process import HERE


def lines(*behaviours: str, **options: object) -> StdioServer:
    """The server in `lines.py`."""
    return StdioServer("lines", sys.executable, (str(HERE / "lines.py"), *behaviours), **options)  # pyright: ignore[reportArgumentType]


def gone(pids: list[int], seconds: float = 5) -> bool:
    """Whether these processes end in time; zombies that nobody has collected yet count as ended."""
    tick, deadline = threading.Event(), time.monotonic() + seconds
    while any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids):
        if time.monotonic() > deadline:
            return False
        tick.wait(0.01)
    return True


def test_a_child_is_started_without_a_shell_with_a_small_environment_and_its_own():
    server = lines(env={"GREETING": "$HOME `ls`"})
    environment = json.loads(called(server, "environment").text)
    assert environment["GREETING"] == "$HOME `ls`"
    assert "PYTEST_CURRENT_TEST" in os.environ
    assert "PYTEST_CURRENT_TEST" not in environment


def test_a_child_that_dies_at_start_is_quoted_without_its_secrets():
    listing = listed(lines("die-at-start", env={"DATABASE_PASSWORD": "hunter22"}))
    assert listing.error == (
        "server 'stdio:lines' ended with exit code 7 while it was being started; its last words: no such database: ***"
    )


@pytest.mark.parametrize(
    "server", [StdioServer("x", "no-such-program"), StdioServer("x", "sleep", cwd=Path("/nowhere"))]
)
def test_a_command_that_cannot_be_started_is_named(server: StdioServer):
    error = listed(server).error
    assert error is not None
    assert error.startswith("cannot start server 'stdio:x': No such file or directory")
    assert repr(server.command) in error


def test_connecting_to_a_child_that_says_nothing_ends_in_time():
    silent = StdioServer("silent", "sleep", ("600",), timeouts=Timeouts(connect=0.3))
    assert listed(silent).error == (
        "server 'stdio:silent' did not complete the MCP handshake within 0.3 s; see whether it hangs, or raise the "
        "time limit `connect`"
    )


def test_a_child_that_complains_and_hangs_is_quoted():
    words = ("-c", "echo waiting for the database >&2; sleep 600")
    error = listed(StdioServer("slow", "sh", words, timeouts=Timeouts(connect=0.5))).error
    assert error is not None
    assert error.endswith("raise the time limit `connect`; its last words: waiting for the database")


def test_a_server_that_ignores_the_probe_for_the_era_is_taken_for_an_old_one():
    listing = listed(lines("ignore-probe", timeouts=Timeouts(connect=4)))
    assert (listing.error, listing.era) == (None, "2025-06-18")


def test_output_that_is_no_message_is_skipped():
    assert called(lines("noise"), "echo", {"a": 1}).text == '{"a": 1}'


def test_a_time_limit_mentions_output_that_is_no_message():
    with pytest.raises(MCPTimeout, match=r"within 0.3 s \(messages of it that are not JSON-RPC: 2\)"):
        called(lines("noise", timeouts=Timeouts(call=0.3)), "hang")


def test_a_child_that_dies_between_two_calls_is_started_again():
    async def scenario() -> tuple[int, int]:
        async with SessionPool() as pool:
            tools = MCPToolset(lines(), pool)
            (first,) = json.loads((await tools.call("pids", {})).text)
            psutil.Process(first).kill()
            session = pool.session(lines())
            await until(lambda: not session.is_connected)
            (second,) = json.loads((await tools.call("pids", {})).text)
            return first, second

    first, second = run(scenario())
    assert first != second


def test_a_child_that_dies_during_a_call_leaves_the_outcome_unknown():
    async def scenario() -> str:
        async with SessionPool() as pool:
            tools = MCPToolset(lines(), pool)
            with pytest.raises(MCPSessionLost, match="unknown whether the call took effect"):
                await tools.call("die", {})
            return (await tools.call("echo", {"again": 1})).text

    assert run(scenario()) == '{"again": 1}'


def test_fifty_megabytes_in_a_line_are_refused_and_the_next_call_gets_a_new_child():
    async def scenario() -> str:
        async with SessionPool() as pool:
            tools = MCPToolset(lines(limits=Limits(answer_bytes=1_000_000)), pool)
            with pytest.raises(
                MCPConnectionError, match="it sent a line longer than the limit .* raise `answer_bytes`"
            ):
                await tools.call("flood", {"size": 50_000_000})
            return (await tools.call("echo", {})).text

    assert run(scenario()) == "{}"


def test_ten_megabytes_in_a_line_arrive_quickly():
    started = time.monotonic()
    assert len(called(lines(), "flood", {"size": 10_000_000}).text) == 10_000_000
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(("behaviours", "processes"), [(["family"], 2), (["family", "stubborn"], 2)])
def test_closing_the_pool_ends_the_whole_process_group(behaviours: list[str], processes: int):
    pids = json.loads(called(lines(*behaviours), "pids").text)
    assert len(pids) == processes
    assert gone(pids)


def test_a_loop_that_ends_without_closing_the_pool_leaves_no_child():
    async def scenario() -> list[int]:
        return json.loads((await MCPToolset(lines("family", "stubborn"), SessionPool()).call("pids", {})).text)

    assert gone(asyncio.run(scenario()))


def test_cancelling_while_a_child_is_being_started_ends_it():
    before = {child.pid for child in psutil.Process().children(recursive=True)}

    async def scenario() -> list[int]:
        async with SessionPool() as pool:
            silent = StdioServer("silent", "sh", ("-c", "sleep 600 & sleep 600"))
            connecting = asyncio.create_task(pool.session(silent).connect())
            await until(lambda: len(children()) == 4)  # with the one that watches over them
            started = list(children())
            connecting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await connecting
            return started

    def children() -> set[int]:
        return {child.pid for child in psutil.Process().children(recursive=True)} - before

    assert gone(run(scenario()))
