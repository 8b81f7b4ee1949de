"""The files that go into a workflow's data area: those that its nodes read, at the paths by which they name them.

Relative paths start at the workflow's folder here and at the data area in KNIME, so they stay as they are. A file that
lies outside of the folder goes to `outside/`, and the setting that names it is changed.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from knime_ext.errors import ConfigurationError, KnimeExtError
from knime_ext.runtime.document import NodeSpec, Workflow, load_workflow
from knime_ext.runtime.knext.text_parameters import LocalPathParameter
from knime_ext.runtime.knime_workflow.locations import is_absolute
from knime_ext.runtime.platform.workflow_files import matching_files
from knime_ext.runtime.registry import NodeRegistry
from knime_ext.runtime.settings_overrides import parameters_of, with_setting
from knime_ext.runtime.workflow_package import DOCUMENT_NAME, pack

__all__ = ["Content", "DataArea"]

Content: TypeAlias = Path | bytes
_OUTSIDE = "outside"
_LARGEST = 1 << 30
_TOOLS = "WorkflowToTool"
_NOT_IN_NAMES = re.compile(r'[<>:"\\|?*\x00-\x1f\x7f]')


class DataArea:
    """The files of a workflow.

    Args:
        base_dir: The workflow's folder.
        registry: The nodes; their path parameters tell which files belong to the workflow.

    Attributes:
        files: Path within the data area to the file, or to its content.
    """

    def __init__(self, base_dir: Path, registry: NodeRegistry) -> None:
        self._base = base_dir
        self._registry = registry
        self._moved = 0
        self.files: dict[str, Content] = {}

    def with_files_of(self, workflow: Workflow) -> Workflow:
        """Adds the files of a workflow; gives it with the settings that name moved files changed.

        Raises:
            ConfigurationError: The files are too large, or cannot be read.
            WorkflowError: A workflow that it uses as a tool is none.
        """
        nodes = tuple(self._with_files(node) for node in workflow.nodes)
        try:
            size = sum(_size(content) for content in self.files.values())
        except OSError as error:
            raise ConfigurationError(f"cannot read {error.filename!r}: {error.strerror}; check the file") from error
        if size > _LARGEST:
            raise ConfigurationError(
                "the files that the workflow reads are too large to go with it; leave them outside"
            )
        return workflow.model_copy(update={"nodes": nodes})

    def _with_files(self, node: NodeSpec) -> NodeSpec:
        settings: dict[str, Any] = dict(node.settings)
        instance = self._registry.declaration(node.factory).create()
        for path, value in _path_settings(instance, node):
            place = _place(value)
            if place is None:
                place = self._moved_place((self._base / value).resolve().name or "files")
                settings = with_setting(settings, instance, path, place)
            self._add(self._base / value, place)
        if node.factory == _TOOLS:
            settings = self._with_tools(settings)
        return node.model_copy(update={"settings": settings})

    def _moved_place(self, name: str) -> str:
        self._moved += 1
        return f"{_OUTSIDE}/{self._moved}/{name}"

    def _add(self, file: Path, place: str) -> None:
        """Adds a file, or a folder with all that is in it."""
        for each in sorted(file.rglob("*")) if file.is_dir() else [file]:
            if each.is_file():
                inner = place if each == file else posixpath.join(place, each.relative_to(file).as_posix())
                self.files[_checked(posixpath.normpath(inner))] = each

    def _with_tools(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Adds the workflows that become tools, with their own files."""
        found = _tool_files(settings.get("workflows"), self._base)
        places = [self._tool_place(file) for file in found]
        if any(place.startswith(f"{_OUTSIDE}/") for place in places):
            return {**settings, "workflows": "\n".join(places)}
        return settings

    def _tool_place(self, file: Path) -> str:
        files = self._files_of_tool(file, frozenset())
        if files is None:
            place = self._moved_place(DOCUMENT_NAME)
            with zipfile.ZipFile(io.BytesIO(pack(file, self._registry))) as package:
                for name in package.namelist():
                    self.files[posixpath.join(posixpath.dirname(place), name)] = package.read(name)
            return place
        self.files |= files
        return _place_of(file, self._base) or file.name

    def _files_of_tool(self, file: Path, above: frozenset[str]) -> dict[str, Content] | None:
        """A tool's document and the files that it needs; None if one of them lies outside of the workflow's folder."""
        place = _place_of(file, self._base)
        if place is None:
            return None
        files: dict[str, Content] = {_checked(place): file}
        if place in above:
            return files  # a workflow may be a tool of itself
        for node in load_workflow(file).nodes:
            below = self._files_of_node(node, file.parent, above | {place})
            if below is None:
                return None
            files |= below
        return files

    def _files_of_node(self, node: NodeSpec, folder: Path, above: frozenset[str]) -> dict[str, Content] | None:
        if node.factory not in self._registry:
            return {}  # said when the tool runs
        inner = DataArea(self._base, self._registry)
        for _, value in _path_settings(self._registry.declaration(node.factory).create(), node):
            place = _place_of(folder / value, self._base)
            if place is None:
                return None
            inner._add(folder / value, place)
        for file in _tool_files(node.settings.get("workflows"), folder) if node.factory == _TOOLS else []:
            below = self._files_of_tool(file, above)
            if below is None:
                return None
            inner.files |= below
        return inner.files


def _path_settings(instance: Any, node: NodeSpec) -> Iterator[tuple[str, str]]:
    """Dotted path and value of every setting that names a file or folder by a relative path."""
    for path, parameter in parameters_of(instance):
        value: Any = node.settings
        for step in path.split("."):
            value = value.get(step) if isinstance(value, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(parameter, LocalPathParameter) and isinstance(value, str) and value and not is_absolute(value):
            yield path, value


def _checked(place: str) -> str:
    if _NOT_IN_NAMES.search(place):
        raise ConfigurationError(f"the file {place!r} cannot go into a KNIME workflow because of its name; rename it")
    return place


def _tool_files(lines: Any, folder: Path) -> list[Path]:
    try:
        return matching_files(lines, folder) if isinstance(lines, str) else []
    except (KnimeExtError, ValueError):
        return []  # said when the workflow runs


def _place(value: str) -> str | None:
    """A relative path as a place in the data area, None if it leads out of the workflow's folder."""
    place = posixpath.normpath(Path(value).as_posix())
    return None if place == ".." or place.startswith("../") else place


def _place_of(file: Path, base: Path) -> str | None:
    return _place(posixpath.relpath(file.absolute().as_posix(), base.absolute().as_posix()))


def _size(content: Content) -> int:
    return len(content) if isinstance(content, bytes) else content.stat().st_size
