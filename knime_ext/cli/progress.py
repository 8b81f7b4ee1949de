"""What a run tells while it goes on: a bar per node on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from knime_ext.cli.terminal import console, counted, is_terminal
from knime_ext.runtime.events import (
    Event,
    NodeFailed,
    NodeFinished,
    NodeProgress,
    NodeSkipped,
    NodeStarted,
    NodeWarning,
    PortSize,
)

__all__ = ["Watch", "sizes", "watched"]


class Watch(Protocol):
    """Shows events as they come; may be called from any thread."""

    def __call__(self, event: Event) -> None:
        """Shows an event."""
        ...

    def aside(self) -> AbstractContextManager[None]:
        """In the block, the screen belongs to somebody else."""
        ...


def sizes(tables: Sequence[PortSize]) -> str:
    """The sizes of a node's tables, such as "8 rows × 3 columns"."""
    return ", ".join(f"{counted(table.rows, 'row')} × {counted(table.columns, 'column')}" for table in tables)


def _line(event: Event) -> str | None:
    """An event as a line of text, None if it needs none."""
    match event:
        case NodeStarted(node=node, name=name):
            return f"{node}: {name} started"
        case NodeProgress(node=node, fraction=fraction, message=message) if message:
            return f"{node}: {fraction:.0%} {message}"
        case NodeWarning(node=node, message=message):
            return f"{node}: warning: {message}"
        case NodeFinished(node=node, seconds=seconds, tables=tables):
            return f"{node}: done in {seconds:.2f} s" + (f", {sizes(tables)}" if tables else "")
        case NodeFailed(node=node, message=message):
            return f"{node}: failed: {message}"
        case NodeSkipped(node=node, because=because):
            return f"{node}: skipped, {because}"
        case _:
            return None


class _PlainLines:
    """A line per event."""

    def __call__(self, event: Event) -> None:
        line = _line(event)
        if line is not None:
            print(line, file=sys.stderr, flush=True)

    def aside(self) -> AbstractContextManager[None]:
        return nullcontext()


class _Mark(ProgressColumn):
    """Whether a node works, is done, has failed or was skipped."""

    _MARKS = {"": ("●", "cyan"), "done": ("✔", "green"), "failed": ("✘", "red"), "skipped": ("–", "dim")}

    def render(self, task: Task) -> Text:
        mark, style = self._MARKS[task.fields["state"]]
        return Text(mark, style)


class _Seconds(ProgressColumn):
    """How long a node has worked."""

    def render(self, task: Task) -> Text:
        seconds = task.finished_time if task.finished else task.elapsed
        return Text(f"{seconds or 0:.1f} s", "dim")


class _Bars:
    """A bar per node, in the order in which they start."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        with self._lock:
            self._show(event)

    @contextmanager
    def aside(self) -> Generator[None]:
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()

    def _show(self, event: Event) -> None:
        match event:
            case NodeStarted(node=node, name=name):
                self._tasks[node] = self._progress.add_task(
                    escape(name), total=1.0, state="", node=escape(node), note=""
                )
            case NodeProgress(node=node, fraction=fraction, message=message):
                self._update(node, completed=min(fraction, 0.99), note=escape(message or ""))
            case NodeWarning(node=node, message=message):
                self._progress.console.print(f"[yellow]! {escape(node)}: {escape(message)}[/yellow]")
            case NodeFinished(node=node, tables=tables):
                self._update(node, completed=1.0, state="done", note=sizes(tables))
            case NodeFailed(node=node, message=message):
                self._update(node, state="failed", note=escape(message if len(message) <= 60 else f"{message[:59]}…"))
            case NodeSkipped(node=node, because=because):
                self._skipped(node, because)
            case _:
                return

    def _update(self, node: str, *, note: str, state: str = "", completed: float | None = None) -> None:
        task = self._tasks.get(node)
        if task is not None:
            self._progress.update(task, completed=completed, note=note, state=state)
            if state:
                self._progress.stop_task(task)

    def _skipped(self, node: str, because: str) -> None:
        if node not in self._tasks:
            self._tasks[node] = self._progress.add_task(
                "", total=1.0, start=False, state="", node=escape(node), note=""
            )
        self._update(node, state="skipped", note=f"skipped, {escape(because)}")


@contextmanager
def watched() -> Generator[Watch]:
    """Gives what shows events as they come."""
    if not is_terminal(stderr=True):
        yield _PlainLines()
        return
    columns = (
        _Mark(),
        TextColumn("{task.fields[node]}", style="bold"),
        TextColumn("{task.description}"),
        BarColumn(bar_width=16, complete_style="cyan", finished_style="green"),
        _Seconds(),
        TextColumn("{task.fields[note]}", style="dim"),
    )
    with Progress(*columns, console=console(stderr=True)) as progress:
        yield _Bars(progress)
