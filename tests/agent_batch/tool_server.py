"""A real MCP server in a thread, which counts its calls, and a chat model service that uses it."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

import uvicorn
from mcp.server.mcpserver import MCPServer

from tests.agent.openai_server import Body, Reply, chosen, completion, question_in, results_in

MODEL = "tiny"


@dataclass
class ToolServer:
    """What the server was asked.

    Attributes:
        url: Address.
        calls: The argument of every call.
    """

    url: str = ""
    calls: list[str] = field(default_factory=list[str])


@contextmanager
def tool_server(milliseconds: float = 0) -> Generator[ToolServer]:
    """Runs a server with the tools `weigh` and `colour` over streamable HTTP."""
    known = ToolServer()
    server = MCPServer("scales")

    async def answered(name: str, text: str) -> str:
        known.calls.append(f"{name} {text}")
        await asyncio.sleep(milliseconds / 1000)
        return f"{name} of {text}"

    @server.tool()
    async def weigh(text: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """Weighs a thing."""
        return await answered("weight", text)

    @server.tool()
    async def colour(text: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """Says which colour a thing has."""
        return await answered("colour", text)

    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(server.streamable_http_app(), log_level="critical", timeout_graceful_shutdown=1)
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
    thread.start()
    known.url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    try:
        yield known
    finally:
        running.should_exit = True
        thread.join(10)
        listener.close()
        assert not thread.is_alive()


def weighing(*tools: str) -> Reply:
    """A model that asks for weight and colour at the same time, or for other tools, then answers with the results."""

    def choose(body: Body) -> Reply:
        results = results_in(body)
        if results:
            return completion(" and ".join(results))
        thing = question_in(body)
        return completion(calls=[(tool, {"text": thing}) for tool in tools or ("weigh", "colour")])

    return chosen(choose)
