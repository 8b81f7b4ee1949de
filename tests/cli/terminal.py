"""Runs the command line at a terminal, with somebody who reads and types."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.cli.process import COMMAND, ROOT


class Terminal:
    """A program at a terminal; its standard output goes elsewhere, as in `knime-mcp … > file`.

    Attributes:
        screen: Everything that was on the screen so far.
    """

    def __init__(self, process: subprocess.Popen[str], keyboard: int) -> None:
        self.screen = ""
        self._process = process
        self._keyboard = keyboard
        self._read_to = 0

    def see(self, text: str, seconds: float = 30) -> None:
        """Waits until a text is on the screen, behind what was waited for before."""
        deadline = time.monotonic() + seconds
        while text not in self.screen[self._read_to :]:
            assert time.monotonic() < deadline, f"{text!r} never came up: {self.screen!r}"
            if not self._look() and self._process.poll() is not None:
                raise AssertionError(f"the program ended before {text!r}: {self.screen!r}")
        self._read_to = self.screen.index(text, self._read_to) + len(text)

    def type(self, line: str) -> None:
        """Types a line."""
        os.write(self._keyboard, line.encode() + b"\n")

    def press(self, key: bytes) -> None:
        """Presses a key, such as `b"\\x04"` for Ctrl-D."""
        os.write(self._keyboard, key)

    def output(self, seconds: float = 60) -> tuple[int, str]:
        """Waits for the program's end: its exit code and its standard output."""
        deadline = time.monotonic() + seconds
        while self._process.poll() is None:
            assert time.monotonic() < deadline, f"the program does not end: {self.screen!r}"
            self._look()
        assert self._process.stdout is not None
        return self._process.returncode, self._process.stdout.read()

    def _look(self) -> bool:
        if not select.select([self._keyboard], [], [], 0.05)[0]:
            return False
        with suppress(OSError):  # the program has closed its end
            data = os.read(self._keyboard, 65_536)
            self.screen += data.decode("utf-8", "replace").replace("\r\n", "\n")
            return bool(data)
        return False


@contextmanager
def at_a_terminal(*words: str, cwd: Path = ROOT, **env: str) -> Generator[Terminal]:
    """Starts `knime-mcp` with these words; it is gone at the end of the block."""
    keyboard, screen = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *words],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TERM": "dumb", "COLUMNS": "200"} | env,
        stdin=screen,
        stderr=screen,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    os.close(screen)
    try:
        yield Terminal(process, keyboard)
    finally:
        process.kill()
        process.wait(10)
        assert process.stdout is not None
        process.stdout.close()
        os.close(keyboard)
