"""A workflow document and the files that it reads, as one zip file, and back.

The archive holds `workflow.json` and the files at their paths relative to the workflow's folder; files outside of
that folder move into `outside/`, and the settings that name them are changed. Workflows that a packed workflow uses
as tools come along with their own files. Absolute paths stay what they are.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from knime_ext.errors import ConfigurationError, KnimeExtError, WorkflowError
from knime_ext.runtime.document import NodeSpec, Workflow, dump_workflow, load_workflow
from knime_ext.runtime.knext.text_parameters import LocalPathParameter
from knime_ext.runtime.platform.workflow_files import matching_files
from knime_ext.runtime.registry import NodeRegistry
from knime_ext.runtime.settings_overrides import parameters_of, with_setting

__all__ = ["DOCUMENT_NAME", "pack", "unpack"]

DOCUMENT_NAME = "workflow.json"
_OUTSIDE = "outside"
_LARGEST = 1 << 30
_TOO_LARGE = "leave large data outside and hand it over through a Workflow Input"


class _Archive:
    """The growing content of a package: path within it to bytes."""

    def __init__(self, root: Path, registry: NodeRegistry) -> None:
        self._root = root
        self._registry = registry
        self._places: dict[Path, str] = {}
        self.files: dict[str, bytes] = {}

    def add_document(self, workflow: Workflow, folder: Path, place: str) -> None:
        """Adds a document; its paths are then relative to its own place in the archive."""
        nodes = tuple(self._moved(node, folder, place) for node in workflow.nodes)
        tree = dump_workflow(workflow.model_copy(update={"nodes": nodes}))
        self.files[place] = json.dumps(tree, ensure_ascii=False, indent=1).encode("utf-8")

    def _moved(self, node: NodeSpec, folder: Path, place: str) -> NodeSpec:
        """The node with its files added and its settings pointing at them."""
        if node.factory not in self._registry:
            return node  # said later, by whoever runs the document
        instance = self._registry.declaration(node.factory).create()
        settings = dict(node.settings)
        for path, value in _path_settings(instance, settings):
            file = folder / value
            if not Path(value).expanduser().is_absolute() and file.exists():
                settings = with_setting(settings, instance, path, self._relative(self._add(file), place))
        if node.factory == "WorkflowToTool":
            files = [self._relative(self._add_tool(file), place) for file in _tool_files(node, folder)]
            settings["workflows"] = "\n".join(files)
        return node.model_copy(update={"settings": settings})

    def _add(self, file: Path) -> str:
        """Adds a file, or a folder with all that is in it; gives its place in the archive."""
        place = self._place(file)
        for each in sorted(file.rglob("*")) if file.is_dir() else [file]:
            if each.is_file():
                inner = place if each == file else f"{place}/{each.relative_to(file).as_posix()}"
                self.files[inner] = _content(each)
        return place

    def _add_tool(self, file: Path) -> str:
        place = self._place(file)
        if place not in self.files:
            self.files[place] = b""  # a workflow may be a tool of itself
            self.add_document(load_workflow(file), file.parent, place)
        return place

    def _place(self, file: Path) -> str:
        resolved = file.resolve()
        if resolved not in self._places:
            inside = resolved.is_relative_to(self._root)
            relative = resolved.relative_to(self._root).as_posix() if inside else ""
            # The document itself has another name in here; a file of that name must not take its place.
            free = inside and relative not in (DOCUMENT_NAME, ".") and not relative.startswith(f"{_OUTSIDE}/")
            self._places[resolved] = relative if free else f"{_OUTSIDE}/{len(self._places)}/{resolved.name}"
        return self._places[resolved]

    @staticmethod
    def _relative(target: str, place: str) -> str:
        """`target` as seen from the folder of the document at `place`."""
        up = len(PurePosixPath(place).parent.parts)
        return "../" * up + target


def _path_settings(instance: Any, settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Dotted path and value of every setting that names a file or folder to read."""
    for path, parameter in parameters_of(instance):
        value: Any = settings
        for step in path.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(parameter, LocalPathParameter) and isinstance(value, str) and value:
            yield path, value


def _tool_files(node: NodeSpec, folder: Path) -> list[Path]:
    lines = node.settings.get("workflows")
    return matching_files(lines, folder) if isinstance(lines, str) else []


def _content(file: Path) -> bytes:
    try:
        if file.stat().st_size > _LARGEST:
            raise ConfigurationError(f"{str(file)!r} is too large for a workflow tool; {_TOO_LARGE}")
        return file.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"cannot read {str(file)!r}: {error.strerror}; check its permissions") from error


def pack(path: Path, registry: NodeRegistry) -> bytes:
    """The package of a workflow document. Equal content gives equal bytes.

    Args:
        path: The document.
        registry: The nodes; their path parameters tell which files belong to the workflow.

    Raises:
        ConfigurationError: A file cannot be read or is too large.
        WorkflowError: The document, or one that it uses as a tool, is none.
    """
    archive = _Archive(path.parent.resolve(), registry)
    archive.add_document(load_workflow(path), path.parent, DOCUMENT_NAME)
    if sum(map(len, archive.files.values())) > _LARGEST:
        raise ConfigurationError(f"the files of {str(path)!r} are too large for a workflow tool; {_TOO_LARGE}")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in sorted(archive.files.items()):
            # A fixed date, because the file store knows content by its digest.
            target.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def unpack(package: bytes, folder: Path) -> Workflow:
    """Unpacks a package into an empty folder and gives its document.

    Raises:
        ConfigurationError: The package is damaged, too large, or tries to leave the folder.
        WorkflowError: Its document is no workflow.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(package)) as source:
            _check_members(source.infolist())
            source.extractall(folder)
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        raise ConfigurationError(
            f"the package of the workflow tool cannot be unpacked: {error}; make the tool again"
        ) from error
    try:
        return load_workflow(folder / DOCUMENT_NAME)
    except KnimeExtError as error:
        raise WorkflowError(f"the package of the workflow tool is damaged: {error}; make the tool again") from error


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    """Refuses what a package of ours never has: it may come from elsewhere."""
    for member in members:
        parts = PurePosixPath(member.filename).parts
        if member.filename.startswith("/") or ".." in parts or "\\" in member.filename or ":" in member.filename:
            raise ConfigurationError(
                f"the package of the workflow tool holds the unsafe path {member.filename!r}; make the tool again"
            )
    if sum(member.file_size for member in members) > _LARGEST:
        raise ConfigurationError(f"the package of the workflow tool is too large; {_TOO_LARGE}")
