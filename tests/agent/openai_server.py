"""A real HTTP server that speaks OpenAI's chat completions API from a script."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

Body = dict[str, Any]
Reply = Callable[[Body], Response]


def completion(content: str | None = None, calls: Sequence[tuple[str, Any]] = (), finish: str | None = None) -> Reply:
    """A reply with a text, with tool calls (name and arguments; a str is sent as it is), or with both."""
    tool_calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": args if isinstance(args, str) else json.dumps(args)},
        }
        for number, (name, args) in enumerate(calls, start=1)
    ]
    message = {"role": "assistant", "content": content} | ({"tool_calls": tool_calls} if tool_calls else {})
    choice = {"index": 0, "message": message, "finish_reason": finish or ("tool_calls" if tool_calls else "stop")}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return lambda body: JSONResponse(
        {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}
        | {"usage": usage}
    )


def failure(status: int, message: str) -> Reply:
    return lambda body: JSONResponse({"error": {"message": message, "type": "error"}}, status_code=status)


@dataclass
class Service:
    url: str
    requests: list[Body] = field(default_factory=list[Body])
    keys: list[str] = field(default_factory=list[str])


@contextmanager
def openai_service(replies: Sequence[Reply]) -> Generator[Service]:
    """Runs the server in a thread; replies are used in order, the last one again and again."""
    service = Service("")

    async def chat(request: Request) -> Response:
        body = await request.json()
        service.requests.append(body)
        service.keys.append(request.headers["authorization"])
        return replies[min(len(service.requests), len(replies)) - 1](body)

    app = Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=2))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    service.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    try:
        yield service
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
        assert not thread.is_alive()
