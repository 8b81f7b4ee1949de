"""Works on many rows side by side, and goes on where an earlier run stopped. Knows nothing about what a row is."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Generic, TypeVar

from knime_ext.agent.batch.journal import Journal
from knime_ext.agent.cancellation import Cancel, Cancelled, unless_cancelled
from knime_ext.errors import RowFailed, RowsCancelled

__all__ = ["BatchProgress", "FinishedRow", "run_rows"]

T = TypeVar("T")

_TELL_EVERY_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRow:
    """What came of one row.

    Attributes:
        payload: What the journal keeps of it.
        error: Why it failed, None if it did not.
        tokens: Tokens that it cost.
    """

    payload: bytes
    error: str | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchProgress:
    """How far a run is.

    Attributes:
        done: Rows finished by this run, failed ones included.
        failed: Rows of this run that failed.
        resumed: Rows that an earlier run had finished.
        total: Number of all rows, None if unknown.
        tokens: Tokens of this run.
        seconds: How long this run has taken so far.
    """

    done: int = 0
    failed: int = 0
    resumed: int = 0
    total: int | None = None
    tokens: int = 0
    seconds: float = 0.0

    @property
    def rows_per_second(self) -> float:
        """Rows that this run finished per second."""
        return self.done / self.seconds if self.seconds > 0 else 0.0

    @property
    def fraction(self) -> float:
        """Between 0 and 1; 0 while the number of rows is unknown."""
        return min(1.0, (self.done + self.resumed) / self.total) if self.total else 0.0

    def __str__(self) -> str:
        of = "" if self.total is None else f" of {self.total:,}"
        failed = f", {self.failed:,} failed" if self.failed else ""
        tokens = f", {self.tokens:,} tokens" if self.tokens else ""
        return f"{self.done + self.resumed:,}{of} rows, {self.rows_per_second:.1f} rows/s{failed}{tokens}"


@dataclass(slots=True, kw_only=True)
class _Rows(Generic[T]):
    """The rows that nobody works on yet, and what came of the others."""

    waiting: Iterator[tuple[int, T]]
    work: Callable[[int, T], Awaitable[FinishedRow]]
    journal: Journal
    stop_at_first_error: bool
    cancel: Cancel | None
    tell: Callable[[BatchProgress], None] | None
    progress: BatchProgress
    began: float = field(default_factory=monotonic)
    told: float = 0.0

    async def worker(self) -> None:
        """Takes row after row; there is no task per row, so that a million rows need no more than a hundred."""
        for number, row in self.waiting:
            if number in self.journal:
                self._count(resumed=1)
                # A long stretch of finished rows must not keep the others waiting.
                await asyncio.sleep(0)
                continue
            finished = await self.work(number, row)
            if _is_set(self.cancel):
                # What stopped the work may have looked like a failure to it; then the row is not finished.
                await asyncio.Event().wait()
            if finished.error is not None and self.stop_at_first_error:
                raise RowFailed(number, finished.error)
            self.journal.record(number, finished.payload)
            self._count(done=1, failed=int(finished.error is not None), tokens=finished.tokens)

    def _count(self, *, done: int = 0, failed: int = 0, resumed: int = 0, tokens: int = 0) -> None:
        now, before = monotonic(), self.progress
        self.progress = replace(
            before,
            done=before.done + done,
            failed=before.failed + failed,
            resumed=before.resumed + resumed,
            tokens=before.tokens + tokens,
            seconds=now - self.began,
        )
        if self.tell is not None and now - self.told >= _TELL_EVERY_SECONDS:
            self.told = now
            self.tell(self.progress)

    def finish(self) -> BatchProgress:
        """Tells the last state, whenever the one before was told."""
        self.progress = replace(self.progress, seconds=monotonic() - self.began)
        if self.tell is not None:
            self.tell(self.progress)
        return self.progress


def _is_set(cancel: Cancel | None) -> bool:
    return cancel is not None and (cancel.is_set() if isinstance(cancel, threading.Event) else cancel())


async def run_rows(
    rows: Iterable[tuple[int, T]],
    work: Callable[[int, T], Awaitable[FinishedRow]],
    *,
    journal: Journal,
    concurrency: int = 16,
    stop_at_first_error: bool = False,
    total: int | None = None,
    progress: Callable[[BatchProgress], None] | None = None,
    cancel: Cancel | None = None,
) -> BatchProgress:
    """Works on rows side by side; each goes to the journal the moment it is finished.

    Rows that are in the journal already are not worked on again. Rows are taken from `rows` only when somebody has
    time for them, and nothing is kept of a finished one, so memory does not grow with their number.

    Args:
        rows: Number (position in the input, from 0) and content of each row; read lazily, on the event loop.
        work: Does a row. A row that fails is a `FinishedRow` with `error`; an exception stops the whole run.
        journal: Where finished rows go.
        concurrency: How many rows are worked on at a time.
        stop_at_first_error: True stops at the first row that fails; it is then not in the journal.
        total: Number of rows, for the progress.
        progress: Told how far the run is, a few times a second and at the end, on the event loop.
        cancel: An event or a function; the run stops at once after it is set or true.

    Returns:
        How many rows were done, failed, or finished before.

    Raises:
        RowFailed: A row failed and the run was to stop then.
        RowsCancelled: It was stopped by `cancel`.
    """
    state = _Rows(
        waiting=iter(rows),
        work=work,
        journal=journal,
        stop_at_first_error=stop_at_first_error,
        cancel=cancel,
        tell=progress,
        progress=BatchProgress(total=total),
    )
    try:
        await unless_cancelled(_all(state, concurrency), cancel)
    except Cancelled:
        raise RowsCancelled("the run was cancelled; finished rows are kept, run it again to go on.") from None
    finally:
        last = state.finish()
    return last


async def _all(state: _Rows[T], concurrency: int) -> None:
    """Lets the workers work; when one of them fails, the others stop at once and have ended when this returns."""
    workers = [asyncio.ensure_future(state.worker()) for _ in range(max(1, concurrency))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait(workers)
