"""Where tokens are kept: the system's keyring, or a folder of files that only their owner can read."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, cast

from knime_ext.errors import MCPAuthError
from knime_ext.mcp.config_home import config_home, write_private
from knime_ext.mcp.sign_in import TokenStore

__all__ = ["FileStore", "KeyringStore", "MemoryStore", "system_store"]

SERVICE = "knime-mcp"


class MemoryStore:
    """Keeps texts for as long as the program runs."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        """The text, None if there is none."""
        return self._texts.get(key)

    def set(self, key: str, text: str) -> None:
        """Keeps a text."""
        self._texts[key] = text

    def delete(self, key: str) -> None:
        """Forgets a text."""
        self._texts.pop(key, None)


class FileStore:
    """Keeps each text in a file of its own, mode 0600, so that programs side by side do not undo each other's work.

    Args:
        folder: Where; None for `tokens` in the operator's folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = config_home() / "tokens" if folder is None else folder

    def __repr__(self) -> str:
        return f"FileStore({str(self._folder)!r})"

    def get(self, key: str) -> str | None:
        """The text, None if there is none that can be read."""
        try:
            document: Any = json.loads(self._file(key).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise MCPAuthError(
                f"cannot read the stored tokens in {str(self._folder)!r}: {error.strerror or error}; check its rights"
            ) from None
        except ValueError:
            return None
        is_entry = isinstance(document, dict) and cast("dict[str, Any]", document).get("key") == key
        return str(cast("dict[str, Any]", document).get("text")) if is_entry else None

    def set(self, key: str, text: str) -> None:
        """Keeps a text."""
        write_private(self._file(key), json.dumps({"key": key, "text": text}))

    def delete(self, key: str) -> None:
        """Forgets a text."""
        self._file(key).unlink(missing_ok=True)

    def _file(self, key: str) -> Path:
        # Keys hold addresses, which are no file names.
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"


class KeyringStore:
    """Keeps texts in the system's keyring."""

    def __repr__(self) -> str:
        return "KeyringStore()"

    def get(self, key: str) -> str | None:
        """The text, None if there is none."""
        import keyring

        with _keyring_errors():
            return keyring.get_password(SERVICE, key)

    def set(self, key: str, text: str) -> None:
        """Keeps a text."""
        import keyring

        with _keyring_errors():
            keyring.set_password(SERVICE, key, text)

    def delete(self, key: str) -> None:
        """Forgets a text."""
        import keyring
        from keyring.errors import PasswordDeleteError

        with _keyring_errors():
            try:
                keyring.delete_password(SERVICE, key)
            except PasswordDeleteError:
                return


class _keyring_errors:
    """Says in one sentence what a keyring that does not work means."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        from keyring.errors import KeyringError

        if isinstance(error, KeyringError):
            raise MCPAuthError(
                f"the system's keyring does not work ({type(error).__name__}); unlock it, or switch it off with "
                "PYTHON_KEYRING_BACKEND=keyring.backends.null.Keyring to keep tokens in files"
            ) from None


def system_store() -> TokenStore:
    """The system's keyring if there is one that keeps anything, else files."""
    import keyring
    from keyring.backends import chainer, fail, null

    backend = keyring.get_keyring()
    is_empty = isinstance(backend, chainer.ChainerBackend) and not backend.backends
    return FileStore() if is_empty or isinstance(backend, fail.Keyring | null.Keyring) else KeyringStore()
