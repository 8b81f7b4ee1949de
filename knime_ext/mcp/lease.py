"""The shared bridge and a pool of sessions, held from the first use until they are given back.

What lets a client be used from sync and async code, in any thread, without anything being opened beforehand.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

from knime_ext.bridge import Bridge, shared_bridge
from knime_ext.mcp.pool import SessionPool

__all__ = ["Lease"]

T = TypeVar("T")
_Work = Callable[[SessionPool], Coroutine[Any, Any, T]]


@dataclass(frozen=True, slots=True)
class _Open:
    bridge: Bridge
    pool: SessionPool
    stack: ExitStack


class Lease:
    """Runs work with a pool of sessions on the bridge; opens both when needed.

    Whatever is still open when the interpreter ends is closed then.

    Args:
        make_pool: Makes the pool; called at the first use, and again at the first use after a close.
    """

    def __init__(self, make_pool: Callable[[], SessionPool]) -> None:
        self._make_pool = make_pool
        self._lock = threading.Lock()
        self._held: _Open | None = None

    @property
    def pool(self) -> SessionPool | None:
        """The pool, None while nothing is open."""
        return None if self._held is None else self._held.pool

    def run(self, work: _Work[T]) -> T:
        """Does the work and waits for it."""
        held = self._hold()
        return held.bridge.run(work(held.pool))

    async def arun(self, work: _Work[T]) -> T:
        """Does the work for async code on any loop; cancelling it cancels the work."""
        held = self._hold()
        return await held.bridge.arun(work(held.pool))

    def close(self) -> None:
        """Ends all sessions and gives the bridge back; does nothing if nothing is open."""
        held = self._let_go()
        if held is not None:
            with held.stack:
                held.bridge.run(held.pool.close())

    async def aclose(self) -> None:
        """The same as `close` for async code on any loop."""
        held = self._let_go()
        if held is not None:
            try:
                await held.bridge.arun(held.pool.close())
            finally:
                # The last one to leave waits for the thread of the bridge.
                await asyncio.to_thread(held.stack.close)

    def _hold(self) -> _Open:
        with self._lock:
            if self._held is None:
                pool, stack = self._make_pool(), ExitStack()
                self._held = _Open(stack.enter_context(shared_bridge()), pool, stack)
                atexit.register(self.close)
            return self._held

    def _let_go(self) -> _Open | None:
        with self._lock:
            held, self._held = self._held, None
        atexit.unregister(self.close)
        return held
