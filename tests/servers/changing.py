"""A server of MCP 2026-07-28 whose tool can be changed while it runs: `python changing.py stdio|streamable-http`.

It is made with the SDK's `MCPServer`, which announces that it tells about changes. `count` says how often its tools
have been listed.
"""

import socket
import sys
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("changing", version="1")
listings = 0
list_tools = server.list_tools


async def counted(*args: Any, **options: Any) -> Any:
    global listings
    listings += 1
    return await list_tools(*args, **options)


server.list_tools = counted


def echo(text: str) -> str:
    return text


server.add_tool(echo, description="Gives the text back.")


@server.tool()
async def change(description: str, ctx: Context) -> str:
    """Describes the other tool in another way, and tells."""
    server.remove_tool("echo")
    server.add_tool(echo, description=description)
    await ctx.notify_tools_changed()
    return "changed"


@server.tool()
def count() -> int:
    """How often the tools have been listed."""
    return listings


def main(transport: str) -> None:
    if transport == "stdio":
        server.run()
        return
    listener = socket.create_server(("127.0.0.1", 0))
    print("ready", listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])
