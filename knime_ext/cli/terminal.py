"""The terminal, or whatever stands in its place."""

from __future__ import annotations

import sys

from rich.console import Console

__all__ = ["console", "counted", "is_terminal"]

_UNBROKEN = 100_000


def is_terminal(*, stderr: bool = False) -> bool:
    """True if a person looks at the standard output, or at the error output."""
    stream = sys.stderr if stderr else sys.stdout
    return stream.isatty()


class _Console(Console):
    """Leaves it to the command to end when nobody reads any more; rich would exit with an error here."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """A console for the standard output or the error output: plain, with unbroken lines, where nobody looks."""
    if is_terminal(stderr=stderr):
        return _Console(stderr=stderr, highlight=False, emoji=False)
    return _Console(stderr=stderr, highlight=False, emoji=False, width=_UNBROKEN, soft_wrap=True)


def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 row", "2 rows"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
