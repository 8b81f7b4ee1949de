"""The reference servers from npm, which this project did not write."""

import fcntl
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers.process import NotStarted, free_port, running

NODE = Path(__file__).parent.parent / "node"
SERVERS = NODE / "node_modules" / "@modelcontextprotocol"
INSTALL_SECONDS = 300


def program(server: str = "server-everything") -> Path:
    """The program of a server; installed when it is missing."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed, and the reference server {server} needs it")
    path = SERVERS / server / "dist" / "index.js"
    with (NODE / "package.json").open(encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=NODE, check=True, timeout=INSTALL_SECONDS)
    return path


@contextmanager
def everything(mode: str) -> Generator[str]:
    """The URL of server-everything in one of its HTTP modes, "sse" or "streamableHttp"."""
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
