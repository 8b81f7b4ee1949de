"""The time that a request has: a ceiling, and within it a limit on silence that signs of life push back."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import anyio

__all__ = ["Deadline"]

_NEVER = float("inf")


class Deadline:
    """Limits of one request, counted from now.

    Args:
        total: Seconds until it is over in any case, None for no limit.
        idle: Seconds of silence after which it is over, None for no limit.

    Attributes:
        total: The ceiling in seconds.
        was_extended: Whether there has been a sign of life.
    """

    def __init__(self, total: float | None, idle: float | None = None) -> None:
        now = anyio.current_time()
        self._end = _NEVER if total is None else now + total
        self._idle = _NEVER if idle is None else idle
        self._at = min(self._end, now + self._idle)
        self.total = total
        self.was_extended = False
        self._pauses, self._paused_at = 0, now
        self._scope: anyio.CancelScope | None = None

    @property
    def is_total_over(self) -> bool:
        """Whether it is the ceiling that has been reached."""
        return anyio.current_time() >= self._end

    def extend(self) -> None:
        """The server has given a sign of life."""
        self.was_extended = True
        self._at = min(self._end, anyio.current_time() + self._idle)
        self._apply()

    @contextmanager
    def paused(self) -> Generator[None]:
        """In the block, time stands still; several blocks may be open at once."""
        if not self._pauses:
            self._paused_at = anyio.current_time()
        self._pauses += 1
        self._apply()
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                spent = anyio.current_time() - self._paused_at
                self._end, self._at = self._end + spent, self._at + spent
            self._apply()

    def _apply(self) -> None:
        if self._scope is not None:
            self._scope.deadline = _NEVER if self._pauses else self._at

    @contextmanager
    def running(self) -> Generator[None]:
        """Raises TimeoutError if the block is not left in time."""
        with anyio.move_on_after(None) as scope:
            self._scope = scope
            self._apply()
            try:
                yield
            finally:
                self._scope = None
        if scope.cancelled_caught:
            raise TimeoutError
