"""A plain URL finds out by itself what the server speaks, remembers it, and forgets it when it stops working."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from knime_ext.errors import MCPAuthError, MCPConnectionError, MCPTimeout
from knime_ext.mcp import MCPToolset, SessionPool, Timeouts, URLServer
from tests.mcp.bench import called, listed, run
from tests.servers.legacy import JSON, LegacyServer, serving, serving_app
from tests.servers.process import free_port, mcpserver
from tests.servers.sse import SSEServerDouble, serving_sse


@pytest.mark.parametrize("transport", ["sse", "streamable-http"])
def test_a_plain_url_works_with_either_transport(transport: str):
    with mcpserver(transport) as url:
        assert called(URLServer(url), "add", {"a": 2, "b": 3}).text == "5"


def test_the_verdict_is_remembered_by_the_whole_process():
    posts = 0

    async def count(request: Request) -> Response:
        nonlocal posts
        posts += 1
        return Response(status_code=405)

    double = SSEServerDouble()
    with serving_app(_sse_app_with_post(double, count)) as origin:
        url = origin + "/sse"
        assert listed(URLServer(url)).error is None
        assert posts > 0
        before = posts
        assert listed(URLServer(url)).error is None
        assert posts == before
        double.end_streams()


def test_a_verdict_that_no_longer_holds_is_forgotten():
    switched = False

    async def both(request: Request, message: JSON) -> Response | None:
        return Response(status_code=405) if switched else None

    double = SSEServerDouble()
    server = LegacyServer(intercept=both)

    async def post(request: Request) -> Response:
        return await server.handle(request)

    with serving_app(_sse_app_with_post(double, post)) as origin:
        url = URLServer(origin + "/sse")
        assert listed(url).era == "2025-06-18"
        switched = True
        assert listed(url).era == "2024-11-05"
        switched = False
        assert listed(url).era == "2024-11-05", "what works is kept"
        double.end_streams()


@pytest.mark.parametrize("status", [400, 404, 405, 406, 415, 501])
def test_a_refusal_that_is_about_the_transport_leads_to_the_fallback(status: int):
    async def refuse(request: Request) -> Response:
        return Response("<html>", status_code=status, media_type="text/html")

    double = SSEServerDouble()
    with serving_app(_sse_app_with_post(double, refuse)) as origin:
        assert listed(URLServer(origin + "/sse")).era == "2024-11-05"
        double.end_streams()


@pytest.mark.parametrize("status", [401, 403])
def test_refused_credentials_are_no_reason_for_the_fallback(status: int):
    async def refuse(request: Request, message: JSON) -> Response:
        return Response(status_code=status)

    with serving(LegacyServer(intercept=refuse)) as server:
        with pytest.raises(MCPAuthError):
            called(URLServer(server.url), "echo")
        assert "GET" not in server.seen


def test_neither_is_a_server_that_hangs_or_is_not_there():
    async def hang(request: Request, message: JSON) -> Response | None:
        await asyncio.sleep(3600)
        return None

    with serving(LegacyServer(intercept=hang)) as server:
        with pytest.raises(MCPTimeout):
            called(URLServer(server.url, timeouts=Timeouts(connect=0.3)), "echo")
        assert "GET" not in server.seen
    with pytest.raises(MCPConnectionError, match="cannot reach server"):
        called(URLServer(f"http://127.0.0.1:{free_port()}/mcp"), "echo")


def test_an_internal_error_is_no_reason_either():
    async def fail(request: Request, message: JSON) -> Response:
        return JSONResponse({}, status_code=500)

    with serving(LegacyServer(intercept=fail)) as server:
        with pytest.raises(MCPConnectionError, match="HTTP 500; check its address and its log"):
            called(URLServer(server.url), "echo")
        assert "GET" not in server.seen


def test_when_neither_is_spoken_both_answers_are_named():
    with serving_sse(SSEServerDouble()) as server:
        wrong = URLServer(server.url.replace("/sse", "/nothing"))

        async def scenario() -> None:
            async with SessionPool() as pool:
                await MCPToolset(wrong, pool).call("echo", {})

        with pytest.raises(MCPConnectionError, match="neither streamable HTTP .*HTTP 404.* nor HTTP.SSE .*HTTP 404"):
            run(scenario())


def _sse_app_with_post(double: SSEServerDouble, post: Callable[[Request], Awaitable[Response]]) -> Starlette:
    """HTTP+SSE at a URL that also answers a POST."""
    return Starlette(
        routes=[
            Route("/sse", double.events, methods=["GET"]),
            Route("/sse", post, methods=["POST"]),
            Route("/messages", double.message, methods=["POST"]),
        ]
    )
