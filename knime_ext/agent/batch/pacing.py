"""The pace of all runs of a table together: limits per model and per server, and retries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TypeVar

from langchain_core.tools import BaseTool

from knime_ext.agent.batch.limiter import Limiter
from knime_ext.agent.batch.retries import Retries
from knime_ext.agent.pace import Pace

__all__ = ["Pacing", "SharedPace"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """Limits on calls, over all rows of a table; None for no limit.

    Attributes:
        model_concurrency: Requests to the model that go on at a time.
        model_per_minute: Requests to the model that begin per minute.
        server_concurrency: Calls to each MCP server that go on at a time.
        server_per_minute: Calls to each MCP server that begin per minute.
        retries: What happens when the model is overloaded.
    """

    model_concurrency: int | None = None
    model_per_minute: float | None = None
    server_concurrency: int | None = None
    server_per_minute: float | None = None
    retries: Retries = field(default_factory=Retries)


class SharedPace(Pace):
    """Has the calls of many runs wait for each other. Made for one event loop."""

    def __init__(self, pacing: Pacing) -> None:
        self._pacing = pacing
        self._model = Limiter(concurrent=pacing.model_concurrency, per_minute=pacing.model_per_minute)
        self._servers: dict[str, Limiter] = {}

    async def model_call(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Asks the model when it is this run's turn, and again after a failure that passes.

        A wait for the next attempt takes no turn away from others; but when the service limits the rate, nobody asks
        it before the time that it named.
        """

        async def attempt() -> T:
            async with self._model:
                return await ask()

        return await self._pacing.retries.run(attempt, self._model.pause)

    def tool_call(self, tool: BaseTool | None) -> AbstractAsyncContextManager[None]:
        """The turn at the tool's server; tools without a server do not wait."""
        server = (tool.metadata or {}).get("server") if tool is not None else None
        return self._server(str(server)) if server else nullcontext()

    def _server(self, server: str) -> Limiter:
        limiter = self._servers.get(server)
        if limiter is None:
            pacing = self._pacing
            limiter = Limiter(concurrent=pacing.server_concurrency, per_minute=pacing.server_per_minute)
            self._servers[server] = limiter
        return limiter
