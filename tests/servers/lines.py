"""A stdio server without any library, so that it starts fast and can misbehave: `python lines.py [BEHAVIOUR ...]`.

Behaviours: die-at-start, ignore-probe, noise, stubborn (survives polite requests to end), family (has a child of its
own that outlives it).
"""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

BEHAVIOURS = set(sys.argv[1:])


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a tool, None if there is none."""
    match name:
        case "pids":
            text = json.dumps(PIDS)
        case "environment":
            text = json.dumps(dict(os.environ))
        case "flood":
            text = "x" * arguments["size"]
        case "die":
            os._exit(3)
        case "hang":
            return None
        case _:
            text = json.dumps(arguments)
    return {"content": [{"type": "text", "text": text}]}


def answer(message: dict[str, Any]) -> None:
    match message["method"]:
        case "server/discover" if "ignore-probe" in BEHAVIOURS:
            return
        case "initialize":
            info = {"name": "lines", "version": "1"}
            result: Any = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            schema = {"type": "object"}
            names = ["pids", "environment", "flood", "die", "hang", "echo"]
            result = {"tools": [{"name": name, "inputSchema": schema} for name in names]}
        case "tools/call":
            result = call(message["params"]["name"], message["params"].get("arguments", {}))
            if result is None:
                return
        case _ if "id" not in message:
            return
        case _:
            send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
            return
    send({"id": message["id"], "result": result})


PIDS = [os.getpid()]
if "die-at-start" in BEHAVIOURS:
    print("\x1b[31mno such database:\x1b[0m", os.environ.get("DATABASE_PASSWORD"), file=sys.stderr)
    sys.exit(7)
if "family" in BEHAVIOURS:
    PIDS.append(subprocess.Popen(["sleep", "600"]).pid)
if "stubborn" in BEHAVIOURS:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "noise" in BEHAVIOURS:
    print("Welcome to the server!\n\nloading ...", flush=True)
for line in sys.stdin:
    answer(json.loads(line))
if "stubborn" in BEHAVIOURS:
    time.sleep(600)
