"""The nearest known name, for messages about names that do not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean", "nearest"]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, case aside; None if nothing is near."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.5)
    return by_folded[matches[0]] if matches else None


def did_you_mean(name: str, known: Iterable[str], *, kind: str = "names") -> str:
    """The repair that ends a message about an unknown name.

    Args:
        name: The name that does not exist.
        known: The names that do.
        kind: Plural noun for them, such as "parameters".
    """
    known = sorted(known)
    found = nearest(name, known)
    if found is not None:
        return f"did you mean {found!r}?"
    if not known:
        return f"there are no {kind}"
    listed = ", ".join(map(repr, known[:12])) + (", ..." if len(known) > 12 else "")
    return f"known {kind} are {listed}"
