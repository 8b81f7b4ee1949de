"""A real HTTP server that speaks OpenAI's chat completions API from a script, streamed if it is asked to."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Body = dict[str, Any]
Reply = Callable[[Body], "Response | Awaitable[Response]"]

_USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
_CLIENT_IS_GONE = 499


def completion(
    content: str | None = None,
    calls: Sequence[tuple[str, Any]] = (),
    finish: str | None = None,
    *,
    reasoning: str | None = None,
    pause_ms: float = 0,
    cut_after: int | None = None,
) -> Reply:
    """A reply with a text, with tool calls (name and arguments; a str is sent as it is), or with both.

    Args:
        content: The text. A stream sends it word by word.
        calls: The tool calls.
        finish: The finish reason; by default what fits.
        reasoning: What the model thinks, as `reasoning_content`.
        pause_ms: Pause before every chunk of a stream.
        cut_after: Number of chunks after which the connection of a stream breaks off.
    """
    tool_calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": args if isinstance(args, str) else json.dumps(args)},
        }
        for number, (name, args) in enumerate(calls, start=1)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": content}
    message |= ({"tool_calls": tool_calls} if tool_calls else {}) | (
        {"reasoning_content": reasoning} if reasoning else {}
    )
    reason = finish or ("tool_calls" if tool_calls else "stop")

    def reply(body: Body) -> Response:
        if body.get("stream"):
            events = _events(body, message, reason)
            return StreamingResponse(_sent(events, pause_ms / 1000, cut_after), media_type="text/event-stream")
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return JSONResponse(
            {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"]}
            | {"choices": [choice], "usage": _USAGE}
        )

    return reply


def _events(body: Body, message: dict[str, Any], reason: str) -> list[str]:
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    frame |= {"choices": [], "usage": None}
    deltas = [*_deltas(message), {}]
    chunks = [
        frame | {"choices": [{"index": 0, "delta": delta, "finish_reason": None if delta else reason}]}
        for delta in deltas
    ]
    options: Body = body.get("stream_options") or {}
    if options.get("include_usage"):
        chunks.append(frame | {"usage": _USAGE})
    return [*(json.dumps(chunk) for chunk in chunks), "[DONE]"]


def _deltas(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The pieces of a message: the role, thoughts, words, and every call as its name and two halves of arguments."""
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": word} for word in _words(message.get("reasoning_content"))]
    deltas += [{"content": word} for word in _words(message["content"])]
    for index, call in enumerate(message.get("tool_calls", [])):
        arguments = call["function"]["arguments"]
        middle = len(arguments) // 2
        opening = {"name": call["function"]["name"], "arguments": ""}
        deltas.append({"tool_calls": [call | {"index": index, "function": opening}]})
        for piece in (arguments[:middle], arguments[middle:]):
            deltas.append({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    return deltas


def _words(text: str | None) -> list[str]:
    return re.findall(r"\s*\S+|\s+$", text or "")


class _CutOff(Exception):
    """Makes the server close the connection in the middle of a response."""


async def _sent(events: Sequence[str], pause: float, cut_after: int | None) -> AsyncGenerator[bytes]:
    for number, event in enumerate(events):
        if number == cut_after:
            raise _CutOff
        await asyncio.sleep(pause)
        yield f"data: {event}\n\n".encode()


def failure(status: int, message: str, headers: dict[str, str] | None = None) -> Reply:
    return lambda body: JSONResponse(
        {"error": {"message": message, "type": "error"}}, status_code=status, headers=headers
    )


def rate_limited(retry_after: float | None = None) -> Reply:
    """The reply 429, with `Retry-After` in seconds."""
    headers = None if retry_after is None else {"retry-after": f"{retry_after:g}"}
    return failure(429, "Rate limit reached for requests", headers)


def delayed(reply: Reply, milliseconds: float) -> Reply:
    """The same reply after a while."""

    async def later(body: Body) -> Response:
        await asyncio.sleep(milliseconds / 1000)
        return await _response(reply, body)

    return later


def chosen(choose: Callable[[Body], Reply]) -> Reply:
    """A reply that depends on what was sent, so that many conversations can go on at the same time."""
    return lambda body: choose(body)(body)


async def _response(reply: Reply, body: Body) -> Response:
    response = reply(body)
    return await response if isawaitable(response) else response


def text_in(message: dict[str, Any]) -> str:
    """The text of one message that was sent."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def question_in(body: Body) -> str:
    """The last message of the user."""
    return next(text_in(message) for message in reversed(body["messages"]) if message["role"] == "user")


def results_in(body: Body) -> list[str]:
    """The results of tools after the last message of the user."""
    results: list[str] = []
    for message in body["messages"]:
        if message["role"] == "user":
            results = []
        elif message["role"] == "tool":
            results.append(text_in(message))
    return results


@dataclass
class Service:
    """What the server was asked.

    Attributes:
        url: Base URL.
        requests: Every body.
        keys: Every Authorization header.
        count: Number of requests.
        at_once: Requests that are being answered now.
        most_at_once: The most that ever were.
        dropped: Requests whose client went away before the answer was complete.
    """

    url: str
    requests: list[Body] = field(default_factory=list[Body])
    keys: list[str] = field(default_factory=list[str])
    count: int = 0
    at_once: int = 0
    most_at_once: int = 0
    dropped: int = 0


@contextmanager
def openai_service(replies: Sequence[Reply] | Reply, *, keep: bool = True) -> Generator[Service]:
    """Runs the server in a thread.

    Args:
        replies: Replies in order, the last one again and again; or one reply for all.
        keep: False keeps no requests, for tests with very many of them.
    """
    service = Service("")
    script = [replies] if callable(replies) else replies

    async def chat(request: Request) -> Response:
        body = await request.json()
        service.count += 1
        if keep:
            service.requests.append(body)
            service.keys.append(request.headers["authorization"])
        reply = script[min(service.count, len(script)) - 1]
        return await _unless_gone(request, asyncio.ensure_future(_response(reply, body)))

    app = _counting(Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])]), service)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=2))
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


async def _unless_gone(request: Request, reply: asyncio.Future[Response]) -> Response:
    """The reply, or 499 as soon as the client has gone away."""
    gone = asyncio.ensure_future(request.receive())
    await asyncio.wait({reply, gone}, return_when=asyncio.FIRST_COMPLETED)
    gone.cancel()
    if reply.done():
        return reply.result()
    reply.cancel()
    return Response(status_code=_CLIENT_IS_GONE)


def _counting(app: Any, service: Service) -> Any:
    """The app, with requests at once and dropped ones written down."""

    async def counted(scope: Any, receive: Any, send: Any) -> None:
        state = {"complete": False, "cut": False}

        async def noted(message: Any) -> None:
            await send(message)
            if message["type"] == "http.response.start":
                state["cut"] = message["status"] == _CLIENT_IS_GONE
            elif not message.get("more_body"):
                state["complete"] = True

        service.at_once += 1
        service.most_at_once = max(service.most_at_once, service.at_once)
        try:
            await app(scope, receive, noted)
            service.dropped += state["cut"] or not state["complete"]
        except _CutOff as cut:
            raise ConnectionAbortedError("cut off as the script says") from cut
        finally:
            service.at_once -= 1

    return counted
