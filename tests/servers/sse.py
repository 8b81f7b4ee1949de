"""A server over HTTP+SSE that counts and misbehaves on demand."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from tests.servers.legacy import ECHO, JSON, serving_app, text_result


@dataclass
class SSEServerDouble:
    """What the server does, and what it has seen.

    Attributes:
        on_call: What `tools/call` gives: a result, the text of an event as it is, or None for no answer.
        endpoint: Where messages go; the session is appended.
        handshakes: How often `initialize` came.
        clients: Ports of all TCP connections.
        streams: The open event streams, by session.
    """

    on_call: Callable[[JSON], Awaitable[JSON | str | None]] | None = None
    endpoint: str = "/messages?session="
    handshakes: int = 0
    calls: int = 0
    cancelled: list[object] = field(default_factory=list[object])
    clients: set[int] = field(default_factory=set[int])
    streams: dict[str, "asyncio.Queue[str | None]"] = field(default_factory=dict[str, "asyncio.Queue[str | None]"])
    loop: asyncio.AbstractEventLoop | None = None
    url: str = ""

    def end_streams(self) -> None:
        """Closes every event stream, as a server that shuts down does."""
        assert self.loop is not None
        streams, self.streams = self.streams, {}
        for stream in streams.values():
            self.loop.call_soon_threadsafe(stream.put_nowait, None)

    def forget_sessions(self) -> None:
        """Refuses messages from now on, with the event streams still open."""
        self.streams.clear()

    async def events(self, request: Request) -> Response:
        """Opens an event stream."""
        self._see(request)
        self.loop = asyncio.get_running_loop()
        session, stream = uuid.uuid4().hex, asyncio.Queue[str | None]()
        self.streams[session] = stream

        async def lines() -> AsyncIterator[str]:
            yield f"event: endpoint\ndata: {self.endpoint}{session}\n\n"
            while (data := await stream.get()) is not None:
                yield f"event: message\ndata: {data}\n\n"

        return StreamingResponse(lines(), media_type="text/event-stream")

    async def message(self, request: Request) -> Response:
        """Takes a message."""
        self._see(request)
        stream = self.streams.get(request.query_params["session"])
        if stream is None:
            return Response("no such session", status_code=404)
        message: JSON = json.loads(await request.body())
        answer = await self._answer(message)
        if answer is not None:
            stream.put_nowait(answer)
        return Response("Accepted", status_code=202)

    def _see(self, request: Request) -> None:
        assert request.client is not None
        self.clients.add(request.client.port)

    async def _answer(self, message: JSON) -> str | None:
        reply: JSON = {"jsonrpc": "2.0", "id": message.get("id")}
        match message["method"]:
            case "initialize":
                self.handshakes += 1
                info = {"name": "sse", "version": "1"}
                result: JSON = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": info}
            case "tools/list":
                result = {"tools": [ECHO]}
            case "tools/call":
                self.calls += 1
                answer = text_result("as always") if self.on_call is None else await self.on_call(message["params"])
                if not isinstance(answer, dict):
                    return answer
                result = answer
            case "notifications/cancelled":
                self.cancelled.append(message["params"]["requestId"])
                return None
            case method if "id" not in message:
                del method
                return None
            case _:
                return json.dumps({**reply, "error": {"code": -32601, "message": "Method not found"}})
        return json.dumps({**reply, "result": result})


@contextmanager
def serving_sse(server: SSEServerDouble) -> Generator[SSEServerDouble]:
    """The server on a free port, in a thread; its `url` is set."""
    routes = [
        Route("/sse", server.events, methods=["GET"]),
        Route("/messages", server.message, methods=["POST"]),
    ]
    with serving_app(Starlette(routes=routes)) as origin:
        server.url = origin + "/sse"
        try:
            yield server
        finally:
            if server.loop is not None:
                server.end_streams()
