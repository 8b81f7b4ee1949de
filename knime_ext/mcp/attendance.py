"""Whoever answers a server's questions may think about it: meanwhile no time passes for the calls of that session."""

from __future__ import annotations

import inspect
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from knime_ext.mcp.deadlines import Deadline
from knime_ext.mcp.questions import Answer, Handlers, Question

__all__ = ["Attendance"]


class Attendance:
    """The handlers of one session, and the clocks that stand still while they answer.

    A server's question does not say which of several calls it belongs to, so all of them wait.

    Args:
        server: Address of the server, for whoever is asked.
        handlers: Who answers.

    Attributes:
        handlers: The same, to be given to the session.
    """

    def __init__(self, server: str, handlers: Handlers) -> None:
        self._server = server
        self._elicit = handlers.elicit
        self._running: set[Deadline] = set()
        self.handlers = handlers if handlers.elicit is None else replace(handlers, elicit=self._answered)

    @contextmanager
    def timed(self, deadline: Deadline) -> Generator[None]:
        """For the length of a call: its time is that of the server, not that of whoever answers."""
        self._running.add(deadline)
        try:
            yield
        finally:
            self._running.discard(deadline)

    async def _answered(self, question: Question) -> Answer:
        assert self._elicit is not None
        with ExitStack() as stack:
            for deadline in list(self._running):
                stack.enter_context(deadline.paused())
            answer = self._elicit(replace(question, server=self._server))
            return await answer if inspect.isawaitable(answer) else answer
