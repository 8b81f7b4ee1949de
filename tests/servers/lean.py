"""A fast server of the era before 2026 over streamable HTTP, without any library: for tests that send thousands.

Its list of tools never ends: every page has a next one. The tool `echo` gives its text back, and `counted` says how
many connections, greetings and pages there have been. It prints `ready PORT` once it listens.
"""

import asyncio
import json
from typing import Any

COUNTED = {"connections": 0, "greetings": 0, "pages": 0}


def result_of(message: dict[str, Any]) -> dict[str, Any] | None:
    params = message.get("params", {})
    match message["method"]:
        case "initialize":
            COUNTED["greetings"] += 1
            info = {"name": "lean", "version": "1"}
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            COUNTED["pages"] += 1
            return {"tools": [], "nextCursor": str(int(params.get("cursor", 0)) + 1)}
        case "tools/call":
            text = json.dumps(COUNTED) if params["name"] == "counted" else params["arguments"]["text"]
            return {"content": [{"type": "text", "text": text}]}
        case _:
            return None


def response_to(body: bytes) -> bytes:
    message = json.loads(body or b"{}")
    if "id" not in message:
        return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"], "result": result_of(message)}
    if answer["result"] is None:
        del answer["result"]
        answer["error"] = {"code": -32601, "message": "Method not found"}
    content = json.dumps(answer).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    COUNTED["connections"] += 1
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = head.partition("content-length:")[2].partition("\r\n")[0].strip()
            writer.write(response_to(await reader.readexactly(int(length or 0))))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print("ready", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
