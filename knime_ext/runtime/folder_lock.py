"""One run per folder: a lock file that the operating system frees when its process dies, however it dies."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from pathlib import Path

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.atomic import cannot_write

__all__ = ["LOCK_NAME", "folder_lock"]

LOCK_NAME = ".knime-mcp.lock"

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _owner(descriptor: int) -> str:
    """The process that wrote its number into the lock file, for the message."""
    with contextlib.suppress(OSError):
        os.lseek(descriptor, 1, os.SEEK_SET)
        text = os.read(descriptor, 20).decode("ascii", errors="replace").strip()
        if text.isdigit():
            return f" (process {text})"
    return ""


def _is_current(descriptor: int, path: Path) -> bool:
    """False if the run before us removed the file between our opening and our locking it."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _acquire(path: Path) -> int:
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
        except OSError as error:
            raise cannot_write(path.parent, error) from error
        try:
            _try_lock(descriptor)
        except (BlockingIOError, PermissionError) as error:  # PermissionError is what Windows says
            owner = _owner(descriptor)
            os.close(descriptor)
            raise ConfigurationError(
                f"another run{owner} is writing into the folder {str(path.parent)!r}; "
                "wait until it is finished or choose another folder"
            ) from error
        except OSError as error:
            os.close(descriptor)
            raise cannot_write(path.parent, error) from error
        if _is_current(descriptor, path):
            return descriptor
        os.close(descriptor)


@contextlib.contextmanager
def folder_lock(folder: Path) -> Generator[None]:
    """Holds the folder for this run. A lock file that a dead process left is taken over.

    Raises:
        ConfigurationError: Another run, in this process or another one, holds the folder, or it cannot be written.
    """
    path = folder / LOCK_NAME
    descriptor = _acquire(path)
    try:
        os.ftruncate(descriptor, 0)
        # The first byte is the one that Windows locks against reading.
        os.write(descriptor, f" {os.getpid()}\n".encode("ascii"))
        yield
    finally:
        if sys.platform == "win32":
            os.close(descriptor)
        with contextlib.suppress(OSError):
            path.unlink()
        if sys.platform != "win32":
            os.close(descriptor)
