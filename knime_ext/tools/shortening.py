"""Keeps long results away from a model, whoever calls the tools. No I/O."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from typing import Any

from knime_ext.tools.long_results import MAX_RESULT_CHARS, READ_MORE, ResultShelf, read_more, shelved_text
from knime_ext.tools.result import ToolResult

__all__ = ["MemoryShelf", "Shortener"]

_SHOWN_AS_TEXT = frozenset({"text", "resource"})
"""Kinds of blocks whose text is part of a result's text."""


class MemoryShelf:
    """Keeps long results in memory, the newest ones only; usable from several threads.

    Args:
        most_chars: How many characters are kept in all; the oldest results go first.
    """

    def __init__(self, most_chars: int = 50_000_000) -> None:
        self._most_chars = most_chars
        self._texts: dict[str, str] = {}
        self._lock = threading.Lock()

    def put(self, text: str) -> str:
        """Takes a text and gives its handle, the same one for equal texts."""
        handle = f"result-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        with self._lock:
            self._texts.pop(handle, None)
            self._texts[handle] = text
            while len(self._texts) > 1 and sum(map(len, self._texts.values())) > self._most_chars:
                del self._texts[next(iter(self._texts))]
        return handle

    def size(self, handle: str) -> int | None:
        """Length of a text in characters; None if no text has that handle (any more)."""
        text = self._texts.get(handle)
        return None if text is None else len(text)

    def read(self, handle: str, offset: int, count: int) -> str:
        """A part of a text, in characters; nothing of one that is gone."""
        return self._texts.get(handle, "")[offset : offset + count]


class Shortener:
    """Shortens results for a model, and reads on in them.

    Attributes:
        has_shortened: True once a result was too long: only then there is something to read on in.

    Args:
        shelf: Where the whole texts are kept; in memory if not given.
        limit: Characters that the model gets at once.
        tool: Name of the tool to read on with.
    """

    def __init__(
        self, shelf: ResultShelf | None = None, limit: int = MAX_RESULT_CHARS, tool: str = READ_MORE.name
    ) -> None:
        self.has_shortened = False
        self._shelf = MemoryShelf() if shelf is None else shelf
        self._limit = limit
        self._tool = tool

    def text(self, text: str) -> str:
        """The text, or its beginning and how to read on."""
        if len(text) <= self._limit:
            return text
        self.has_shortened = True
        return shelved_text(text, self._shelf, self._limit, self._tool)

    def result(self, result: ToolResult) -> tuple[str, ToolResult]:
        """The text for the model, and the result without what was too long; images and the like stay."""
        whole = result.text
        text = self.text(whole)
        if text is whole:
            return text, result
        others = [block for block in result.content if block.get("type") not in _SHOWN_AS_TEXT]
        return text, ToolResult(content=({"type": "text", "text": text}, *others), is_error=result.is_error)

    def read(self, arguments: Mapping[str, Any]) -> str:
        """A further part of a result, for a call of the tool to read on with.

        Raises:
            InvalidArguments: No result has that handle, or it ends before the offset.
        """
        return read_more(arguments, self._shelf, self._limit, self._tool)
