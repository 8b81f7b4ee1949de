"""Starts servers that are programs, and waits until they say that they listen."""

import os
import queue
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
START_SECONDS = 30


class NotStarted(Exception):
    """The program ended, or time was up, before it said that it listens."""


@contextmanager
def running(
    command: Sequence[str], ready: str, *, env: Mapping[str, str] | None = None
) -> Generator[tuple[subprocess.Popen[str], re.Match[str]]]:
    """The running program and the match of its line that says `ready`; it is killed at the end."""
    lines: queue.Queue[str | None] = queue.Queue()
    process = subprocess.Popen(
        command, env={**os.environ, **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield process, _wait_for(ready, lines)
    finally:
        process.kill()
        process.wait(10)
        reader.join(10)
        assert process.stdout is not None
        process.stdout.close()


def _wait_for(ready: str, lines: "queue.Queue[str | None]") -> re.Match[str]:
    seen: list[str] = []
    while (line := lines.get(timeout=START_SECONDS)) is not None:
        seen.append(line)
        if match := re.search(ready, line):
            return match
    raise NotStarted("".join(seen))


@contextmanager
def mcpserver(transport: str) -> Generator[str]:
    """The URL of the server in `mcpserver.py`, over "sse" or "streamable-http"."""
    path = "sse" if transport == "sse" else "mcp"
    with running([sys.executable, str(HERE / "mcpserver.py"), transport], r"ready (\d+)") as (_, ready):
        yield f"http://127.0.0.1:{ready[1]}/{path}"


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
