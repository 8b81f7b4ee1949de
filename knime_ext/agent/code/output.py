"""What code prints, up to a limit."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Output"]


class Output:
    """Keeps what is printed; the first byte too many ends the code.

    The library's own collectors notice it as early, but let the code run on until its time is up.
    """

    def __init__(self, limit: int, end: Callable[[], None]) -> None:
        """Nothing is printed yet.

        Args:
            limit: Bytes of UTF-8 that are allowed.
            end: Ends the code; called once.
        """
        self.exceeded = False
        self._limit = limit
        self._left = limit
        self._end = end
        self._parts: list[str] = []

    @property
    def text(self) -> str:
        """What was printed, as far as it is allowed."""
        return "".join(self._parts)

    @property
    def error(self) -> str:
        """Why the code was ended."""
        return f"the code printed more than {self._limit} bytes"

    def write(self, stream: str, text: str) -> None:
        """Takes a piece of output; the library calls it."""
        if self.exceeded:
            return
        data = text.encode("utf-8", "replace")
        self._parts.append(data[: self._left].decode("utf-8", "ignore"))
        self._left -= len(data)
        if self._left < 0:
            self.exceeded = True
            self._end()
