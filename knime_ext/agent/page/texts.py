"""Foreign text on its way into a page: escaped, cut, and with everything visible that would hide or reorder it."""

from __future__ import annotations

import re
from html import escape

__all__ = ["MAX_TEXT", "counted", "duration", "shortened", "shown", "visible"]

MAX_TEXT = 20_000
"""Characters of one text that are shown."""

_NEW_LINE = re.compile("\r\n?|[\u2028\u2029]")
_HIDDEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and new line
    "\u200b\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"  # zero width, embeddings, overrides, isolates
    "\U000e0000-\U000e007f"  # tags
    "]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def visible(text: str) -> str:
    """The text with a mark such as ⟨U+202E⟩ for every character that shows nothing or turns the writing around."""
    if text.isascii() and text.isprintable():
        return text
    text = _SURROGATE.sub("\ufffd", _NEW_LINE.sub("\n", text))
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def shown(text: object, length: int = MAX_TEXT) -> str:
    """Any text as HTML, for content and for quoted attributes.

    Args:
        text: The text; anything else is shown as `str` gives it.
        length: Characters after which it is cut with a note.
    """
    return escape(visible(shortened(str(text), length)))


def shortened(text: str, length: int) -> str:
    """The text, or its beginning with a note about how much is missing."""
    return text if len(text) <= length else f"{text[:length]}… ({len(text) - length:,} more characters)"


def counted(number: int, noun: str) -> str:
    """`1 row`, `1,200 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """A time for people: 0.4 ms, 12 ms, 3.4 s, 2 min 05 s."""
    if seconds < 0.01:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60):,} min {int(seconds % 60):02d} s"
