"""Where the operator's files are, and how they are written: whole or not at all, readable by their owner only."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from knime_ext.errors import ConfigurationError

__all__ = ["config_home", "write_private"]


def config_home(environment: Mapping[str, str] | None = None) -> Path:
    """The folder of the operator's files: `$KNIME_MCP_HOME`, else `knime-mcp` in the XDG configuration folder."""
    variables = os.environ if environment is None else environment
    if home := variables.get("KNIME_MCP_HOME"):
        return Path(home).expanduser()
    # The XDG rules want relative paths to be ignored.
    base = Path(variables.get("XDG_CONFIG_HOME") or "~/.config").expanduser()
    return (base if base.is_absolute() else Path("~/.config").expanduser()) / "knime-mcp"


def write_private(path: Path, text: str) -> None:
    """Writes a file with mode 0600; readers see the old or the new content, never a part.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    if path.is_symlink():
        path = path.resolve()  # people link their dot files; the link stays
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # its mode is 0600
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            with suppress(OSError):
                os.unlink(temporary)
        raise ConfigurationError(f"cannot write {str(path)!r}: {error.strerror or error}; check its folder") from error
