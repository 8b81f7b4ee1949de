"""When the calls of a run go out: at once, unless somebody who knows of other runs has them wait or tried again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TypeVar

from langchain_core.tools import BaseTool

__all__ = ["Pace"]

T = TypeVar("T")


class Pace:
    """Lets every call go out at once. What shares a model or a server with other runs overrides it."""

    async def model_call(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Asks the model.

        Args:
            ask: Sends the request and gives the reply, or raises what the provider's library raises; may be called
                again.
        """
        return await ask()

    def tool_call(self, tool: BaseTool | None) -> AbstractAsyncContextManager[None]:
        """Surrounds a call of a tool (None for one that is not offered); the time limit of the call begins inside."""
        return nullcontext()
