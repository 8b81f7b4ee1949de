"""Servers that die, hang, flood or talk nonsense: a clear sentence in time, and nothing left behind."""

import asyncio
import gzip
import time
from collections.abc import AsyncIterator

import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse

from knime_ext.errors import MCPAuthError, MCPConnectionError, MCPError, MCPSessionLost, MCPTimeout
from knime_ext.mcp import (
    Limits,
    MCPToolset,
    SessionPool,
    SSEServer,
    StreamableHTTPServer,
    Timeouts,
    ToolProblem,
    URLServer,
    list_servers,
)
from tests.mcp.bench import called, listed, run
from tests.servers.legacy import ECHO, JSON, BrokenOff, LegacyServer, serving, text_result
from tests.servers.process import free_port, mcpserver

QUICK = Timeouts(connect=0.5, list=0.5, call=0.5)


@pytest.mark.parametrize("transport", ["sse", "streamable-http"])
def test_a_server_that_dies_during_a_call_is_a_lost_session(transport: str):
    with mcpserver(transport) as url:
        server = SSEServer(url) if transport == "sse" else StreamableHTTPServer(url)
        with pytest.raises(MCPSessionLost, match=r"connection before it could answer the call of tool 'die'"):
            called(server, "die")
        with pytest.raises(MCPConnectionError, match=r"cannot reach server .* check that it runs"):
            called(server, "add", {"a": 1, "b": 1})


@pytest.mark.parametrize(
    ("stage", "sentence"),
    [
        ("initialize", "did not complete the MCP handshake within 0.5 s"),
        ("tools/list", "did not list its tools within 0.5 s"),
    ],
)
def test_a_server_that_hangs_is_given_up_in_time_at_every_step(stage: str, sentence: str):
    async def hang(request: Request, message: JSON) -> Response | None:
        if message.get("method") == stage:
            await asyncio.sleep(3600)
        return None

    with serving(LegacyServer(intercept=hang)) as server:
        started = time.monotonic()
        listing = listed(StreamableHTTPServer(server.url, timeouts=QUICK))
        assert listing.error is not None and sentence in listing.error
        assert time.monotonic() - started < 5


def test_a_call_that_hangs_is_given_up_in_time_and_the_session_goes_on():
    async def hang_once(params: JSON) -> JSON:
        if server.calls() == 1:
            await asyncio.sleep(3600)
        return text_result("fine")

    with serving(LegacyServer(on_call=hang_once)) as server:

        async def scenario() -> str:
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url, timeouts=QUICK), pool)
                with pytest.raises(MCPTimeout, match="did not answer the call of tool 'echo' within 0.5 s"):
                    await tools.call("echo", {})
                return (await tools.call("echo", {})).text

        assert run(scenario()) == "fine"
        assert server.handshakes == 1
        assert len(server.cancelled) == 1


def test_broken_json_is_named_at_once():
    async def nonsense(params: JSON) -> Response:
        return Response('{"jsonrpc": "2.0", ', media_type="application/json")

    with serving(LegacyServer(on_call=nonsense)) as server:
        with pytest.raises(MCPConnectionError, match="answered with broken JSON"):
            called(StreamableHTTPServer(server.url), "echo")


def test_broken_json_in_a_list_is_data():
    async def nonsense(request: Request, message: JSON) -> Response | None:
        broken = Response("[[[[", media_type="application/json")
        return broken if message.get("method") == "tools/list" else None

    with serving(LegacyServer(intercept=nonsense)) as server:
        listing = listed(StreamableHTTPServer(server.url))
        assert listing.error == f"server {server.url!r} answered with broken JSON; see its log"
        assert (listing.definitions, listing.era) == ((), "2025-06-18")


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize("media_type", ["application/json", "text/event-stream"])
def test_fifty_megabytes_are_not_read_to_their_end(announced: bool, media_type: str):
    sent = 0

    async def flood(request: Request, message: JSON) -> Response | None:
        if message.get("method") != "tools/call":
            return None

        async def chunks() -> AsyncIterator[bytes]:
            nonlocal sent
            yield b'data: "' if media_type == "text/event-stream" else b'"'
            while sent < 50 * 1024 * 1024 and not await request.is_disconnected():
                sent += 65536
                yield b"x" * 65536

        headers = {"content-length": str(50 * 1024 * 1024 + 7)} if announced else None
        return StreamingResponse(chunks(), media_type=media_type, headers=headers)

    with serving(LegacyServer(intercept=flood)) as server:
        limited = StreamableHTTPServer(server.url, limits=Limits(answer_bytes=1024 * 1024))
        with pytest.raises(MCPConnectionError, match="raise `answer_bytes` in the limits of the server"):
            called(limited, "echo")
        assert sent < 25 * 1024 * 1024
        assert server.calls() == 1


