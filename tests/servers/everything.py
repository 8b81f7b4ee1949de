"""The reference server `@modelcontextprotocol/server-everything`, which this project did not write."""

import fcntl
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers.process import NotStarted, free_port, running

NODE = Path(__file__).parent.parent / "node"
PROGRAM = NODE / "node_modules" / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
INSTALL_SECONDS = 300


def program() -> Path:
    """The server's program; installed when it is missing."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed, and the reference server server-everything needs it")
    with (NODE / "package.json").open(encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not PROGRAM.exists():
            subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=NODE, check=True, timeout=INSTALL_SECONDS)
    return PROGRAM


@contextmanager
def everything(mode: str) -> Generator[str]:
    """The URL of the server in one of its HTTP modes, "sse" or "streamableHttp"."""
    command = ["node", str(program()), mode]
    path = "sse" if mode == "sse" else "mcp"
    for attempts_left in (4, 3, 2, 1, 0):
        port = free_port()
        started = running(command, r"on port \d+", env={"PORT": str(port)})
        try:
            started.__enter__()
        except NotStarted:
            if not attempts_left:
                raise
            continue  # somebody else took the port meanwhile
        try:
            yield f"http://127.0.0.1:{port}/{path}"
        finally:
            started.__exit__(None, None, None)
        return
