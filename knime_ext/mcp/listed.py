"""Which servers this process has listed for a person: their rows may be called like what the person typed.

Only digests are kept, so that the memory holds no address (which may have a key in its query).
"""

from __future__ import annotations

import hashlib

__all__ = ["forget_listed", "remember_listed", "was_listed"]

_listed: set[str] = set()


def _digest(uri: str) -> str:
    return hashlib.sha256(uri.encode()).hexdigest()


def remember_listed(uri: str) -> None:
    """Notes that a person has asked for the tools of the server at this address."""
    _listed.add(_digest(uri))


def was_listed(uri: str) -> bool:
    """Whether a person has asked for the tools of the server at this address."""
    return _digest(uri) in _listed


def forget_listed() -> None:
    """Forgets every server."""
    _listed.clear()
