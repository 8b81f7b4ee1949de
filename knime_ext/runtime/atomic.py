"""Files that appear whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from collections.abc import Generator
from pathlib import Path

from knime_ext.errors import ConfigurationError

__all__ = ["PARTIAL_NAME", "atomic_file", "cannot_write", "write_bytes", "write_text"]

PARTIAL_NAME = re.compile(r"\.[0-9a-f]{32}\.partial")
"""Names of temporary files; one that nobody writes any more may be removed."""


def cannot_write(path: Path, error: OSError) -> ConfigurationError:
    """The error for a file or folder that could not be written."""
    reason = error.strerror or str(error)
    return ConfigurationError(
        f"cannot write {str(path)!r}: {reason}; free space, fix permissions or choose another place"
    )


def _flush_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def atomic_file(path: Path, *, durable: bool = True) -> Generator[Path]:
    """Gives a temporary path in the same folder, which becomes `path` at the end of the block.

    Args:
        path: The file to write; its folder is made if it does not exist.
        durable: Whether the content must survive a power cut that comes right after the block.

    Raises:
        ConfigurationError: The file cannot be written. An error inside the block passes through unless it is an
            OSError; either way nothing is left behind.
    """
    # A name of fixed length, because `path` may already be as long as the file system allows.
    partial = path.parent / f".{uuid.uuid4().hex}.partial"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        if durable:
            _flush_to_disk(partial)
        os.replace(partial, path)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Writes a file atomically."""
    with atomic_file(path, durable=durable) as partial:
        partial.write_bytes(content)


def write_text(path: Path, text: str, *, durable: bool = True) -> None:
    """Writes a UTF-8 text file atomically."""
    write_bytes(path, text.encode("utf-8", errors="surrogatepass"), durable=durable)