def test_fifty_megabytes_over_a_higher_limit_arrive():
    async def much(params: JSON) -> JSON:
        return text_result("x" * 50_000_000)

    with serving(LegacyServer(on_call=much)) as server:
        generous = StreamableHTTPServer(server.url, limits=Limits(answer_bytes=64_000_000))
        assert len(called(generous, "echo").text) == 50_000_000


def test_a_compressed_answer_is_refused_because_it_might_unpack_to_anything():
    async def bomb(params: JSON) -> Response:
        headers = {"content-encoding": "gzip"}
        return Response(gzip.compress(b"0" * 10_000_000), media_type="application/json", headers=headers)

    with serving(LegacyServer(on_call=bomb)) as server:
        with pytest.raises(MCPConnectionError, match="it sent a compressed answer, although asked not to"):
            called(StreamableHTTPServer(server.url), "echo")


def test_one_malformed_tool_among_good_ones_is_a_problem_and_hides_nothing():
    tools: list[JSON] = [
        {**ECHO, "name": "first"},
        {"name": "no schema"},
        {"name": "typo", "inputSchema": {"type": "object", "properties": {"n": {"type": "intger"}}}},
        {"inputSchema": {"type": "object"}},
        {**ECHO, "name": "first"},
        {**ECHO, "name": "last"},
    ]
    with serving(LegacyServer(tools=tools)) as server:
        listing = listed(StreamableHTTPServer(server.url))
    assert [definition.name for definition in listing.definitions] == ["first", "last"]
    assert listing.error is None
    assert listing.problems == (
        ToolProblem(name="no schema", reason="'inputSchema': Field required"),
        ToolProblem(
            name="typo",
            reason="its 'inputSchema' is not a JSON Schema: 'properties.n.type' is not a JSON type: 'intger'",
        ),
        ToolProblem(name="#4", reason="'name': Field required"),
        ToolProblem(name="first", reason="is listed more than once; only the first one is used"),
    )


def test_a_server_without_any_tools_lists_none_and_that_is_no_error():
    async def only_prompts(request: Request, message: JSON) -> Response | None:
        info = {"name": "prompts", "version": "1"}
        greeting: JSON = {"protocolVersion": "2025-06-18", "capabilities": {"prompts": {}}, "serverInfo": info}
        match message.get("method"):
            case "initialize":
                return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": greeting})
            case "tools/list":
                error = {"code": -32601, "message": "Method not found"}
                return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "error": error})
            case _:
                return None

    with serving(LegacyServer(intercept=only_prompts)) as server:
        listing = listed(StreamableHTTPServer(server.url))
    assert (listing.error, listing.definitions, listing.era) == (None, (), "2025-06-18")


def test_every_page_of_a_list_is_read():
    def page(cursor: str | None) -> JSON:
        number = int(cursor or 0)
        result: JSON = {"tools": [{**ECHO, "name": f"tool {number}"}]}
        return {**result, "nextCursor": str(number + 1)} if number < 9 else result

    with serving(LegacyServer(pages=page)) as server:
        listing = listed(StreamableHTTPServer(server.url))
    assert [definition.name for definition in listing.definitions] == [f"tool {number}" for number in range(10)]
    assert listing.error is None


def test_a_list_that_goes_round_in_circles_ends_with_what_was_good():
    def page(cursor: str | None) -> JSON:
        return {"tools": [{**ECHO, "name": f"after {cursor}"}], "nextCursor": "a" if cursor == "b" else "b"}

    with serving(LegacyServer(pages=page)) as server:
        listing = listed(StreamableHTTPServer(server.url))
    assert [definition.name for definition in listing.definitions] == ["after None", "after b", "after a"]
    assert listing.error is not None and "goes round in circles" in listing.error


def test_a_list_without_end_stops_at_the_limits():
    def page(cursor: str | None) -> JSON:
        number = int(cursor or 0)
        return {"tools": [{**ECHO, "name": f"{number}-{n}"} for n in range(10)], "nextCursor": str(number + 1)}

    with serving(LegacyServer(pages=page)) as server:
        few_pages = listed(StreamableHTTPServer(server.url, limits=Limits(pages=5)))
        few_tools = listed(StreamableHTTPServer(server.url, limits=Limits(tools=25)))
    assert (len(few_pages.definitions), few_pages.error and "more than 5 pages" in few_pages.error) == (50, True)
    assert (len(few_tools.definitions), few_tools.error and "more than 25 tools" in few_tools.error) == (25, True)


