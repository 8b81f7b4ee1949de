"""The MCP servers that the Java tests call: `python -m tests.cross_language.mcp_server WHICH`.

`sdk` is a server of the official SDK, with the options `--json`, `--stateless` and `--forget-once`; `toolbox` and
`everything` are the servers of the Python tests. Prints the URL on the first line, or `skip:` and why there is none,
and stops when its standard input is closed.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any

import pytest
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from tests.servers.everything import everything
from tests.servers.process import mcpserver

server = MCPServer("cross-language", log_level="ERROR")


@server.tool()
def echo(text: str) -> str:
    """Gives the text back."""
    return text


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: float, b: float) -> dict[str, float]:
    """Adds two numbers."""
    return {"sum": a + b}


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ToolError("the printer is on fire")


@server.tool()
def large(letters: int) -> str:
    """Gives a long text."""
    return "ä" * letters


@server.tool()
async def slow(seconds: float) -> str:
    """Takes its time."""
    await asyncio.sleep(seconds)
    return "at last"


@server.tool()
async def reports(ctx: Context[Any, Any]) -> str:
    """Tells about its progress before it answers."""
    for step in range(3):
        await ctx.report_progress(step, 3, "a step")
    return "done"


class ForgetsOnce:
    """Lets the server meet an unknown session id once, at the first call of a tool."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._forgets = True

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        names = [name for name, _ in scope.get("headers", ())]
        if scope["type"] == "http" and scope["method"] == "POST" and b"mcp-protocol-version" in names:
            body = await receive()
            if self._forgets and b'"tools/call"' in body["body"]:
                self._forgets = False
                headers = [
                    (name, b"0" * 32 if name == b"mcp-session-id" else value) for name, value in scope["headers"]
                ]
                scope = scope | {"headers": headers}
            bodies = iter([body])

            async def replay() -> Any:
                return next(bodies, None) or await receive()

            return await self._app(scope, replay, send)
        return await self._app(scope, receive, send)


def _wait_for_the_end(url: str) -> None:
    print(url, flush=True)
    sys.stdin.read()


async def serve_sdk(options: list[str]) -> None:
    """Serves until standard input ends."""
    app: Any = server.streamable_http_app(json_response="--json" in options, stateless_http="--stateless" in options)
    if "--forget-once" in options:
        app = ForgetsOnce(app)
    listener = socket.create_server(("127.0.0.1", 0))
    running = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
    task = asyncio.create_task(running.serve([listener]))
    await asyncio.to_thread(_wait_for_the_end, f"http://127.0.0.1:{listener.getsockname()[1]}/mcp")
    running.should_exit = True
    await task


def main(which: str, *options: str) -> None:
    """Runs one of the servers."""
    if which == "sdk":
        asyncio.run(serve_sdk(list(options)))
        return
    try:
        with mcpserver("streamable-http") if which == "toolbox" else everything("streamableHttp") as url:
            _wait_for_the_end(url)
    except pytest.skip.Exception as skipped:
        print(f"skip: {skipped.msg}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
