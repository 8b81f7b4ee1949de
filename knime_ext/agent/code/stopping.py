"""Stopping code that runs: one piece from any thread, and all of it when the interpreter ends."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress

__all__ = ["Stop", "Stopped", "running"]

_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
_SECONDS_AT_EXIT = 5.0


class Stopped(Exception):
    """The code was stopped from outside."""


class Stop:
    """Stops one piece of code at once, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pid: int | None = None
        self.is_set = False

    def set(self) -> None:
        """Stops it; its worker process is killed."""
        self.is_set = True
        self.kill()

    def kill(self) -> None:
        """Kills the worker process, if there is one now."""
        with self._lock:
            if self._pid is not None:
                # The process belongs to this piece of code as long as `_pid` is set.
                with suppress(OSError):
                    os.kill(self._pid, _KILL)

    def watch(self, pid: int | None) -> None:
        """Says which process runs the code now; None if none does any more.

        Raises:
            Stopped: It was stopped before.
        """
        with self._lock:
            self._pid = pid
            if self.is_set and pid is not None:
                raise Stopped


_running: set[Stop] = set()
_changed = threading.Condition()


@contextmanager
def running(stop: Stop) -> Generator[None]:
    """While a piece of code runs; if the interpreter ends meanwhile, the code is stopped first."""
    with _changed:
        _running.add(stop)
    try:
        yield
    finally:
        with _changed:
            _running.discard(stop)
            _changed.notify_all()


@atexit.register
def _stop_all() -> None:
    """A thread that came back from the library into an interpreter that is gone would abort the process."""
    with _changed:
        for stop in _running:
            stop.set()
        _changed.wait_for(lambda: not _running, _SECONDS_AT_EXIT)
