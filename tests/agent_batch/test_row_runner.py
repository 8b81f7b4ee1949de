"""Many rows side by side: bounded, journaled, stopped at once."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from knime_ext.agent.batch.journal import Journal
from knime_ext.agent.batch.row_runner import BatchProgress, FinishedRow, run_rows
from knime_ext.errors import RowFailed, RowsCancelled


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal.open(tmp_path / "journal", fingerprint="test") as opened:
        yield opened


async def upper(number: int, row: str) -> FinishedRow:
    await asyncio.sleep(0)
    return FinishedRow(payload=row.upper().encode(), tokens=2)


def test_every_row_is_worked_on_once_and_written_down(journal: Journal) -> None:
    told: list[BatchProgress] = []
    summary = asyncio.run(run_rows(enumerate("abcde"), upper, journal=journal, total=5, progress=told.append))
    assert list(journal.rows()) == [(0, b"A"), (1, b"B"), (2, b"C"), (3, b"D"), (4, b"E")]
    assert (summary.done, summary.failed, summary.resumed, summary.tokens) == (5, 0, 0, 10)
    assert told[-1] == summary
    assert summary.fraction == 1.0
    assert str(summary).startswith("5 of 5 rows, ")


def test_finished_rows_are_not_worked_on_again(journal: Journal) -> None:
    journal.record(1, b"before")
    seen: list[int] = []

    async def work(number: int, row: str) -> FinishedRow:
        seen.append(number)
        return await upper(number, row)

    summary = asyncio.run(run_rows(enumerate("abc"), work, journal=journal))
    assert seen == [0, 2]
    assert (summary.done, summary.resumed) == (2, 1)
    assert journal.payload(1) == b"before"


def test_no_more_rows_than_allowed_are_taken_or_worked_on_at_a_time(journal: Journal) -> None:
    taken, working, most = 0, 0, 0

    def rows() -> Iterator[tuple[int, str]]:
        nonlocal taken
        for number in range(200):
            taken += 1
            yield number, "x"

    async def work(number: int, row: str) -> FinishedRow:
        nonlocal working, most
        working += 1
        most = max(most, working)
        assert taken <= number + 7
        for _ in range(number % 5):
            await asyncio.sleep(0)
        working -= 1
        return FinishedRow(payload=b"")

    asyncio.run(run_rows(rows(), work, journal=journal, concurrency=7))
    assert most == 7
    assert len(journal) == 200


async def fails_at_two(number: int, row: str) -> FinishedRow:
    await asyncio.sleep(0)
    return FinishedRow(payload=row.encode(), error="no such thing" if number == 2 else None)


def test_a_row_that_fails_never_stops_the_others(journal: Journal) -> None:
    summary = asyncio.run(run_rows(enumerate("abcde"), fails_at_two, journal=journal))
    assert (summary.done, summary.failed) == (5, 1)
    assert journal.finished() == {0, 1, 2, 3, 4}


def test_the_first_row_that_fails_stops_the_run_if_asked_and_is_tried_again(journal: Journal) -> None:
    with pytest.raises(RowFailed, match="row 3 failed: no such thing") as caught:
        asyncio.run(
            run_rows(enumerate("abcde"), fails_at_two, journal=journal, concurrency=1, stop_at_first_error=True)
        )
    assert caught.value.number == 2
    assert journal.finished() == {0, 1}
    asyncio.run(run_rows(enumerate("abcde"), upper, journal=journal))
    assert journal.finished() == {0, 1, 2, 3, 4}


def test_an_unexpected_error_stops_everything_and_comes_through(journal: Journal) -> None:
    stopped: list[int] = []

    async def work(number: int, row: str) -> FinishedRow:
        if number == 3:
            raise ZeroDivisionError("a mistake in the program")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.append(number)
            raise
        return FinishedRow(payload=b"")

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run_rows(enumerate("abcdef"), work, journal=journal, concurrency=4))
    assert sorted(stopped) == [0, 1, 2]


def test_cancelling_stops_at_once_and_keeps_what_is_finished(journal: Journal) -> None:
    cancel = threading.Event()

    async def work(number: int, row: str) -> FinishedRow:
        if number < 3:
            return FinishedRow(payload=row.encode())
        cancel.set()
        await asyncio.sleep(60)
        raise AssertionError

    with pytest.raises(RowsCancelled, match="run it again to go on"):
        asyncio.run(run_rows(enumerate("abcdef"), work, journal=journal, cancel=cancel))
    assert journal.finished() == {0, 1, 2}


def test_cancelling_the_task_stops_the_workers_too(journal: Journal) -> None:
    ended: list[int] = []

    async def work(number: int, row: str) -> FinishedRow:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(number)
        raise AssertionError

    async def stopped() -> None:
        task = asyncio.ensure_future(run_rows(enumerate("abc"), work, journal=journal))
        for _ in range(3):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stopped())
    assert sorted(ended) == [0, 1, 2]


def test_memory_does_not_grow_with_the_number_of_rows(journal: Journal) -> None:
    size = 20_000
    peaks: list[int] = []

    def rows() -> Iterator[tuple[int, bytes]]:
        for number in range(size):
            if number in (size // 10, size - 1):
                peaks.append(tracemalloc.get_traced_memory()[1])
            yield number, b"%d" % number * 200

    async def work(number: int, row: bytes) -> FinishedRow:
        return FinishedRow(payload=row, tokens=1)

    tracemalloc.start()
    try:
        asyncio.run(run_rows(rows(), work, journal=journal, concurrency=16))
    finally:
        tracemalloc.stop()
    early, late = peaks
    assert late - early < 200_000, peaks
    assert len(journal) == size
