"""Which servers have been listed for a person: their rows may be called like what the person typed.

The memory is that of the process. KNIME runs every node in a process of its own, so there the node that lists writes
the memory to a file of the user's, and the node that calls reads it.

Only digests are kept, so that the memory holds no address (which may have a key in its query).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.config_home import config_home, write_private

__all__ = ["forget_listed", "recall_listed", "remember_listed", "save_listed", "was_listed"]

MAX_SAVED = 1_000
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
    """Forgets every server, in this process."""
    _listed.clear()


def save_listed(uris: Iterable[str]) -> None:
    """Lets other processes of this user know; the oldest entries give way to the newest."""
    new = [_digest(uri) for uri in uris]
    kept = [digest for digest in _saved() if digest not in new]
    # A file that cannot be written only means that the other process will ask for the server to be listed there.
    with suppress(ConfigurationError):
        write_private(_file(), "".join(f"{digest}\n" for digest in [*kept, *new][-MAX_SAVED:]))


def recall_listed() -> None:
    """Takes over what other processes of this user have listed."""
    _listed.update(_saved())


def _file() -> Path:
    return config_home() / "listed-servers"


def _saved() -> list[str]:
    with suppress(OSError, UnicodeDecodeError):
        return _file().read_text("utf-8").split()
    return []
