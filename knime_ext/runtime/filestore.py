"""The file store: content that table cells point at, kept by its own digest.

A key has the form of KNIME's (`v1:<store UUID>:<index>:<name>:<iteration>`); here the UUID is derived from the
SHA-256 of the content, so equal content is stored once and damaged content is noticed.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from dataclasses import dataclass
from pathlib import Path

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.atomic import write_bytes

__all__ = ["FileStore", "default_folder"]

_NAMESPACE = uuid.UUID("8f0c6a0e-6a7f-5f5e-9d5b-3c1b7f0e2a41")
_KEY = re.compile(r"v1:(?P<store>[0-9a-f-]{36}):0:(?P<name>[^:;]*):-1")


def default_folder() -> Path:
    """Where the file store lies: below `$KNIME_MCP_HOME`, else in the user's folder for application data."""
    home = os.environ.get("KNIME_MCP_HOME")
    if home:
        return Path(home).expanduser() / "filestore"
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser() / "knime-mcp" / "filestore"


def _store_id(content: bytes) -> str:
    return str(uuid.uuid5(_NAMESPACE, hashlib.sha256(content).hexdigest()))


def _key_name(name: str) -> str:
    """The name as part of a key: without the characters that separate keys and their parts."""
    return re.sub(r"[:;\x00-\x1f/\\]", "_", name)[:100] or "file"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStore:
    """A folder of contents, each stored once; safe to use from several processes at a time."""

    folder: Path

    @classmethod
    def default(cls) -> FileStore:
        """The user's file store."""
        return cls(folder=default_folder())

    def _path(self, store: str) -> Path:
        return self.folder / store[:2] / store

    def put(self, content: bytes, name: str) -> str:
        """Stores a content and gives its key; the same content and name always give the same key.

        Args:
            content: The bytes.
            name: A name for people, such as "orders.zip".

        Raises:
            ConfigurationError: The folder cannot be written.
        """
        store = _store_id(content)
        path = self._path(store)
        if not self._intact(path, content):
            write_bytes(path, content)
        return f"v1:{store}:0:{_key_name(name)}:-1"

    def get(self, key: str) -> bytes:
        """The content of a key.

        Raises:
            ConfigurationError: The key is malformed, or its content is missing or damaged.
        """
        match = _KEY.fullmatch(key)
        if match is None:
            raise ConfigurationError(
                f"{key!r} is no key of this file store; make the tool again with the Workflow to Tool node"
            )
        store, name = match["store"], match["name"]
        repair = "run the Workflow to Tool node again, or set KNIME_MCP_HOME to the folder that has it"
        try:
            content = self._path(store).read_bytes()
        except FileNotFoundError:
            raise ConfigurationError(f"{name!r} is not in the file store {str(self.folder)!r}; {repair}") from None
        except OSError as error:
            raise ConfigurationError(
                f"cannot read {name!r} in the file store {str(self.folder)!r}: {error.strerror}; fix its permissions"
            ) from error
        if _store_id(content) != store:
            raise ConfigurationError(f"{name!r} in the file store {str(self.folder)!r} is damaged; {repair}")
        return content

    @staticmethod
    def _intact(path: Path, content: bytes) -> bool:
        try:
            return path.read_bytes() == content
        except OSError:
            return False
