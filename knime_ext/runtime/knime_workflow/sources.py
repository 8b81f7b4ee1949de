"""Where a stored workflow is read from: an unpacked folder, or a `.knwf` file, which is a zip archive of such a folder.

Both may come from anywhere. Sizes are bounded, and nothing outside of the workflow is read or written.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Protocol

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.knime_workflow.locations import DATA_AREA
from knime_ext.runtime.knime_workflow.workflow_file import WORKFLOW_FILE

__all__ = ["ArchiveSource", "FolderSource", "WorkflowSource", "open_source"]

_LARGEST_FILE = 64 << 20
_LARGEST_DATA = 1 << 30
_MOST_MEMBERS = 100_000
_BLOCK = 1 << 20


class WorkflowSource(Protocol):
    """A stored workflow.

    Attributes:
        origin: What it is called in messages.
        name: Name of its folder.
        has_data_area: Whether it has the folder for its own data.
    """

    origin: str
    name: str
    has_data_area: bool

    def read(self, place: str) -> bytes | None:
        """A file by its path within the workflow, None if there is none.

        Raises:
            ConfigurationError: The path leaves the workflow, or the file is too large or cannot be read.
        """
        ...


def _is_inside(place: str) -> bool:
    return not (place.startswith("/") or "\\" in place or ":" in place or ".." in PurePosixPath(place).parts)


def _check_place(origin: str, place: str) -> None:
    if not _is_inside(place):
        raise ConfigurationError(
            f"{origin} names the file {place!r} outside of the workflow; export it from KNIME anew"
        )


def _too_large(origin: str, place: str) -> ConfigurationError:
    return ConfigurationError(f"{place!r} in {origin} is too large for a file of settings; check the workflow")


class FolderSource:
    """A workflow in a folder.

    Args:
        path: The folder.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        self.origin = repr(str(path))
        self.name = self._path.name
        self.has_data_area = (self._path / DATA_AREA).is_dir()

    def read(self, place: str) -> bytes | None:
        """A file by its path within the workflow, None if there is none."""
        _check_place(self.origin, place)
        file = self._path / place
        if not file.resolve().is_relative_to(self._path):
            raise ConfigurationError(f"{place!r} in {self.origin} is a link that leaves the workflow; replace it")
        try:
            if not file.is_file():
                return None
            with file.open("rb") as stream:
                content = stream.read(_LARGEST_FILE + 1)
        except OSError as error:
            raise ConfigurationError(f"cannot read {str(file)!r}: {error.strerror}; check its permissions") from error
        if len(content) > _LARGEST_FILE:
            raise _too_large(self.origin, place)
        return content


class ArchiveSource:
    """A workflow in a `.knwf` file.

    Args:
        archive: The open file.
        path: Its path.

    Raises:
        ConfigurationError: The file holds no workflow or several, or is no archive that KNIME writes.
    """

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive = archive
        self.origin = repr(str(path))
        members = archive.infolist()
        if len(members) > _MOST_MEMBERS:
            raise ConfigurationError(f"{self.origin} holds more than {_MOST_MEMBERS:,} files; check the file")
        for member in members:
            _check_place(self.origin, member.filename)
        self._root = self._find_root([member.filename for member in members])
        self.name = PurePosixPath(self._root).name or path.stem
        self._members = {member.filename.removeprefix(self._root): member for member in members}
        self.has_data_area = any(place.startswith(f"{DATA_AREA}/") for place in self._members)

    def _find_root(self, names: list[str]) -> str:
        roots = [name.removesuffix(WORKFLOW_FILE) for name in names if PurePosixPath(name).name == WORKFLOW_FILE]
        least = min((root.count("/") for root in roots), default=0)
        outermost = sorted({root for root in roots if root.count("/") == least})
        if not outermost:
            raise ConfigurationError(f"{self.origin} holds no KNIME workflow; export one from KNIME as .knwf")
        if len(outermost) > 1:
            listed = ", ".join(repr(root.rstrip("/")) for root in outermost[:5])
            raise ConfigurationError(f"{self.origin} holds several workflows ({listed}); export one of them on its own")
        return outermost[0]

    def read(self, place: str) -> bytes | None:
        """A file by its path within the workflow, None if there is none."""
        member = self._members.get(place)
        if member is None:
            return None
        with self._explained(place), self._archive.open(member) as stream:
            content = stream.read(_LARGEST_FILE + 1)
        if len(content) > _LARGEST_FILE:
            raise _too_large(self.origin, place)
        return content

    @contextmanager
    def _explained(self, place: str) -> Generator[None]:
        try:
            yield
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
            raise ConfigurationError(
                f"cannot read {place!r} in {self.origin}: {error}; export the file anew"
            ) from error

    def unpack_data(self, folder: Path) -> None:
        """Unpacks the data area.

        Args:
            folder: Where to; made if it is not there.

        Raises:
            ConfigurationError: A file cannot be read or written, or the files are too large.
        """
        left = _LARGEST_DATA
        folder.mkdir(parents=True, exist_ok=True)
        for place, member in self._members.items():
            inner = place.removeprefix(f"{DATA_AREA}/")
            if inner in ("", place):
                continue
            with self._explained(place):
                left -= self._unpack(member, folder / inner, left)

    def _unpack(self, member: zipfile.ZipInfo, target: Path, left: int) -> int:
        """Unpacks one file and gives its size, which counts what comes out, not what the archive says."""
        if member.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            return 0
        target.parent.mkdir(parents=True, exist_ok=True)
        size = 0
        with self._archive.open(member) as stream, target.open("wb") as file:
            while block := stream.read(_BLOCK):
                size += len(block)
                if size > left:
                    raise ConfigurationError(f"the data of {self.origin} are too large to unpack; unpack it in KNIME")
                file.write(block)
        return size


@contextmanager
def open_source(path: Path) -> Generator[FolderSource | ArchiveSource]:
    """Opens a stored workflow.

    Args:
        path: A `.knwf` file or a workflow's folder.

    Raises:
        ConfigurationError: There is none, or it is damaged.
    """
    if path.is_dir():
        if not (path / WORKFLOW_FILE).is_file():
            raise ConfigurationError(
                f"the folder {str(path)!r} holds no KNIME workflow; name a folder with a file {WORKFLOW_FILE!r}"
            )
        yield FolderSource(path)
        return
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise ConfigurationError(f"there is no workflow {str(path)!r}; check the path") from None
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ConfigurationError(f"{str(path)!r} is no KNIME workflow: {error}; export one as .knwf") from None
    with archive:
        yield ArchiveSource(archive, path)
