"""The example that ships with the package: where it is, and its MCP server while the demo runs."""

from __future__ import annotations

import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import knime_ext
from knime_ext.errors import ConfigurationError, MCPConnectionError

__all__ = ["orders_agent", "running_server"]

_READY = "listening on "
_START_SECONDS = 60.0
_STOP_SECONDS = 5.0


def orders_agent() -> Path:
    """The folder of the example: in the source tree, or in the installed package.

    Raises:
        ConfigurationError: It is in neither.
    """
    package = Path(knime_ext.__file__).parent
    for folder in (package.parent / "examples", package / "examples"):
        if (folder / "orders-agent" / "workflow.json").is_file():
            return folder / "orders-agent"
    raise ConfigurationError("the example 'orders-agent' is missing from this installation; install knime-mcp again")


@contextmanager
def running_server(script: Path) -> Generator[str]:
    """Runs an MCP server on a free port of this machine for the time of the block, and stops it whatever happens.

    Args:
        script: The server's script; it prints "listening on URL" when it can be reached.

    Yields:
        The server's URL.

    Raises:
        MCPConnectionError: The server does not start.
    """
    command = [sys.executable, str(script), "--port", "0"]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            yield _url(process, errors)
        finally:
            _stop(process)


def _url(process: subprocess.Popen[str], errors: IO[bytes]) -> str:
    """The address that the server prints; a server that dies or stays silent is an error."""
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_pass_on, args=(process.stdout, lines), name="knime-mcp-server-output", daemon=True).start()
    try:
        line = lines.get(timeout=_START_SECONDS)
    except queue.Empty:
        raise MCPConnectionError(f"the example's server did not start within {_START_SECONDS:g} seconds") from None
    if line.startswith(_READY):
        return line.removeprefix(_READY).strip()
    process.wait(_STOP_SECONDS)
    errors.seek(0)
    said = errors.read().decode("utf-8", errors="replace").strip().splitlines() or ["it gave no reason"]
    raise MCPConnectionError(f"the example's server ended at once (exit code {process.returncode}): {said[-1]}")


def _pass_on(stream: IO[str] | None, lines: queue.Queue[str]) -> None:
    """Reads what the server prints until it ends, so that it never waits for a reader."""
    for line in stream or ():
        lines.put(line)
    lines.put("")


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
