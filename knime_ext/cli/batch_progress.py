"""How far a table is, while it is worked on: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from knime_ext.agent.batch.row_runner import BatchProgress
from knime_ext.cli.terminal import console, is_terminal

__all__ = ["shown_progress"]

_LINE_EVERY_SECONDS = 5.0


@contextmanager
def shown_progress() -> Generator[Callable[[BatchProgress], None]]:
    """Gives a function that shows the progress; may be called from any thread."""
    if not is_terminal(stderr=True):
        yield _Lines()
        return
    columns = (
        SpinnerColumn(),
        BarColumn(bar_width=30, complete_style="cyan", finished_style="green"),
        MofNCompleteColumn(),
        TextColumn("rows"),
        TextColumn("{task.fields[note]}", style="dim"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console(stderr=True)) as progress:
        task = progress.add_task("rows", total=None, note="")

        def show(state: BatchProgress) -> None:
            parts = [f"{state.rows_per_second:.1f} rows/s"]
            parts += [f"{state.failed:,} failed"] if state.failed else []
            parts += [f"{state.tokens:,} tokens"] if state.tokens else []
            progress.update(task, completed=state.done + state.resumed, total=state.total, note=", ".join(parts))

        yield show


class _Lines:
    """Writes a line every few seconds."""

    def __init__(self) -> None:
        self._next = monotonic() + _LINE_EVERY_SECONDS

    def __call__(self, state: BatchProgress) -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + _LINE_EVERY_SECONDS
            print(state, file=sys.stderr, flush=True)