def test_a_list_that_fails_on_its_second_page_keeps_the_first():
    async def fail_later(request: Request, message: JSON) -> Response | None:
        if message.get("method") != "tools/list" or not message.get("params", {}).get("cursor"):
            return None
        return JSONResponse({"error": "out of order"}, status_code=500)

    def page(cursor: str | None) -> JSON:
        return {"tools": [ECHO], "nextCursor": "2"}

    with serving(LegacyServer(pages=page, intercept=fail_later)) as server:
        listing = listed(StreamableHTTPServer(server.url))
    assert [definition.name for definition in listing.definitions] == ["echo"]
    assert listing.error == f"server {server.url!r} did not list its tools: HTTP 500; check its address and its log"


def test_an_unreachable_server_is_data_and_does_not_hide_another():
    dead = URLServer(f"http://127.0.0.1:{free_port()}/mcp")
    with serving(LegacyServer()) as server:

        async def scenario():
            async with SessionPool() as pool:
                return await list_servers([dead, StreamableHTTPServer(server.url)], pool)

        first, second = run(scenario())
    assert first.error is not None
    assert first.error.startswith(f"cannot reach server {dead.url!r}")
    assert (first.definitions, first.era, first.server) == ((), None, dead)
    assert ([definition.name for definition in second.definitions], second.error) == (["echo"], None)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("stage", ["initialize", "tools/call"])
def test_refused_credentials_say_what_to_do_and_show_no_token(status: int, stage: str):
    async def refuse(request: Request, message: JSON) -> Response | None:
        return Response("no, s3cret-t0ken", status_code=status) if message.get("method") == stage else None

    with serving(LegacyServer(intercept=refuse)) as server:
        known = StreamableHTTPServer(server.url, headers={"Authorization": "Bearer s3cret-t0ken"})
        with pytest.raises(MCPAuthError) as caught:
            called(known, "echo")
    assert f"refused the credentials (HTTP {status}); give it a valid token" in str(caught.value)
    assert "s3cret-t0ken" not in str(caught.value) + repr(known)


def test_a_text_of_the_server_that_repeats_a_token_is_shown_without_it():
    async def betray(request: Request, message: JSON) -> Response | None:
        if message.get("method") != "tools/list":
            return None
        error = {"code": -32600, "message": "bad header: Bearer s3cret-t0ken\x1b[31m \u202e!"}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "error": error})

    with serving(LegacyServer(intercept=betray)) as server:
        listing = listed(StreamableHTTPServer(server.url, headers={"Authorization": "Bearer s3cret-t0ken"}))
    assert listing.error == f"server {server.url!r} did not list its tools: bad header: *** ! (error -32600)"


def test_a_web_page_instead_of_mcp_is_named():
    async def page(request: Request, message: JSON) -> Response:
        return HTMLResponse("<html><h1>Welcome</h1></html>")

    with serving(LegacyServer(intercept=page)) as server:
        one = listed(StreamableHTTPServer(server.url)).error
        either = listed(URLServer(server.url)).error
    assert one == (
        f"server {server.url!r} does not speak streamable HTTP (it answered with a web page); check the path of its "
        "address (usually /mcp or /sse)"
    )
    assert either == (
        f"server {server.url!r} speaks neither streamable HTTP (it answered with a web page) nor HTTP+SSE (it answered "
        "with a web page); check the path of its address (usually /mcp or /sse)"
    )


def test_a_redirect_to_somewhere_else_is_not_followed_but_named():
    async def elsewhere(request: Request, message: JSON) -> Response:
        return RedirectResponse("http://example.invalid/mcp?key=abc", status_code=307)

    with serving(LegacyServer(intercept=elsewhere)) as server:
        error = listed(StreamableHTTPServer(server.url)).error
    assert error == f"server {server.url!r} moved to 'http://example.invalid/mcp'; use that address if you trust it"


def test_a_busy_server_is_named_as_such():
    async def busy(params: JSON) -> Response:
        return Response(status_code=429)

    with serving(LegacyServer(on_call=busy)) as server:
        with pytest.raises(MCPError, match=r"is busy \(HTTP 429\); try again later"):
            called(StreamableHTTPServer(server.url), "echo")


