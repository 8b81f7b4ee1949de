"""Servers of 2026-07-28 say between calls that their list of tools has changed, and are listened to."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from knime_ext.errors import MCPToolChanged
from knime_ext.mcp import (
    LeasedSession,
    MCPToolCaller,
    MCPToolset,
    SessionPool,
    StdioServer,
    StreamableHTTPServer,
    Timeouts,
    tools_from_listing,
)
from knime_ext.mcp.pages import ToolPages
from knime_ext.mcp.servers import Server
from tests.mcp.bench import listed, run, until
from tests.servers.legacy import ECHO, JSON, LegacyServer, serving
from tests.servers.process import HERE, running

PROGRAM = str(HERE / "changing.py")


@pytest.fixture(params=["stdio", "streamable-http"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    if request.param == "stdio":
        yield StdioServer("changing", sys.executable, (PROGRAM, "stdio"), timeouts=Timeouts(connect=30))
        return
    with running([sys.executable, PROGRAM, request.param], r"ready (\d+)") as (_, ready):
        yield StreamableHTTPServer(f"http://127.0.0.1:{ready[1]}/mcp")


async def listening(session: LeasedSession) -> int:
    """The version of the list once the server has said that it will tell about changes."""
    await session.list_tools(ToolPages(session.server.uri, session.server.limits))
    version = session.list_version
    await session.call_tool("echo", {"text": "x"})
    await until(lambda: session.list_version > version)
    return session.list_version


def test_a_change_between_calls_is_noticed_without_asking(server: Server):
    async def scenario() -> tuple[str, str, str]:
        async with SessionPool() as pool:
            session = pool.session(server)
            version = await listening(session)
            before = (await session.call_tool("count", {})).text
            await session.call_tool("change", {"description": "Gives it to somebody else."})
            await until(lambda: session.list_version > version)
            silent = (await session.call_tool("count", {})).text
            tool = await session.known_tool("echo")
            assert tool is not None
            return tool.description, before, silent

    description, before, silent = run(scenario())
    assert description == "Gives it to somebody else."
    assert before == silent


def test_a_tool_that_changes_in_the_middle_of_a_run_is_not_called_again():
    with running([sys.executable, PROGRAM, "streamable-http"], r"ready (\d+)") as (_, ready):
        server = StreamableHTTPServer(f"http://127.0.0.1:{ready[1]}/mcp")
        (echo, *_) = tools_from_listing(listed(server))

        async def change() -> None:
            async with SessionPool() as pool:
                session = pool.session(server)
                version = await listening(session)
                await session.call_tool("change", {"description": "Gives it to somebody else."})
                await until(lambda: session.list_version > version)

        with MCPToolCaller({"p": server}) as caller:
            assert caller.text(echo, {"text": "x"}) == "x"
            run(change())
            with pytest.raises(MCPToolChanged, match=r"'echo' .* \(description\)"):
                for _ in range(1_000):  # until the news has arrived
                    caller.text(echo, {"text": "x"})


def test_listening_does_not_keep_an_unused_session(server: Server):
    def is_listening() -> bool:
        return any(task.get_name() == "knime-mcp-listening" for task in asyncio.all_tasks())

    async def scenario() -> None:
        async with SessionPool() as pool:
            await listening(pool.session(server))
            assert is_listening()
            session = pool.session(replace(server, timeouts=Timeouts(connect=30, unused=0.1)))
            await session.call_tool("echo", {"text": "the last one"})
            await until(lambda: not session.is_connected and not is_listening(), seconds=20)

    run(scenario())


@pytest.mark.parametrize("how", ["refuses", "ends", "breaks off"])
def test_a_server_that_does_not_let_itself_be_listened_to_is_not_asked_again_and_again(how: str):
    asked: list[str] = []

    async def answer(request: Request, message: JSON) -> Response:
        asked.append(message["method"])
        result: JSON = {"resultType": "complete", "ttlMs": 60_000, "cacheScope": "private"}
        match message["method"]:
            case "server/discover":
                result |= {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}}}
            case "tools/list":
                result |= {"tools": [ECHO]}
            case "tools/call":
                result |= {"content": [{"type": "text", "text": "done"}]}
            case _ if how == "breaks off":
                return StreamingResponse(nothing(), media_type="text/event-stream")
            case _ if how == "refuses":
                error = {"code": -32601, "message": "Method not found"}
                return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "error": error})
            case _:
                pass
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    async def nothing() -> AsyncIterator[str]:
        yield ": hello\n\n"

    with serving(LegacyServer(intercept=answer)) as server:

        async def scenario() -> None:
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url), pool)
                for _ in range(20):
                    await tools.list()
                    assert (await tools.call("echo", {"text": "x"})).text == "done"

        run(scenario())
    assert asked.count("subscriptions/listen") == 1
    assert asked.count("tools/list") <= 2
    assert asked.count("tools/call") == 20
