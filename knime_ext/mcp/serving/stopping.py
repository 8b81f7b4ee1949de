"""Ctrl-C and SIGTERM as a wish to stop instead of an exception in the middle of anything."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

__all__ = ["stopped_by_signals"]


@contextmanager
def stopped_by_signals(stop: asyncio.Event) -> Generator[list[int]]:
    """Sets `stop` when the process is asked to end; gives the list of the signals that came.

    Python takes signals in the main thread only; elsewhere nothing is changed.
    """
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    loop = asyncio.get_running_loop()

    def note(signum: int, frame: FrameType | None) -> None:
        came.append(signum)
        loop.call_soon_threadsafe(stop.set)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
