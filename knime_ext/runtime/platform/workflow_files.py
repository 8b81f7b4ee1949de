"""Finds the files that lines of paths and patterns mean."""

from __future__ import annotations

from glob import glob
from pathlib import Path

from knime_ext.errors import ConfigurationError

__all__ = ["matching_files"]


def matching_files(lines: str, folder: Path) -> list[Path]:
    """The files in the order of the lines, each once; those of a pattern sorted by name.

    Args:
        lines: One path or pattern (`*`, `?`, `[...]`, `**`) per line; empty lines do not count.
        folder: Where relative ones start.

    Raises:
        ConfigurationError: There is no line, or a line matches no file.
    """
    wanted = [line.strip() for line in lines.splitlines() if line.strip()]
    if not wanted:
        raise ConfigurationError("no workflow is named: write a path or a pattern such as 'tools/*.json'")
    return list(dict.fromkeys(path for line in wanted for path in _files(line, folder)))


def _files(line: str, folder: Path) -> list[Path]:
    if (folder / line).is_file():  # also a file whose name looks like a pattern
        return [folder / line]
    found = sorted(folder / name for name in glob(line, root_dir=folder, recursive=True))
    files = [path for path in found if path.is_file()]
    if not files:
        raise ConfigurationError(f"no workflow file matches {line!r} in the folder {str(folder)!r}: check the path")
    return files
