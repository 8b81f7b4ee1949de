"""Time limits on calls: one on silence, which progress extends, and one that nothing extends."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from knime_ext.errors import MCPTimeout
from knime_ext.mcp import SessionPool, StdioServer, StreamableHTTPServer, Timeouts
from knime_ext.mcp.progress import Progress, showing_progress
from tests.mcp.bench import run, until
from tests.servers.legacy import JSON, LegacyServer, serving, text_result

STEP_SECONDS = 0.1


def reporting(steps: int) -> LegacyServer:
    """A server whose calls take their time and say so."""

    async def slow(request: Request, message: JSON) -> Response | None:
        if message.get("method") != "tools/call":
            return None
        token = message["params"]["_meta"]["progressToken"]

        async def events() -> AsyncIterator[str]:
            for step in range(steps):
                await asyncio.sleep(STEP_SECONDS)
                params = {
                    "progressToken": token,
                    "progress": step + 1,
                    "total": steps,
                    "message": f"step\u200b {step + 1}",
                }
                note = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
                yield f"event: message\ndata: {json.dumps(note)}\n\n"
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": text_result("done")}
            yield f"event: message\ndata: {json.dumps(answer)}\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    return LegacyServer(intercept=slow)


def called(server: LegacyServer, timeouts: Timeouts, timeout: float | None = None) -> tuple[str, list[Progress]]:
    progress: list[Progress] = []

    async def scenario() -> str:
        async with SessionPool() as pool:
            session = pool.session(StreamableHTTPServer(server.url, timeouts=timeouts))
            with showing_progress(progress.append):
                return (await session.call_tool("echo", {}, timeout=timeout)).text

    return run(scenario()), progress


def test_progress_extends_the_limit_on_silence_and_reaches_the_listener():
    with serving(reporting(12)) as server:
        text, progress = called(server, Timeouts(call=6 * STEP_SECONDS))
    assert text == "done"
    assert [step.fraction for step in progress] == [(step + 1) / 12 for step in range(12)]
    assert progress[0].message == "step 1"


def test_progress_does_not_extend_the_limit_on_the_whole_call():
    with serving(reporting(1000)) as server:
        started = time.monotonic()
        with pytest.raises(MCPTimeout, match="within 1 s; see whether it hangs, or raise the time limit `total`"):
            called(server, Timeouts(call=1.0, total=1.0))
        assert time.monotonic() - started < 10
        run(until(lambda: len(server.cancelled) == 1))


def test_a_limit_on_one_call_is_a_limit_on_the_whole_of_it():
    with serving(reporting(1000)) as server, pytest.raises(MCPTimeout, match="within 0.5 s"):
        called(server, Timeouts(), timeout=0.5)


def test_silence_is_given_up_and_the_server_is_told_to_stop():
    async def hang(params: JSON) -> JSON:
        await asyncio.sleep(3600)
        return {}

    with serving(LegacyServer(on_call=hang)) as server:
        with pytest.raises(MCPTimeout, match="within 0.3 s; see whether it hangs, or raise the time limit `call`"):
            called(server, Timeouts(call=0.3, total=60))
        run(until(lambda: len(server.cancelled) == 1))


def test_progress_arrives_over_stdio_too():
    program = str(Path(__file__).parents[1] / "servers" / "mcpserver.py")
    progress: list[Progress] = []

    async def scenario() -> str:
        async with SessionPool() as pool:
            session = pool.session(StdioServer("toolbox", sys.executable, (program, "stdio")))
            with showing_progress(progress.append):
                return (await session.call_tool("count_to", {"number": 3})).text

    assert run(scenario()) == "counted to 3"
    assert [(step.done, step.total) for step in progress] == [(0, 3), (1, 3), (2, 3)]
