"""A server of the era before 2026, over streamable HTTP with JSON answers, that counts and misbehaves on demand."""

import json
import socket
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

JSON = dict[str, Any]

ECHO: JSON = {
    "name": "echo",
    "description": "Gives the text back.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


class BrokenOff(Response):
    """An answer that ends before it is complete."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"100")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"jsonrpc"', "more_body": True})


def text_result(text: str) -> JSON:
    return {"content": [{"type": "text", "text": text}]}


@dataclass
class LegacyServer:
    """What the server does, and what it has seen.

    Attributes:
        tools: What `tools/list` gives.
        pages: How `tools/list` answers a cursor, if it comes in pages.
        on_call: What `tools/call` gives; may return a whole response.
        intercept: Sees every request first; what it returns is the response.
        handshakes: How often `initialize` came.
        seen: The methods of all messages, in order.
        clients: Ports of all TCP connections.
        cancelled: Ids of cancelled requests.
        sessions: The sessions that are alive.
    """

    tools: list[JSON] = field(default_factory=lambda: [ECHO])
    pages: Callable[[str | None], JSON] | None = None
    on_call: Callable[[JSON], Awaitable[JSON | Response]] | None = None
    intercept: Callable[[Request, JSON], Awaitable[Response | None]] | None = None
    handshakes: int = 0
    seen: list[str] = field(default_factory=list[str])
    clients: set[int] = field(default_factory=set[int])
    cancelled: list[Any] = field(default_factory=list[Any])
    sessions: set[str] = field(default_factory=set[str])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    url: str = ""

    def end_sessions(self) -> None:
        """Forgets every session, as a restarted server does."""
        self.sessions.clear()

    def calls(self) -> int:
        """How many times a tool was called."""
        return self.seen.count("tools/call")

    async def handle(self, request: Request) -> Response:
        """Answers an HTTP request."""
        assert request.client is not None
        self.clients.add(request.client.port)
        self.headers.append(dict(request.headers))
        message: JSON = json.loads(await request.body() or b"{}")
        self.seen.append(message.get("method", request.method))
        if self.intercept is not None and (response := await self.intercept(request, message)) is not None:
            return response
        session = request.headers.get("mcp-session-id", "")
        if request.method == "DELETE":
            self.sessions.discard(session)
            return Response(status_code=200)
        if request.method == "GET":
            return Response(status_code=405)
        if message["method"] == "initialize":
            return self._initialize(message)
        if message["method"] == "server/discover":
            return _failed(message, -32601, "Method not found")
        if session not in self.sessions:
            return JSONResponse({"error": "no such session"}, status_code=404)
        return await self._in_session(message)

    def _initialize(self, message: JSON) -> Response:
        self.handshakes += 1
        session = uuid.uuid4().hex
        self.sessions.add(session)
        result: JSON = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "legacy", "version": "1"},
        }
        return _done(message, result, {"Mcp-Session-Id": session})

    async def _in_session(self, message: JSON) -> Response:
        params: JSON = message.get("params", {})
        if "id" not in message:
            if message["method"] == "notifications/cancelled":
                self.cancelled.append(params["requestId"])
            return Response(status_code=202)
        if message["method"] == "tools/list":
            return _done(message, self.pages(params.get("cursor")) if self.pages else {"tools": self.tools})
        result = text_result(str(params["arguments"].get("text"))) if self.on_call is None else None
        if result is None:
            assert self.on_call is not None
            answer = await self.on_call(params)
            if isinstance(answer, Response):
                return answer
            result = answer
        if "code" in result:
            return _failed(message, result["code"], result["message"])
        return _done(message, result)


def _done(message: JSON, result: JSON, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result}, headers=headers)


def _failed(message: JSON, code: int, text: str) -> Response:
    return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text}})


@contextmanager
def serving(server: LegacyServer, *, path: str = "/mcp") -> Generator[LegacyServer]:
    """The server on a free port, in a thread; its `url` is set."""
    app = Starlette(routes=[Route(path, server.handle, methods=["GET", "POST", "DELETE"])])
    with serving_app(app) as origin:
        server.url = origin + path
        yield server


@contextmanager
def serving_app(app: Any) -> Generator[str]:
    """The origin of an ASGI app on a free port, in a thread."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", lifespan="off", ws="none", timeout_graceful_shutdown=1)
    runner = uvicorn.Server(config)
    thread = threading.Thread(target=runner.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        deadline = time.monotonic() + 10
        tick = threading.Event()
        while not runner.started:
            assert time.monotonic() < deadline and thread.is_alive(), "the test server did not start"
            tick.wait(0.005)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        runner.should_exit = True
        thread.join(10)
        listener.close()
