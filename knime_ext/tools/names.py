"""Names that every chat model accepts, mapped back to the real ones without loss.

Model vendors take `[A-Za-z0-9_-]`, at most 64 characters; MCP and workflows allow far more.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Sequence

__all__ = ["MAX_NAME_LENGTH", "NameMap", "safe_name"]

MAX_NAME_LENGTH = 64


def safe_name(name: str, taken: Container[str] = ()) -> str:
    """A name that chat models accept.

    Accents are dropped and every other foreign character becomes an underscore. A name in `taken` gets the
    suffix `_2`, `_3`, ...; what is too long is cut.

    Args:
        name: Any text.
        taken: Names that are in use already.

    Returns:
        1 to 64 characters of `[A-Za-z0-9_-]`, not in `taken`. A safe name that is free comes back unchanged.
    """
    plain = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    stem = re.sub(r"[^A-Za-z0-9_-]", "_", plain)
    stem = stem if re.search(r"[A-Za-z0-9]", stem) else "tool"
    candidate, number = stem[:MAX_NAME_LENGTH], 1
    while candidate in taken:
        number += 1
        suffix = f"_{number}"
        candidate = stem[: MAX_NAME_LENGTH - len(suffix)] + suffix
    return candidate


class NameMap:
    """One safe name for each of a list of names, in both directions; equal names get different safe ones."""

    def __init__(self, names: Sequence[str]) -> None:
        """Assigns the safe names in order.

        Args:
            names: The real names; duplicates are allowed.
        """
        # Names that are safe already keep themselves, whatever stands before them.
        taken = dict.fromkeys(name for name in names if safe_name(name) == name)
        used: dict[str, int] = {}
        for index, name in enumerate(names):
            keeps = name in taken and name not in used
            used[name if keeps else safe_name(name, taken.keys() | used.keys())] = index
        self.safe: tuple[str, ...] = tuple(used)
        self._names = tuple(names)
        self._index = used

    def index(self, safe: str) -> int:
        """Position of the name behind a safe one.

        Raises:
            KeyError: No name of this map has that safe name.
        """
        return self._index[safe]

    def to_wire(self, safe: str) -> str:
        """The real name behind a safe one.

        Raises:
            KeyError: No name of this map has that safe name.
        """
        return self._names[self._index[safe]]

    def to_safe(self, index: int) -> str:
        """The safe name of the name at a position."""
        return self.safe[index]
