"""Notices that something has not been used for a while. Knows nothing about what it is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

__all__ = ["Idleness"]


class Idleness:
    """Counts who is busy with something, and calls somebody when nobody has been for a while.

    Used from one event loop. Between two uses it costs a timer and no task.

    Args:
        on_idle: Called, in a task of its own, when the time is up. Somebody may have become busy again until it runs.
    """

    def __init__(self, on_idle: Callable[[], Awaitable[None]]) -> None:
        self._on_idle = on_idle
        self._busy = 0
        self._stopped = False
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether somebody is at it now."""
        return self._busy > 0

    @contextmanager
    def busy(self, seconds: float | None) -> Generator[None]:
        """Somebody is busy inside; so many seconds after the last one has left, it is idle. None is never."""
        self._busy += 1
        self._forget_timer()
        try:
            yield
        finally:
            self._busy -= 1
            if self._busy == 0 and seconds is not None and not self._stopped:
                self._timer = asyncio.get_running_loop().call_later(seconds, self._rest)

    async def stop(self) -> None:
        """Calls nobody any more; a call that is under way is waited for."""
        self._stopped = True
        self._forget_timer()
        if self._task is not None:
            await asyncio.wait([self._task])

    def _rest(self) -> None:
        self._timer = None
        self._task = asyncio.ensure_future(self._on_idle())

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
