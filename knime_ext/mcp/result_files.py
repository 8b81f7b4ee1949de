"""Long results as files: one readable text file per result, in a folder of the run."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

from knime_ext.errors import ConfigurationError

__all__ = ["ResultFiles"]


class ResultFiles:
    """Keeps long results in a folder; usable from several threads.

    A handle is made of the text's digest, and only results that this very object took can be read: a model cannot
    reach the files of another run by inventing a handle.

    Args:
        folder: Where the files go; made when the first one comes.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._sizes: dict[str, int] = {}
        self._lock = threading.Lock()

    def put(self, text: str) -> str:
        """Writes a text to its file and gives the handle, the same one for equal texts.

        Raises:
            ConfigurationError: The file cannot be written.
        """
        data = text.encode()
        handle = f"result-{hashlib.sha256(data).hexdigest()[:16]}"
        with self._lock:
            if handle not in self._sizes:
                self._write(self.path(handle), data)
                self._sizes[handle] = len(text)
        return handle

    def path(self, handle: str) -> Path:
        """The file of a handle."""
        return self.folder / f"{handle}.txt"

    def size(self, handle: str) -> int | None:
        """Length of a result in characters; None if there is none of that handle."""
        return self._sizes.get(handle)

    def read(self, handle: str, offset: int, count: int) -> str:
        """A part of a result, in characters.

        Raises:
            KeyError: There is no result of that handle.
        """
        if handle not in self._sizes:
            raise KeyError(handle)
        with self.path(handle).open(encoding="utf-8", newline="") as file:
            file.read(offset)
            return file.read(count)

    def _write(self, path: Path, data: bytes) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            raise ConfigurationError(
                f"cannot write the long result of a tool to {str(path)!r}: {error.strerror}; check the folder"
            ) from error
