"""HTTP connections to a model that end with the event loop they were made on.

Providers' libraries keep one pool of connections for the whole process, but a connection belongs to the event loop
that opened it: on the next loop it fails, and nobody closes it. Event loops here come and go with the bridge.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import openai

__all__ = ["PerLoopClient"]


class PerLoopClient(openai.DefaultAsyncHttpxClient):
    """OpenAI's HTTP client, with connections of its own for each event loop."""

    works_on_every_loop = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._options = options
        self._keepers: dict[asyncio.AbstractEventLoop, _Keeper] = {}

    async def send(self, request: Any, **options: Any) -> Any:
        """Sends a request over the connections of the running loop."""
        loop = asyncio.get_running_loop()
        keeper = self._keepers.get(loop)
        if keeper is None:
            keeper = self._keepers[loop] = _Keeper(openai.DefaultAsyncHttpxClient(**self._options))
            await keeper.start(lambda: self._keepers.pop(loop, None))
        return await keeper.client.send(request, **options)


class _Keeper:
    """Holds a client until its loop shuts down."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def start(self, forget: Any) -> None:
        """Ties the client to the loop: closing a loop properly closes its async generators, and so the client."""
        self._lifetime = self._until_the_end(forget)
        await anext(self._lifetime)

    async def _until_the_end(self, forget: Any) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            forget()
            await self.client.aclose()
