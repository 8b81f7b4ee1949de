"""A stdio server of the handshake era whose tools ask their client something and give back what they were answered.

Tools: elicit (arguments are the `params` of the question), sample, roots.
"""

import json
import sys
from typing import Any

METHODS = {"elicit": "elicitation/create", "sample": "sampling/createMessage", "roots": "roots/list"}
offered: dict[str, Any] = {}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
    send({"id": "q1", "method": method, "params": params})
    while (message := receive()).get("id") != "q1":
        pass
    return message.get("result", {"error": message.get("error")})


def result_of(message: dict[str, Any]) -> dict[str, Any] | None:
    params = message.get("params", {})
    match message["method"]:
        case "initialize":
            offered.update(params["capabilities"])
            info = {"name": "curious", "version": "1"}
            return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            names = [*METHODS, "offered"]
            return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
        case "tools/call":
            arguments = params.get("arguments", {})
            answer = offered if params["name"] == "offered" else ask(METHODS[params["name"]], arguments)
            return {"content": [{"type": "text", "text": json.dumps(answer)}]}
        case _:
            return None


while True:
    message = receive()
    if "id" not in message:
        continue
    result = result_of(message)
    if result is None:
        send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
    else:
        send({"id": message["id"], "result": result})
