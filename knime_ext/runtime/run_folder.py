"""Where a run keeps its tables: a folder that the user names, or a temporary one that lives as long as its result.

    <out>/nodes/<node>/<port>.arrow        every output table; `<port>-<slot>.arrow` within a group of ports
    <out>/<output name>.arrow and .csv     what Workflow Output nodes collect
    <out>/<node>.html                      views
    <out>/run.json                         states, seconds, settings

Files appear whole or not at all. The files that an earlier run left in the folder are removed first; they are known
from its run.json, anything else in the folder is left alone.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import tempfile
import weakref
from collections.abc import Collection, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from knime_ext.runtime.atomic import PARTIAL_NAME, cannot_write, write_text
from knime_ext.runtime.folder_lock import folder_lock

__all__ = ["RECORD_NAME", "RunFolder", "file_stem", "named_folder", "temporary_directory", "temporary_folder"]

RECORD_NAME = "run.json"
_KIND = "knime-mcp run"
_TABLES = "nodes"
_UNSAFE = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]')


class RunFolder:
    """A folder for the files of one run.

    Attributes:
        path: The folder.
        durable: Whether files must survive a power cut; not for temporary folders.
    """

    def __init__(self, path: Path, *, durable: bool) -> None:
        self.path = path
        self.durable = durable

    def table_path(self, node: str, port: int, slot: int | None) -> Path:
        """The file of an output table; `slot` is its place within a group of ports."""
        name = f"{port}.arrow" if slot is None else f"{port}-{slot}.arrow"
        return self.path / _TABLES / node / name

    def write_record(self, record: Mapping[str, Any]) -> None:
        """Writes run.json.

        Raises:
            ConfigurationError: It cannot be written.
        """
        text = json.dumps({"kind": _KIND, **record}, indent=2, ensure_ascii=False, default=str) + "\n"
        write_text(self.path / RECORD_NAME, text, durable=self.durable)

    def remove_earlier_run(self) -> None:
        """Removes the files of the run that used this folder before, if there was one."""
        earlier = self._earlier_record()
        if earlier is None:
            return
        try:
            for name in _file_names(earlier):
                (self.path / name).unlink(missing_ok=True)
            for path in self.path.iterdir():
                if PARTIAL_NAME.fullmatch(path.name):  # its process was killed while it wrote
                    path.unlink()
            if (self.path / _TABLES).is_dir():
                shutil.rmtree(self.path / _TABLES)
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def _earlier_record(self) -> dict[str, Any] | None:
        try:
            record: Any = json.loads((self.path / RECORD_NAME).read_text("utf-8"))
        except (OSError, ValueError):
            return None
        record = cast("dict[str, Any]", record) if isinstance(record, dict) else {}
        return record if record.get("kind") == _KIND else None


def _file_names(record: Mapping[str, Any]) -> Iterator[str]:
    """The files that a record names in its "outputs" and "views": {name: {kind: file}}."""
    for section in (record.get("outputs"), record.get("views")):
        entries = list(cast("dict[str, Any]", section).values()) if isinstance(section, dict) else []
        for entry in entries:
            names = list(cast("dict[str, Any]", entry).values()) if isinstance(entry, dict) else []
            yield from (name for name in names if isinstance(name, str) and _is_ours(name))


def _is_ours(name: str) -> bool:
    """A plain name of a kind that runs write: the record may have been edited, and nothing else may go."""
    return Path(name).name == name and Path(name).suffix in (".arrow", ".csv", ".html")


def temporary_folder() -> RunFolder:
    """A folder that is removed when nothing refers to the returned value any more, or at the end of the process."""
    try:
        path = Path(tempfile.mkdtemp(prefix="knime-mcp-"))
    except OSError as error:
        raise cannot_write(Path(tempfile.gettempdir()), error) from error
    folder = RunFolder(path, durable=False)
    weakref.finalize(folder, shutil.rmtree, path, ignore_errors=True)
    return folder


@contextlib.contextmanager
def temporary_directory() -> Generator[Path]:
    """A folder for temporary files that is removed at the end of the block.

    Raises:
        ConfigurationError: It cannot be made.
    """
    folder = temporary_folder()
    try:
        yield folder.path
    finally:
        shutil.rmtree(folder.path, ignore_errors=True)


@contextlib.contextmanager
def named_folder(path: Path) -> Generator[RunFolder]:
    """The folder that the user named, made if necessary and held for this run alone.

    Raises:
        ConfigurationError: It cannot be made or written, or another run holds it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error
    with folder_lock(path):
        folder = RunFolder(path, durable=True)
        folder.remove_earlier_run()
        yield folder


def file_stem(name: str, taken: Collection[str]) -> str:
    """A file name without extension for a name that people gave.

    Args:
        name: Any text.
        taken: Stems in use, folded by `str.casefold`.
    """
    stem = _UNSAFE.sub("_", name).strip(" .")[:60] or "output"
    number, unique = 2, stem
    while unique.casefold() in taken:
        unique, number = f"{stem}_{number}", number + 1
    return unique
