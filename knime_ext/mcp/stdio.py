"""The stdio transport: a server as a child process that speaks JSON lines.

The SDK has one of its own. This one differs where children leak or flood: the whole process group is killed in every
case, also when this process is killed itself (the SDK spares descendants when the child itself goes by itself), lines
are bounded, and what the child writes to standard error is kept, because it usually says why the child died.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import TextIO, cast

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from knime_ext.mcp.exchange import Exchange
from knime_ext.mcp.servers import StdioServer
from knime_ext.mcp.tap import Streams

__all__ = ["ChildNotes", "stdio_transport"]

EXIT_SECONDS = 2.0
"""How long a child may take to go after its standard input was closed, and again after SIGTERM."""
HURRIED_EXIT_SECONDS = 0.2
"""The same if it failed to greet in time or the caller has given up: somebody waits already."""
_POLL_SECONDS = 0.01
_TAIL_BYTES = 8 * 1024


class ChildNotes:
    """What is known about a child: its last words on standard error and how it ended."""

    def __init__(self) -> None:
        self._tail = b""
        self.exit_code: int | None = None

    def hear(self, data: bytes) -> None:
        """Keeps the end of what has been written."""
        self._tail = (self._tail + data)[-_TAIL_BYTES:]

    @property
    def last_words(self) -> str:
        """The end of what the child wrote to standard error, exactly."""
        return self._tail.decode("utf-8", errors="replace")


@asynccontextmanager
async def stdio_transport(server: StdioServer, notes: ChildNotes, exchange: Exchange) -> AsyncGenerator[Streams]:
    """Starts the server and speaks with it; afterwards the child and its whole process group are gone.

    Args:
        server: What to start.
        notes: Filled with what becomes of the child.
        exchange: Told if a line is too long.

    Raises:
        OSError: The child cannot be started.
    """
    if sys.platform == "win32":
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errlog:
            parameters = StdioServerParameters(
                command=server.command, args=list(server.args), env=dict(server.env), cwd=server.cwd
            )
            try:
                async with stdio_client(parameters, errlog=cast(TextIO, errlog)) as streams:
                    yield streams
            finally:
                errlog.seek(0)
                notes.hear(errlog.read().encode())
        return
    process, transport = await _start_shielded(server)
    guard = _Guard(process.pid)
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    try:
        async with incoming, read, anyio.create_task_group() as tasks:
            tasks.start_soon(_deliver, process, incoming, exchange)
            tasks.start_soon(_listen, process, notes)
            patience = HURRIED_EXIT_SECONDS
            try:
                yield read, _Stdin(process)
                patience = EXIT_SECONDS
            finally:
                with anyio.CancelScope(shield=True):
                    await _stop(process, patience)
                tasks.cancel_scope.cancel()
    finally:
        # Also when a task is cancelled the hard way, while it stops the child politely.
        _kill_group(process.pid)
        guard.dismiss()
        notes.exit_code = process.returncode
        transport.close()


async def _start_shielded(server: StdioServer) -> tuple[Process, asyncio.SubprocessTransport]:
    """Starts the child; asyncio would kill it if the start were cancelled, but not the children that it has by then."""
    with anyio.CancelScope(shield=True):
        return await _start(server)
    raise AssertionError("a shielded scope swallows nothing")


async def _start(server: StdioServer) -> tuple[Process, asyncio.SubprocessTransport]:
    """The same as `asyncio.create_subprocess_exec`, but the transport is known, so that it can be closed."""
    loop = asyncio.get_running_loop()
    limit = server.limits.answer_bytes
    transport, protocol = await loop.subprocess_exec(
        lambda: _ChildProtocol(limit=limit, loop=loop),
        server.command,
        *server.args,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=get_default_environment() | dict(server.env),
        cwd=server.cwd,
        start_new_session=True,
    )
    return Process(transport, protocol, loop), transport


class _ChildProtocol(SubprocessStreamProtocol):
    """Takes the descendants of a child along when it dies; they may hold its output open, and all would seem well."""

    _group: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._group = cast("asyncio.SubprocessTransport", transport).get_pid()

    def process_exited(self) -> None:
        if self._group is not None:
            _kill_group(self._group)
        super().process_exited()


class _Guard:
    """A shell that waits for the end of this process, whatever ends it, and then ends a process group."""

    def __init__(self, group: int) -> None:
        self._shell: subprocess.Popen[bytes] | None = None
        with suppress(OSError):  # a system without a shell has to do without
            self._shell = subprocess.Popen(
                ["/bin/sh", "-c", _GUARDING, "knime-mcp-guard", str(group)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def dismiss(self) -> None:
        """Ends the shell: the group is gone."""
        if self._shell is not None:
            self._shell.kill()
            self._shell.communicate()


_GUARDING = """
read -r _
sleep 1
kill -s TERM -- "-$1"
sleep 1
kill -s KILL -- "-$1"
"""
"""Nothing is ever written to the shell, so what it reads is the end of its standard input, which is our own end. By
then the child has read the end of its own, and may go by itself."""


async def _deliver(
    process: Process, incoming: MemoryObjectSendStream[SessionMessage | Exception], exchange: Exchange
) -> None:
    """Hands lines on as messages until the child closes its output."""
    assert process.stdout is not None
    async with incoming:
        try:
            while line := await process.stdout.readline():
                if line.strip():
                    await incoming.send(_message(line))
        except ValueError:
            exchange.breach = "it sent a line longer than the limit for an answer"
            _kill_group(process.pid)
        except anyio.BrokenResourceError:
            # Nobody listens any more, but a child that cannot get rid of its output cannot end either.
            while await process.stdout.read(_TAIL_BYTES):
                pass


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error


async def _listen(process: Process, notes: ChildNotes) -> None:
    assert process.stderr is not None
    while data := await process.stderr.read(_TAIL_BYTES):
        notes.hear(data)


class _Stdin:
    """The write side: one line per message."""

    def __init__(self, process: Process) -> None:
        assert process.stdin is not None
        self._pipe = process.stdin

    async def send(self, item: SessionMessage, /) -> None:
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True) + "\n"
        try:
            self._pipe.write(line.encode())
            await self._pipe.drain()
        except OSError as error:
            raise anyio.BrokenResourceError from error

    async def aclose(self) -> None:
        self._pipe.close()


async def _stop(process: Process, patience: float) -> None:
    """Asks the child to go, then makes it; the order is the protocol's (lifecycle, shutdown)."""
    assert process.stdin is not None
    process.stdin.close()
    if await _gone(process, patience):
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    if await _gone(process, patience):
        return
    _kill_group(process.pid)
    await _gone(process, EXIT_SECONDS)


async def _gone(process: Process, seconds: float) -> bool:
    """Whether the child ends in time; `Process.wait` would also wait for pipes that its descendants hold open."""
    with anyio.move_on_after(seconds):
        while process.returncode is None:
            await anyio.sleep(_POLL_SECONDS)
    return process.returncode is not None


def _kill_group(group: int) -> None:
    # The child leads the group, whose number stays reserved while any member lives.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
