"""How many calls to one place go on at a time, and how many begin per minute."""

from __future__ import annotations

import asyncio
from time import monotonic
from types import TracebackType

from knime_ext.errors import ConfigurationError

__all__ = ["Limiter"]


class Limiter:
    """Makes calls wait for their turn; an async context manager around each call, on one event loop.

    async with limiter:
        ...  # the call
    """

    def __init__(self, *, concurrent: int | None = None, per_minute: float | None = None) -> None:
        """Nothing waits yet.

        Args:
            concurrent: Calls that go on at a time; None for no limit.
            per_minute: Calls that begin per minute, evenly spread; None for no limit.

        Raises:
            ConfigurationError: A limit is not above 0.
        """
        for name, limit in (("concurrent", concurrent), ("per_minute", per_minute)):
            if limit is not None and not limit > 0:
                raise ConfigurationError(
                    f"{name!r} of a limiter is {limit:g}; give more than 0, or nothing for no limit."
                )
        self._slots = asyncio.Semaphore(concurrent) if concurrent is not None else None
        self._interval = 60 / per_minute if per_minute is not None else 0.0
        self._next_start = 0.0
        self._closed_until = 0.0

    async def __aenter__(self) -> None:
        if self._slots is not None:
            await self._slots.acquire()
        try:
            await self._turn()
        except BaseException:
            self._leave()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def pause(self, seconds: float) -> None:
        """Lets no call begin for that long, as the other side has asked for; a longer pause stays."""
        self._closed_until = max(self._closed_until, monotonic() + seconds)

    def _leave(self) -> None:
        if self._slots is not None:
            self._slots.release()

    async def _turn(self) -> None:
        if self._interval:
            start = max(monotonic(), self._next_start)
            self._next_start = start + self._interval
            await _until(start)
        # A pause may be prolonged while it is waited for.
        while monotonic() < self._closed_until:
            await _until(self._closed_until)


async def _until(moment: float) -> None:
    if (seconds := moment - monotonic()) > 0:
        await asyncio.sleep(seconds)
