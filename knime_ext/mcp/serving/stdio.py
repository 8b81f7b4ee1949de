"""The stdio transport of a server that can be told to stop.

The SDK's own transport waits for the client in worker threads that nothing can interrupt, so a server that got
SIGTERM would live on until its client closes the pipe. Here daemon threads wait; the framing is the SDK's.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sys
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, cast

import anyio
from mcp.server.stdio import stdio_server

from knime_ext.mcp.serving.toolset_server import ToolsetServer

__all__ = ["serve_stdio"]

_LAST_WORDS_SECONDS = 2.0
_CHUNK = 65_536


class _Lines:
    """The lines of a pipe, read by a daemon thread one at a time as they are asked for.

    Reads the descriptor itself: at the end of the process Python takes the locks of its file objects, and one that
    waits for a client would never give its lock back.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = bytearray()
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._wanted = threading.Semaphore(0)
        threading.Thread(target=self._read, name="knime-mcp-stdin", daemon=True).start()

    def _read(self) -> None:
        line = b"..."
        while line:
            self._wanted.acquire()
            line = self._next_line()
            with suppress(RuntimeError):  # the loop is closed: nobody reads any more
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)

    def _next_line(self) -> bytes:
        """The next line, empty at the end of the pipe."""
        seen = 0
        while (end := self._rest.find(b"\n", seen)) < 0:
            seen = len(self._rest)
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except OSError:
                chunk = b""
            if not chunk:
                end = seen
                break
            self._rest += chunk
        line = bytes(self._rest[: end + 1])
        del self._rest[: end + 1]
        return line

    def end(self) -> None:
        """Ends the lines for whoever waits for the next one."""
        self._lines.put_nowait(b"")

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        self._wanted.release()
        line = await self._lines.get()
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", errors="replace")


class _Writer:
    """Writes to a pipe from a daemon thread, so that a client that does not read holds up nobody's end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._texts: queue.SimpleQueue[tuple[str, asyncio.Future[None]] | None] = queue.SimpleQueue()
        self._written: asyncio.Future[None] = self._loop.create_future()
        self._given_up = False
        self._thread = threading.Thread(target=self._write, name="knime-mcp-stdout", daemon=True)
        self._thread.start()

    def _write(self) -> None:
        while (job := self._texts.get()) is not None:
            text, written = job
            # A client that has gone reads nothing; that its input has ended is noticed where it is read.
            with suppress(OSError):
                self._write_all(text.encode("utf-8", errors="replace"))
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_settle, written)

    def _write_all(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    async def write(self, text: str) -> None:
        if self._given_up:
            return
        self._written = self._loop.create_future()
        self._texts.put((text, self._written))
        await self._written

    async def flush(self) -> None:
        """Nothing waits to be flushed."""

    def give_up(self) -> None:
        """Lets go of whoever waits for a client that does not read."""
        self._given_up = True
        _settle(self._written)

    def close(self) -> None:
        self._texts.put(None)
        if not self._given_up:
            self._thread.join(_LAST_WORDS_SECONDS)


def _settle(written: asyncio.Future[None]) -> None:
    if not written.done():
        written.set_result(None)


@contextmanager
def _own_pipes() -> Generator[tuple[int, int]]:
    """Standard input and output for the protocol alone: whatever else prints goes to the error output."""
    sys.stdout.flush()
    wire_in, wire_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        # Never closed: a thread may still wait at a descriptor, whose number must then not become another file's.
        yield wire_in, wire_out
    finally:
        sys.stdout.flush()
        os.dup2(wire_in, 0)
        os.dup2(wire_out, 1)


@asynccontextmanager
async def _streams() -> AsyncGenerator[tuple[Any, Any]]:
    with _own_pipes() as (pipe_in, pipe_out):
        writer = _Writer(pipe_out)
        try:
            lines = _Lines(pipe_in)
            async with stdio_server(
                cast("anyio.AsyncFile[str]", lines), cast("anyio.AsyncFile[str]", writer)
            ) as streams:
                try:
                    yield streams
                finally:
                    lines.end()
                    asyncio.get_running_loop().call_later(_LAST_WORDS_SECONDS, writer.give_up)
        finally:
            writer.close()


async def serve_stdio(server: ToolsetServer, stop: asyncio.Event) -> None:
    """Serves one client over standard input and output, until it closes the pipe or `stop` is set.

    Calls that still run are cancelled.
    """
    async with _streams() as (read, write):
        serving = asyncio.create_task(server.wire.run(read, write, server.wire.create_initialization_options()))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            if not serving.done():
                serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving
