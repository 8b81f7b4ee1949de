"""The one door from sync code to async code: a background thread that owns an event loop.

Nodes and the command line are synchronous, MCP sessions and chat models are not. Exactly one copy of the
logic exists, the async one; sync callers post coroutines to the loop of a bridge. The module knows nothing
about what the coroutines do.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from concurrent.futures import wait as futures_wait
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

__all__ = ["Bridge", "shared_bridge"]

T = TypeVar("T")

GRACE_SECONDS = 10.0
"""How long a cancelled coroutine may take to tidy up (tell a server, stop a child process) before its caller
is let go."""

WAKE_SECONDS = 0.5
"""How often a waiting thread wakes up: an interrupt from the keyboard is not noticed on Windows, and now and then not
elsewhere, by a thread that waits without end."""


class _Job:
    """A coroutine on its way through the loop of a bridge; can be watched and cancelled from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any]) -> None:
        self.outcome: Future[Any] = Future()
        self.outcome.set_running_or_notify_cancel()
        self._loop = loop
        self._coro = coro
        self._task: asyncio.Task[Any] | None = None
        # The caller's context travels along, so that context variables (tracing, ...) mean the same inside.
        loop.call_soon_threadsafe(self._start, context=contextvars.copy_context())

    def _start(self) -> None:
        self._task = self._loop.create_task(self._coro)
        self._task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            self.outcome.set_exception(CancelledError())
        elif (error := task.exception()) is not None:
            self.outcome.set_exception(error)
        else:
            self.outcome.set_result(task.result())

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def wait(self, timeout: float | None) -> Any:
        """The coroutine's value; TimeoutError if there is none in time."""
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while not self.outcome.done():
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise TimeoutError(f"not done within {timeout:g} s")
            futures_wait([self.outcome], min(remaining, WAKE_SECONDS))
        return self.outcome.result()

    def cancel(self) -> None:
        """Cancels the coroutine; returns at once."""
        # RuntimeError: the loop is closed, which cancelled everything already.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._cancel)

    def cancel_and_wait(self) -> None:
        """Cancels the coroutine and waits until it has tidied up, `GRACE_SECONDS` at most."""
        self.cancel()
        # How it ends no longer matters to the caller, who has an error already.
        with suppress(BaseException):
            self.outcome.result(GRACE_SECONDS)

    def abandon_with(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ends the wait for a coroutine that this loop was closed without starting."""
        if self._loop is loop and self._task is None:
            self._coro.close()
            self.outcome.set_exception(CancelledError())


class _LoopThread(threading.Thread):
    """A thread that runs one event loop until it is stopped."""

    loop: asyncio.AbstractEventLoop

    def __init__(self) -> None:
        # A daemon does not keep the interpreter from ending when somebody forgot to leave the bridge.
        super().__init__(name="knime-mcp-bridge", daemon=True)
        self._ready: Future[None] = Future()
        self._ended = asyncio.Event()

    def run(self) -> None:
        # The runner cancels leftover tasks, shuts async generators and executor threads down, closes the loop.
        with asyncio.Runner() as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._ready.set_result(None)
        await self._ended.wait()

    def start_and_wait(self) -> None:
        self.start()
        self._ready.result()

    def stop_and_join(self) -> None:
        self.loop.call_soon_threadsafe(self._ended.set)
        self.join()


class Bridge:
    """A background event loop that runs coroutines for sync code in any thread.

    A context manager: the first `with` starts the thread, the last exit cancels what still runs, closes the
    loop and joins the thread. Nested and concurrent use is counted.

        with Bridge() as bridge:
            tools = bridge.run(toolset.list_definitions(), timeout=30)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._thread: _LoopThread | None = None
        self._jobs: set[_Job] = set()

    def __enter__(self) -> Self:
        with self._lock:
            if self._thread is None:
                thread = _LoopThread()
                thread.start_and_wait()
                self._thread = thread
            self._users += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            if threading.current_thread() is self._thread and self._users == 1:
                raise RuntimeError("the last user of a bridge must not leave it from a coroutine that runs on it")
            self._users -= 1
            thread = self._thread if self._users == 0 else None
            if thread is not None:
                self._thread = None
        # Outside the lock, because coroutines that tidy up may still want to enter and leave a bridge.
        if thread is not None:
            thread.stop_and_join()
            self._abandon_jobs(thread)

    def run(self, coro: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Runs a coroutine on the bridge's loop and waits for it.

        Works in every thread, also in one that has a running loop of its own (which is blocked meanwhile).

        Args:
            coro: The coroutine; it is awaited exactly once, or closed.
            timeout: Seconds to wait, None for no limit.

        Raises:
            TimeoutError: Time is up; the coroutine has been cancelled.
            RuntimeError: The bridge is closed, or the call comes from a coroutine on the bridge itself.
        """
        job = self._submit(coro)
        try:
            return job.wait(timeout)
        except BaseException:
            # Also KeyboardInterrupt. A job that is done raised the error itself and has nothing to cancel.
            if not job.outcome.done():
                job.cancel_and_wait()
            raise

    async def arun(self, coro: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the bridge's loop and awaits it in the loop of the caller.

        Cancelling the caller cancels the coroutine and waits until it has tidied up.
        """
        if threading.current_thread() is self._thread:
            return await coro
        job = self._submit(coro)
        waiting = asyncio.wrap_future(job.outcome)
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            if not job.outcome.done():
                job.cancel()
                await asyncio.wait([waiting], timeout=GRACE_SECONDS)
            if waiting.done() and not waiting.cancelled():
                waiting.exception()  # looked at, so that asyncio does not report it as forgotten
            raise

    def _submit(self, coro: Coroutine[Any, Any, Any]) -> _Job:
        with self._lock:
            if self._thread is None:
                coro.close()
                raise RuntimeError("the bridge is closed; use it inside `with bridge:`")
            if threading.current_thread() is self._thread:
                coro.close()
                raise RuntimeError("this code already runs on the bridge's loop; await the coroutine instead")
            job = _Job(self._thread.loop, coro)
            self._jobs.add(job)
        job.outcome.add_done_callback(lambda _: self._jobs.discard(job))
        return job

    def _abandon_jobs(self, thread: _LoopThread) -> None:
        for job in tuple(self._jobs):
            job.abandon_with(thread.loop)


_SHARED = Bridge()


def shared_bridge() -> Bridge:
    """The bridge of this process: one background thread for everybody, there while anybody is inside.

    with shared_bridge() as bridge:
        bridge.run(...)
    """
    return _SHARED
