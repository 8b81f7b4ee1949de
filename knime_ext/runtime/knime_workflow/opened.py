"""A KNIME workflow that is ready to run: its document, and the folder from which relative paths start."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.atomic import cannot_write
from knime_ext.runtime.document import Workflow
from knime_ext.runtime.knime_workflow.locations import DATA_AREA
from knime_ext.runtime.knime_workflow.reader import read_source
from knime_ext.runtime.knime_workflow.sources import ArchiveSource, open_source
from knime_ext.runtime.knime_workflow.workflow_file import WORKFLOW_FILE
from knime_ext.runtime.registry import NodeRegistry

__all__ = ["OpenedWorkflow", "is_knime_workflow", "opened_knime_workflow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedWorkflow:
    """A KNIME workflow that is ready to run.

    Attributes:
        workflow: The document.
        base_dir: Where relative paths start.
        temporary: Whether `base_dir` disappears when the workflow is closed.
    """

    workflow: Workflow
    base_dir: Path
    temporary: bool
    _before: Mapping[Path, tuple[int, int]] = field(default_factory=dict[Path, tuple[int, int]])

    def written_files(self) -> list[Path]:
        """Files that a run has made or changed in a temporary `base_dir`, relative to it."""
        if not self.temporary:
            return []
        now = _state(self.base_dir)
        return sorted(path for path, state in now.items() if self._before.get(path) != state)

    def keep_written_files(self, folder: Path) -> list[Path]:
        """Copies the files that a run has made or changed, before they disappear.

        Args:
            folder: Where to; they keep their relative paths.

        Raises:
            ConfigurationError: A file cannot be written.
        """
        kept = [folder / path for path in self.written_files()]
        for path, target in zip(self.written_files(), kept, strict=True):
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.base_dir / path, target)
            except OSError as error:
                raise cannot_write(target, error) from error
        return kept


def _state(folder: Path) -> dict[Path, tuple[int, int]]:
    found = {path.relative_to(folder): path.stat() for path in folder.rglob("*") if path.is_file()}
    return {path: (state.st_mtime_ns, state.st_size) for path, state in found.items()}


def is_knime_workflow(path: Path) -> bool:
    """Whether a path looks like a KNIME workflow: a `.knwf` file, or a folder with a `workflow.knime`."""
    return path.suffix.lower() == ".knwf" or (path / WORKFLOW_FILE).is_file()


@contextmanager
def opened_knime_workflow(path: Path, registry: NodeRegistry) -> Generator[OpenedWorkflow]:
    """Opens a KNIME workflow for a run. The data of a `.knwf` file are unpacked into a temporary folder.

    Args:
        path: A `.knwf` file, or the folder of an unpacked workflow.
        registry: The nodes.

    Raises:
        ConfigurationError: There is no such workflow, or it is damaged.
        WorkflowError: It has nodes that the registry does not have, or uses settings that they do not have; the
            message names all of them.
    """
    with open_source(path) as source:
        workflow = read_source(source, registry)
        if not isinstance(source, ArchiveSource):
            base_dir = path.resolve() / DATA_AREA if source.has_data_area else path.resolve()
            yield OpenedWorkflow(workflow=workflow, base_dir=base_dir, temporary=False)
            return
        with _temporary_folder() as folder:
            base_dir = folder / DATA_AREA if source.has_data_area else folder
            source.unpack_data(base_dir)
            yield OpenedWorkflow(workflow=workflow, base_dir=base_dir, temporary=True, _before=_state(base_dir))


@contextmanager
def _temporary_folder() -> Generator[Path]:
    try:
        folder = tempfile.TemporaryDirectory(prefix="knime-mcp-", ignore_cleanup_errors=True)
    except OSError as error:
        raise ConfigurationError(f"cannot make a temporary folder: {error.strerror}; free space for it") from error
    with folder as name:
        yield Path(name)
