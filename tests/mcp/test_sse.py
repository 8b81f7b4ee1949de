"""HTTP+SSE: one stream in, one POST per message out, and everything that can go wrong with them."""

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from knime_ext.errors import MCPConnectionError, MCPSessionLost, MCPTimeout
from knime_ext.mcp import Limits, MCPToolset, SessionPool, SSEServer, Timeouts
from tests.mcp.bench import called, listed, run, until
from tests.servers.legacy import JSON, serving_app, text_result
from tests.servers.sse import SSEServerDouble, serving_sse


def test_a_closed_event_stream_is_noticed_and_the_next_call_opens_a_new_one():
    with serving_sse(SSEServerDouble()) as server:

        async def scenario() -> str:
            async with SessionPool() as pool:
                tools = MCPToolset(SSEServer(server.url), pool)
                await tools.call("echo", {"text": "1"})
                server.end_streams()
                return (await tools.call("echo", {"text": "2"})).text

        assert run(scenario()) == "as always"
        assert server.handshakes == 2


def test_a_refused_message_renews_the_session_over_the_same_client_and_the_call_answers():
    with serving_sse(SSEServerDouble()) as server:

        async def scenario() -> str:
            async with SessionPool() as pool:
                tools = MCPToolset(SSEServer(server.url), pool)
                await tools.call("echo", {"text": "1"})
                server.forget_sessions()
                return (await tools.call("echo", {"text": "2"})).text

        assert run(scenario()) == "as always"
        assert server.handshakes == 2
        assert server.calls == 2


def test_calls_share_two_connections_however_many_there_are():
    with serving_sse(SSEServerDouble()) as server:

        async def scenario() -> None:
            async with SessionPool() as pool:
                tools = MCPToolset(SSEServer(server.url), pool)
                for _ in range(20):
                    await tools.call("echo", {"text": "x"})

        run(scenario())
        assert len(server.clients) == 2, "one for the stream, one for the messages"


def test_a_stream_that_ends_during_a_call_leaves_the_outcome_unknown():
    async def hang_up(params: JSON) -> None:
        server.end_streams()

    with serving_sse(SSEServerDouble(on_call=hang_up)) as server:
        with pytest.raises(MCPSessionLost, match="unknown whether the call took effect"):
            called(SSEServer(server.url), "echo", {"text": "x"})
        assert server.calls == 1


def test_an_event_of_more_than_a_megabyte_arrives():
    async def much(params: JSON) -> JSON:
        return text_result("x" * 5_000_000)

    with serving_sse(SSEServerDouble(on_call=much)) as server:
        assert len(called(SSEServer(server.url), "echo", {}).text) == 5_000_000


def test_an_event_beyond_the_limit_fails_with_the_reason_and_the_session_recovers():
    async def sometimes_too_much(params: JSON) -> JSON:
        return text_result("x" * params["arguments"]["size"])

    with serving_sse(SSEServerDouble(on_call=sometimes_too_much)) as server:

        async def scenario() -> str:
            async with SessionPool() as pool:
                limited = SSEServer(server.url, limits=Limits(answer_bytes=100_000))
                tools = MCPToolset(limited, pool)
                with pytest.raises(MCPConnectionError, match="event larger than the 100000 bytes that are allowed"):
                    await tools.call("echo", {"size": 500_000})
                return (await tools.call("echo", {"size": 3})).text

        assert run(scenario()) == "xxx"


def test_broken_json_in_an_event_is_named_when_time_is_up():
    async def nonsense(params: JSON) -> str:
        return '{"jsonrpc": "2.0", "id": '

    with serving_sse(SSEServerDouble(on_call=nonsense)) as server:
        with pytest.raises(MCPTimeout, match=r"within 0.3 s \(messages of it that are not JSON-RPC: 1\)"):
            called(SSEServer(server.url, timeouts=Timeouts(call=0.3)), "echo", {})


def test_cancelling_a_call_sends_the_notification_of_the_old_era():
    async def never(params: JSON) -> None:
        return None

    with serving_sse(SSEServerDouble(on_call=never)) as server:

        async def scenario() -> None:
            async with SessionPool() as pool:
                call = asyncio.create_task(MCPToolset(SSEServer(server.url), pool).call("echo", {}))
                await until(lambda: server.calls == 1)
                call.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call
                await until(lambda: len(server.cancelled) == 1)

        run(scenario())


def test_a_server_that_sends_messages_elsewhere_is_refused():
    with serving_sse(SSEServerDouble(endpoint="http://example.invalid/messages?session=")) as server:
        listing = listed(SSEServer(server.url))
        assert listing.error is not None
        assert "wants messages sent to a different host" in listing.error


def test_a_redirect_within_the_host_is_followed_and_to_another_host_is_not():
    async def redirect(request: Request) -> Response:
        return RedirectResponse(targets[request.url.path])

    double = SSEServerDouble()
    targets = {"/short": "/sse", "/away": "http://example.invalid/sse", "/circle": "/circle"}
    redirects = [
        *(Route(path, redirect, methods=["GET"]) for path in targets),
        Route("/sse", double.events, methods=["GET"]),
        Route("/messages", double.message, methods=["POST"]),
    ]
    with serving_app(Starlette(routes=redirects)) as origin:
        assert listed(SSEServer(origin + "/short")).error is None
        away = listed(SSEServer(origin + "/away")).error
        circle = listed(SSEServer(origin + "/circle")).error
        double.end_streams()
    assert away == f"server '{origin}/away' moved to 'http://example.invalid/sse'; use that address if you trust it"
    assert circle == f"server '{origin}/circle' redirects without end; check its address"


def test_a_stream_that_ends_before_it_says_where_messages_go_is_named():
    async def empty(request: Request) -> Response:
        return StreamingResponse(iter([": hello\n\n", "event: other\ndata: x\n\n"]), media_type="text/event-stream")

    with serving_app(Starlette(routes=[Route("/sse", empty)])) as origin:
        error = listed(SSEServer(origin + "/sse")).error
    assert error is not None
    assert "does not keep to HTTP+SSE: the server closed the event stream before it said where messages go" in error


def test_many_sessions_come_and_go_without_leaving_streams_open():
    with serving_sse(SSEServerDouble()) as server:
        for _ in range(3):
            assert listed(SSEServer(server.url)).error is None
        assert server.handshakes == 3
