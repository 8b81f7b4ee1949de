"""Blocking calls of a host, away from the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["call_in_thread"]

T = TypeVar("T")


async def call_in_thread(function: Callable[..., T], *args: Any) -> T:
    """Awaits a blocking call that runs in a thread of its own.

    A blocking call cannot be interrupted. When the awaiting task is cancelled, the caller goes on at once and the
    thread ends when the call does; it is a daemon, so that it never holds up the end of the process. An executor
    would make the event loop wait for it on closing.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if isinstance(error, StopIteration):
            # A future cannot hold it, and would be waited for without end.
            future.set_exception(RuntimeError("StopIteration was raised outside of an iterator"))
        elif error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # pyright: ignore[reportArgumentType]

    def work() -> None:
        result, failure = None, None
        try:
            result = context.run(function, *args)
        except BaseException as error:
            failure = error
        try:
            loop.call_soon_threadsafe(settle, result, failure)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    threading.Thread(target=work, name="knime-mcp-call", daemon=True).start()
    return await future
