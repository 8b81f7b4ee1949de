"""Stopping a run from outside: by a `threading.Event` or by anything that says so when it is asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["Cancel", "Cancelled", "stop", "unless_cancelled"]

Cancel = threading.Event | Callable[[], bool]
"""An event that is set, or a function such as `ctx.is_canceled` that is asked, to stop a run."""

T = TypeVar("T")

_LOOK_EVERY_SECONDS = 0.05

GRACE_SECONDS = 5.0
"""How long something that was cancelled may take to tidy up before nobody waits for it any more."""


class Cancelled(Exception):
    """The run was stopped from outside; never leaves this room."""


async def unless_cancelled(work: Coroutine[Any, Any, T], cancel: Cancel | None) -> T:
    """Awaits `work` and stops it as soon as `cancel` says so.

    Raises:
        Cancelled: It was stopped; `work` has ended by then.
    """
    if cancel is None:
        return await work
    is_set = cancel.is_set if isinstance(cancel, threading.Event) else cancel
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            if is_set():
                raise Cancelled
            # Neither a threading event nor a host's flag can be awaited, so it is looked at.
            await asyncio.wait({task}, timeout=_LOOK_EVERY_SECONDS)
        return task.result()
    finally:
        await stop(task)


async def stop(task: asyncio.Future[Any], grace: float = GRACE_SECONDS) -> None:
    """Cancels a task and waits until it has tidied up; one that does not let itself be cancelled is left behind."""
    task.add_done_callback(_look_at)
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=grace)


def _look_at(task: asyncio.Future[Any]) -> None:
    """Nobody asks for the outcome any more, and asyncio would report it as forgotten."""
    if not task.cancelled():
        task.exception()
