"""The progress of calls on its way to whoever shows it.

A context variable, because a call passes hosts that know nothing of progress, in other threads and on other loops; the
bridge takes the context of the caller along.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Progress", "ProgressListener", "current_listener", "showing_progress"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a call is, as the server says.

    Attributes:
        done: How much is done, in a unit of the server's own.
        total: How much there is to do in the same unit, None if the server does not know.
        message: What it is doing; foreign text without invisible characters, may be empty.
    """

    done: float
    total: float | None = None
    message: str = ""

    @property
    def fraction(self) -> float | None:
        """The part that is done, from 0 to 1; None if that is unknown."""
        if self.total is None or not self.total > 0:
            return None
        return min(max(self.done / self.total, 0.0), 1.0)


ProgressListener: TypeAlias = Callable[[Progress], None]

_listener: ContextVar[ProgressListener | None] = ContextVar("knime_mcp_progress", default=None)


def current_listener() -> ProgressListener | None:
    """Who is told about the progress of calls that are made in this context."""
    return _listener.get()


@contextmanager
def showing_progress(listener: ProgressListener) -> Generator[None]:
    """Tells the listener about the progress of calls that are made inside, from the thread of the bridge."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
