"""A chat model and an MCP server in one process, as lean as can be, so that a benchmark measures its clients.

`python lean_server.py MODEL_MS TOOL_MS TURNS` takes a free port and prints it. `/v1/chat/completions` asks for two tool
calls in each of the first TURNS replies and then answers; `/mcp` is streamable HTTP with plain JSON answers.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

TOOLS = [
    {
        "name": name,
        "description": f"Says the {name} of a thing, as the shop's catalogue has it.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "thing": {"type": "string", "description": "Name of the thing."},
                "year": {"type": "integer"},
            },
            "required": ["thing"],
        },
    }
    for name in ("weight", "colour", "price", "maker", "stock", "size", "rating", "age")
]
USAGE = {"prompt_tokens": 400, "completion_tokens": 40, "total_tokens": 440}


def completion(body: dict[str, Any], turns: int) -> dict[str, Any]:
    """The model's next reply in a conversation."""
    asked = sum(message["role"] == "assistant" for message in body["messages"])
    message: dict[str, Any] = {"role": "assistant", "content": f"answer after {asked} turns"}
    if asked < turns:
        arguments = json.dumps({"thing": f"thing {asked}"})
        calls = [
            {"id": f"call_{asked}_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, name in enumerate(("weight", "colour"))
        ]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if asked < turns else "stop"}
    frame = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"], "usage": USAGE}
    return {**frame, "choices": [choice]}


def result(request: dict[str, Any]) -> dict[str, Any]:
    """The result of an MCP request of the revision 2025-06-18."""
    match request["method"]:
        case "initialize":
            server = {"name": "lean", "version": "1"}
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": server}
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            said = f"{request['params']['name']} of {request['params']['arguments']['thing']}: 42"
            return {"content": [{"type": "text", "text": said}], "isError": False}
        case _:
            return {}


class Server:
    """Answers HTTP/1.1 requests with a body over kept connections."""

    def __init__(self, model_ms: float, tool_ms: float, turns: int) -> None:
        self.model_ms = model_ms
        self.tool_ms = tool_ms
        self.turns = turns

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers the requests of one connection, one after the other."""
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                line, *fields = head.split("\r\n")
                lengths = [field for field in fields if field.lower().startswith("content-length:")]
                body = await reader.readexactly(int(lengths[0].split(":")[1])) if lengths else b""
                writer.write(await self.answer(line, body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def answer(self, line: str, body: bytes) -> bytes:
        """The response to one request."""
        method, path, _ = line.split(" ")
        if method != "POST":
            return response(405, b"")
        request = json.loads(body)
        if path.endswith("/chat/completions"):
            await asyncio.sleep(self.model_ms / 1000)
            return response(200, json.dumps(completion(request, self.turns)).encode())
        if "id" not in request:
            return response(202, b"")
        if request["method"] == "server/discover":
            error = {"code": -32601, "message": "Method not found"}
            return response(200, json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}).encode())
        if request["method"] == "tools/call":
            await asyncio.sleep(self.tool_ms / 1000)
        return response(200, json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result(request)}).encode())


def response(status: int, body: bytes) -> bytes:
    """An HTTP response."""
    head = f"HTTP/1.1 {status} OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def main() -> None:
    """Serves until the process is ended."""
    model_ms, tool_ms, turns = float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    server = await asyncio.start_server(Server(model_ms, tool_ms, turns).serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
