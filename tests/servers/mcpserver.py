"""A server made with the SDK's `MCPServer`, run as a program: `python mcpserver.py stdio|sse|streamable-http`.

The HTTP transports take a free port and print `ready PORT` once they listen.
"""

import asyncio
import json
import os
import socket
import sys
from typing import Annotated, Any

import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

server = MCPServer("toolbox", version="1.2.3")
cancelled: list[str] = []


class Point(BaseModel):
    x: int
    y: int


@server.tool(title="Add two numbers", annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """Adds two whole numbers."""
    return a + b


@server.tool()
def greet(name: str, excited: bool = False) -> str:
    """Greets somebody."""
    return f"Hello, {name}{'!' if excited else '.'}"


@server.tool()
def mirror(point: Point) -> Point:
    """Mirrors a point at the origin."""
    return Point(x=-point.x, y=-point.y)


@server.tool()
def picture() -> Image:
    """A picture."""
    return Image(data=b"\x89PNG\r\n\x1a\n", format="png")


@server.tool()
def fail(reason: str) -> str:
    """Fails."""
    raise ValueError(reason)


@server.tool()
async def wait(name: str) -> str:
    """Waits until it is cancelled."""
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        cancelled.append(name)
        raise
    return "never"


@server.tool()
def cancellations() -> list[str]:
    """Which waits have been cancelled."""
    return cancelled


@server.tool()
def same(value: Any) -> str:
    """The value as JSON."""
    return json.dumps(value)


@server.tool()
def regional(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Its argument also travels as a header, where the transport has headers."""
    return f"served in {region}"


@server.tool()
def die() -> str:
    """Ends the process."""
    os._exit(3)


@server.tool()
def environment() -> dict[str, Any]:
    """What the process sees."""
    return {"pid": os.getpid(), "variables": dict(os.environ)}


@server.tool()
def flood(size: int) -> str:
    """A text of that many characters."""
    return "x" * size


@server.tool()
async def count_to(ctx: Context, number: int) -> str:
    """Reports progress."""
    for step in range(number):
        await ctx.report_progress(step, number)
    return f"counted to {number}"


def main(transport: str) -> None:
    if transport == "stdio":
        server.run()
        return
    app = server.sse_app() if transport == "sse" else server.streamable_http_app()
    listener = socket.create_server(("127.0.0.1", 0))
    print("ready", listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])
