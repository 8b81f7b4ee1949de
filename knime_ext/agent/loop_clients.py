"""HTTP connections to a model that end with the event loop they were made on.

Providers' libraries keep one pool of connections for the whole process, but a connection belongs to the event loop
that opened it: on the next loop it fails, and nobody closes it. Event loops here come and go with the bridge.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

import openai

__all__ = ["PerLoopClient"]


class PerLoopClient(openai.DefaultAsyncHttpxClient):
    """OpenAI's HTTP client, with connections of its own for each event loop.

    They are closed with the loop, or when nobody has the client any more.
    """

    works_on_every_loop = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._options = options
        self._keepers: dict[asyncio.AbstractEventLoop, _Keeper] = {}
        weakref.finalize(self, _close_all, self._keepers).atexit = False

    async def send(self, request: Any, **options: Any) -> Any:
        """Sends a request over the connections of the running loop."""
        loop, keepers = asyncio.get_running_loop(), self._keepers
        keeper = keepers.get(loop)
        if keeper is None:
            keeper = keepers[loop] = _Keeper(openai.DefaultAsyncHttpxClient(**self._options))
            # Nothing here may hold the client itself, or it would never be given up.
            await keeper.start(lambda: keepers.pop(loop, None))
        return await keeper.client.send(request, **options)


class _Keeper:
    """Holds a client until its loop shuts down."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def start(self, forget: Any) -> None:
        """Ties the client to the loop: closing a loop properly closes its async generators, and so the client."""
        self._lifetime = self._until_the_end(forget)
        await anext(self._lifetime)

    async def close(self) -> None:
        """Closes the connections before the loop ends."""
        await self._lifetime.aclose()

    async def _until_the_end(self, forget: Any) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            forget()
            await self.client.aclose()


def _close_all(keepers: dict[asyncio.AbstractEventLoop, _Keeper]) -> None:
    """Closes what a client that is gone has left open on loops that run; may be called from any thread."""
    for loop, keeper in tuple(keepers.items()):
        with suppress(RuntimeError):  # the loop is closed, and so are the connections
            loop.call_soon_threadsafe(_close_soon, loop, keeper)


def _close_soon(loop: asyncio.AbstractEventLoop, keeper: _Keeper) -> None:
    task = loop.create_task(keeper.close())
    _closing.add(task)
    task.add_done_callback(_closing.discard)


_closing: set[asyncio.Task[None]] = set()
"""An event loop alone does not keep a task alive."""