def modern(calls: list[JSON], answers: list[JSON]) -> LegacyServer:
    """A server of today's era that answers calls with these results, one after the other."""

    async def answer(request: Request, message: JSON) -> Response:
        result: JSON = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
        if message["method"] == "server/discover":
            result |= {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        else:
            calls.append(message["params"])
            result = answers[min(len(calls), len(answers)) - 1]
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    return LegacyServer(intercept=answer)


def test_a_tool_that_wants_to_be_asked_again_is_asked_again_with_its_state():
    calls: list[JSON] = []
    later: JSON = {"resultType": "input_required", "requestState": "opaque ä"}
    with serving(modern(calls, [later, later, {"resultType": "complete", **text_result("done")}])) as server:
        assert called(StreamableHTTPServer(server.url), "slow", {"x": 1}).text == "done"
    assert [call.get("requestState") for call in calls] == [None, "opaque ä", "opaque ä"]
    assert [call["arguments"] for call in calls] == [{"x": 1}] * 3


def test_a_tool_that_never_comes_to_an_end_is_given_up():
    calls: list[JSON] = []
    with serving(modern(calls, [{"resultType": "input_required", "requestState": "s"}])) as server:
        result = called(StreamableHTTPServer(server.url), "slow")
    assert (result.is_error, result.text) == (True, "The tool 'slow' did not finish in 10 rounds.")
    assert len(calls) == 10


def test_a_tool_that_asks_a_person_for_input_tells_the_model_so():
    schema: JSON = {"type": "object", "properties": {}}
    question: JSON = {"method": "elicitation/create", "params": {"message": "Which?", "requestedSchema": schema}}
    ask: JSON = {"resultType": "input_required", "inputRequests": {"q": question}}
    with serving(modern([], [ask])) as server:
        result = called(StreamableHTTPServer(server.url), "curious")
    assert result.is_error
    assert "asks the person in front of the screen for input" in result.text


def test_a_kind_of_result_that_is_not_known_here_is_an_error():
    with serving(modern([], [{"resultType": "task", "taskId": "7"}])) as server:
        with pytest.raises(MCPConnectionError, match="sent an answer that is not valid MCP"):
            called(StreamableHTTPServer(server.url), "long")


def test_a_call_answered_with_plain_text_is_named():
    async def plain(params: JSON) -> Response:
        return Response("OK", media_type="text/plain")

    with serving(LegacyServer(on_call=plain)) as server:
        with pytest.raises(MCPConnectionError, match="answered with 'text/plain' instead of MCP; check the path"):
            called(StreamableHTTPServer(server.url), "echo")


@pytest.mark.parametrize(
    ("stage", "sentence"),
    [
        ("initialize", "broke the connection during the handshake; see its log"),
        ("tools/list", "broke the connection before it could list its tools; try again"),
    ],
)
def test_a_connection_that_breaks_is_named(stage: str, sentence: str):
    async def break_at(request: Request, message: JSON) -> Response | None:
        return BrokenOff() if message.get("method") == stage else None

    with serving(LegacyServer(intercept=break_at)) as server:
        error = listed(StreamableHTTPServer(server.url)).error
    assert error == f"server {server.url!r} {sentence}"


def test_the_toolset_gives_definitions_or_raises_what_the_listing_says():
    async def definitions(url: str) -> list[str]:
        async with SessionPool() as pool:
            toolset = MCPToolset(pool.server(url), pool)
            return [definition.name for definition in await toolset.list_definitions()]

    with serving(LegacyServer()) as server:
        assert run(definitions(server.url)) == ["echo"]
    with pytest.raises(MCPError, match="cannot reach server"):
        run(definitions(server.url))


def test_a_result_with_an_unknown_kind_of_block_is_kept_whole():
    hologram = {"type": "hologram", "data": "...", "_meta": {"a": 1}}

    async def newer(params: JSON) -> JSON:
        return {"content": [{"type": "text", "text": "see", "new": True}, hologram], "structuredContent": {"x": 1}}

    with serving(LegacyServer(on_call=newer)) as server:
        result = called(StreamableHTTPServer(server.url), "echo")
    assert list(result.content) == [{"type": "text", "text": "see", "new": True}, hologram]
    assert result.structured == {"x": 1}


def test_a_result_that_does_not_fit_the_tools_output_schema_is_not_thrown_away():
    tool = {**ECHO, "outputSchema": {"type": "object", "required": ["total"]}}

    async def misfit(params: JSON) -> JSON:
        return {**text_result("42"), "structuredContent": {"sum": 42}}

    with serving(LegacyServer(tools=[tool], on_call=misfit)) as server:

        async def scenario():
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url), pool)
                await tools.list()
                return await tools.call("echo", {})

        result = run(scenario())
    assert (result.text, result.structured, result.is_error) == ("42", {"sum": 42}, False)
