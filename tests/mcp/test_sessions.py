"""Sessions outlive what servers do to them."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from knime_ext.errors import MCPConnectionError, MCPSessionLost, MCPToolNotFoundError
from knime_ext.mcp import MCPToolset, SessionPool, StreamableHTTPServer
from tests.mcp.bench import run, until
from tests.servers.legacy import ECHO, JSON, BrokenOff, LegacyServer, serving, text_result


def test_a_session_ended_by_the_server_is_renewed_once_over_the_same_connection_and_the_call_answers():
    with serving(LegacyServer()) as server:

        async def scenario() -> list[str]:
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url), pool)
                first = await tools.call("echo", {"text": "before"})
                server.end_sessions()
                second = await tools.call("echo", {"text": "after"})
                return [first.text, second.text]

        assert run(scenario()) == ["before", "after"]
        assert server.handshakes == 2
        assert len(server.clients) == 1
        assert server.seen.count("tools/call") == 3
        # The renewal knows the era already, and takes no leave of a session that is gone.
        assert server.seen.count("server/discover") == 1
        assert server.seen.count("DELETE") == 1


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (404, -32600, "Session not found"),
        (404, -32001, "Session not found"),
        (400, -32000, "Bad Request: No valid session ID provided"),
        (400, -32600, "Bad Request: Missing session ID"),
    ],
)
def test_every_way_in_which_servers_refuse_an_unknown_session_leads_to_a_renewal(status: int, code: int, message: str):
    async def refuse_old_session(request: Request, call: JSON) -> Response | None:
        known = call.get("method") in ("initialize", "server/discover") or not server.sessions
        if known or request.headers.get("mcp-session-id") in server.sessions:
            return None
        error = {"code": code, "message": message}
        return JSONResponse({"jsonrpc": "2.0", "id": call.get("id"), "error": error}, status_code=status)

    with serving(LegacyServer(intercept=refuse_old_session)) as server:

        async def scenario() -> str:
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url), pool)
                await tools.call("echo", {"text": "1"})
                server.end_sessions()
                server.sessions.add("somebody else's")
                return (await tools.call("echo", {"text": "2"})).text

        assert run(scenario()) == "2"
        assert server.handshakes == 2


def test_calls_that_notice_the_loss_together_share_one_renewal():
    with serving(LegacyServer()) as server:

        async def scenario() -> list[str]:
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url), pool)
                await tools.call("echo", {"text": "first"})
                server.end_sessions()
                results = await asyncio.gather(*(tools.call("echo", {"text": str(n)}) for n in range(10)))
                return [result.text for result in results]

        assert run(scenario()) == [str(n) for n in range(10)]
        assert server.handshakes == 2


def test_a_call_is_repeated_only_once():
    async def forget_at_once(params: JSON) -> Response:
        server.end_sessions()
        return Response(status_code=404)

    with serving(LegacyServer(on_call=forget_at_once)) as server:

        async def scenario() -> None:
            async with SessionPool() as pool:
                await MCPToolset(StreamableHTTPServer(server.url), pool).call("echo", {"text": "?"})

        with pytest.raises(MCPSessionLost, match="ended the session before .* and a new one as well"):
            run(scenario())
        assert server.calls() == 2
        assert server.handshakes == 2


def test_idle_sessions_use_one_connection_for_any_number_of_calls():
    with serving(LegacyServer()) as server:

        async def scenario() -> None:
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url), pool)
                for number in range(20):
                    await tools.call("echo", {"text": str(number)})

        run(scenario())
        assert len(server.clients) == 1
        assert server.handshakes == 1


def test_answers_that_come_as_event_streams_leave_their_connections_usable():
    async def stream(request: Request, message: JSON) -> Response | None:
        if message.get("method") != "tools/call":
            return None

        async def events() -> AsyncIterator[str]:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": text_result("streamed")}
            yield f"event: message\ndata: {json.dumps(answer)}\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    with serving(LegacyServer(intercept=stream)) as server:

        async def scenario() -> list[str]:
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url), pool)
                return [(await tools.call("echo", {"text": str(number)})).text for number in range(30)]

        assert run(scenario()) == ["streamed"] * 30
        # The next call may overtake the end of the stream before it; more connections than that never pile up.
        assert len(server.clients) <= 3


def test_equal_server_values_share_a_session_and_different_headers_do_not():
    with serving(LegacyServer()) as server:

        async def scenario() -> None:
            async with SessionPool() as pool:
                for headers in ({"X-User": "ann"}, {"X-User": "ann"}, {"X-User": "bob"}):
                    session = pool.session(StreamableHTTPServer(server.url, headers=headers))
                    await session.call_tool("echo", {"text": "x"})

        run(scenario())
        assert server.handshakes == 2
        assert {headers["x-user"] for headers in server.headers} == {"ann", "bob"}


def test_a_connection_that_breaks_during_a_call_leaves_the_outcome_unknown():
    with serving(LegacyServer(on_call=break_off)) as server:

        async def scenario() -> None:
            async with SessionPool() as pool:
                await MCPToolset(StreamableHTTPServer(server.url), pool).call("echo", {"text": "x"})

        with pytest.raises(
            MCPSessionLost, match="unknown whether the call took effect; find that out before you repeat"
        ):
            run(scenario())
        assert server.calls() == 1


def test_a_call_marked_as_read_only_is_repeated_when_its_outcome_is_unknown():
    tool = {**ECHO, "annotations": {"readOnlyHint": True}}
    with serving(LegacyServer(tools=[tool], on_call=break_off_once())) as server:

        async def scenario() -> str:
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url), pool)
                await tools.list()
                return (await tools.call("echo", {"text": "x"})).text

        assert run(scenario()) == "second time"
        assert server.calls() == 2
        assert server.handshakes == 2


def test_one_broken_call_does_not_disturb_the_others_on_the_session():
    gate = threading.Event()

    async def slow_or_broken(params: JSON) -> JSON | Response:
        if params["arguments"]["text"] == "break":
            return await break_off(params)
        await asyncio.to_thread(gate.wait, 5)
        return text_result("slow but sure")

    with serving(LegacyServer(on_call=slow_or_broken)) as server:

        async def scenario() -> str:
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url), pool)
                slow = asyncio.create_task(tools.call("echo", {"text": "slow"}))
                await until(lambda: server.calls() == 1)
                with pytest.raises(MCPSessionLost):
                    await tools.call("echo", {"text": "break"})
                gate.set()
                return (await slow).text

        assert run(scenario()) == "slow but sure"


def test_a_server_that_has_lost_the_tool_says_so():
    async def no_such_tool(params: JSON) -> JSON:
        return {"code": -32602, "message": f"Unknown tool: {params['name']}"}

    with serving(LegacyServer(on_call=no_such_tool)) as server:

        async def scenario() -> None:
            async with SessionPool() as pool:
                await pool.session(StreamableHTTPServer(server.url)).call_tool("gone", {})

        with pytest.raises(MCPToolNotFoundError, match="no tool 'gone' .* list its tools again"):
            run(scenario())


@pytest.mark.parametrize("code", [-32602, -32603, -32000, -32050, 7])
def test_an_error_that_the_server_answers_to_a_call_is_the_tools_failure(code: int):
    async def refuse(params: JSON) -> JSON:
        return {"code": code, "message": "the moon is not in the right place"}

    with serving(LegacyServer(on_call=refuse)) as server:

        async def scenario() -> tuple[bool, str]:
            async with SessionPool() as pool:
                result = await pool.session(StreamableHTTPServer(server.url)).call_tool("echo", {})
                return result.is_error, result.text

        assert run(scenario()) == (True, "the moon is not in the right place")
        assert server.handshakes == 1


def test_a_closed_pool_closes_its_sessions_and_can_be_used_again():
    with serving(LegacyServer()) as server:

        async def scenario() -> None:
            pool = SessionPool()
            session = pool.session(StreamableHTTPServer(server.url))
            await session.call_tool("echo", {"text": "x"})
            await pool.close()
            with pytest.raises(MCPConnectionError, match="is closed"):
                await session.call_tool("echo", {"text": "x"})
            async with pool:
                await pool.session(StreamableHTTPServer(server.url)).call_tool("echo", {"text": "x"})

        run(scenario())
        assert server.handshakes == 2
        assert server.sessions == set()


async def break_off(params: JSON) -> Response:
    return BrokenOff()


def break_off_once() -> Callable[[JSON], Awaitable[JSON | Response]]:
    times = iter([break_off])

    async def answer(params: JSON) -> JSON | Response:
        failing = next(times, None)
        return text_result("second time") if failing is None else await failing(params)

    return answer
