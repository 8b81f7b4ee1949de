"""Writes a workflow document as a KNIME workflow, for people to open there."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from knime_ext.runtime.atomic import atomic_file
from knime_ext.runtime.document import Workflow
from knime_ext.runtime.knime_workflow import metadata
from knime_ext.runtime.knime_workflow.config import Config
from knime_ext.runtime.knime_workflow.config_xml import format_config
from knime_ext.runtime.knime_workflow.data_area import Content, DataArea
from knime_ext.runtime.knime_workflow.locations import DATA_AREA
from knime_ext.runtime.knime_workflow.node_file import SETTINGS_FILE, node_file
from knime_ext.runtime.knime_workflow.node_forms import NodeForms
from knime_ext.runtime.knime_workflow.own_notes import add_notes
from knime_ext.runtime.knime_workflow.placement import places
from knime_ext.runtime.knime_workflow.platform_table import WITHOUT_COUNTERPART
from knime_ext.runtime.knime_workflow.wiring import PlacedNode, wired
from knime_ext.runtime.knime_workflow.workflow_file import WORKFLOW_FILE, workflow_file
from knime_ext.runtime.registry import NodeRegistry

__all__ = ["Export", "folder_name", "write_knime_workflow"]

_NOT_IN_FOLDERS = re.compile(r'[<>:"/\\|?*#%\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]')
_NOT_IN_NODES = re.compile(r"[^a-zA-Z0-9 ]")
_LONGEST = 60  # as a file name in four-byte characters it still fits into 255 bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What was written.

    Attributes:
        path: The file.
        nodes: How many nodes it has.
        files: Files in its data area.
        notes: What somebody who opens it in KNIME must know or do, one sentence each.
    """

    path: Path
    nodes: int
    files: tuple[str, ...]
    notes: tuple[str, ...]


def folder_name(name: str) -> str:
    """The name of a workflow's folder: its own name, without what names of files or of KNIME's items cannot have."""
    return _NOT_IN_FOLDERS.sub("_", name).strip(" .")[:_LONGEST].strip(" .") or "workflow"


def write_knime_workflow(
    workflow: Workflow, out: Path, registry: NodeRegistry, base_dir: Path, *, changed: datetime | None = None
) -> Export:
    """Writes a workflow as a `.knwf` file, which appears whole or not at all.

    Args:
        workflow: The document.
        out: The file to write; an existing one is replaced.
        registry: The nodes.
        base_dir: The workflow's folder. Files that its nodes read from there go along.
        changed: When the workflow was changed last; now if not given.

    Raises:
        WorkflowError: A node or port does not exist, or a workflow that it uses as a tool is none.
        ConfigurationError: A file cannot be read or written, or the files are too large.
    """
    changed = (changed or datetime.now()).astimezone()
    area = DataArea(base_dir, registry)
    packed = area.with_files_of(workflow)
    forms = NodeForms(registry)
    nodes, links = wired(packed, [forms.of(node.factory) for node in packed.nodes])
    files = dict(_node_files(packed, nodes))
    canvas = places(packed, nodes)
    main = workflow_file(
        [(node.number, f"{_folder(node)}/{SETTINGS_FILE}", canvas[node.number]) for node in nodes], links
    )
    add_notes(
        main, name=workflow.name, description=None if metadata.holds(workflow.description) else workflow.description
    )
    root = folder_name(workflow.name)
    with (
        atomic_file(out) as partial,
        zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive,
    ):
        for place, content in _all_files(main, files, workflow.description, changed, area.files):
            _add(archive, f"{root}/{place}", content, changed)
    return Export(path=out, nodes=len(workflow.nodes), files=tuple(sorted(area.files)), notes=tuple(_notes(workflow)))


def _folder(node: PlacedNode) -> str:
    return f"{_NOT_IN_NODES.sub('_', node.form.name)} (#{node.number})"


def _node_files(workflow: Workflow, nodes: Sequence[PlacedNode]) -> Iterator[tuple[str, Config]]:
    for node in nodes:
        spec = None if node.index is None else workflow.nodes[node.index]
        yield f"{_folder(node)}/{SETTINGS_FILE}", node_file(node, spec)


def _all_files(
    main: Config, nodes: Mapping[str, Config], description: str, changed: datetime, data: Mapping[str, Content]
) -> Iterator[tuple[str, Content]]:
    yield WORKFLOW_FILE, format_config(main, WORKFLOW_FILE)
    yield metadata.METADATA_FILE, metadata.metadata(description, changed)
    yield metadata.LEGACY_FILE, metadata.legacy_metadata(description, changed)
    for place, config in nodes.items():
        yield place, format_config(config, SETTINGS_FILE)
    yield f"{DATA_AREA}/", b""
    for place, content in sorted(data.items()):
        yield f"{DATA_AREA}/{place}", content


def _add(archive: zipfile.ZipFile, place: str, content: Content, changed: datetime) -> None:
    if isinstance(content, Path):
        archive.write(content, place)
        return
    info = zipfile.ZipInfo(place, max(changed.timetuple()[:6], (1980, 1, 1, 0, 0, 0)))
    archive.writestr(info, content, zipfile.ZIP_STORED if info.is_dir() else zipfile.ZIP_DEFLATED)


def _notes(workflow: Workflow) -> Iterator[str]:
    for node in workflow.nodes:
        if node.factory in WITHOUT_COUNTERPART:
            yield f"KNIME has no node {node.factory!r}: it shows {node.id!r} as missing and keeps its settings"
        if node.factory == "WorkflowToTool":
            yield f"KNIME's 'Workflow to Tool' takes paths from a table: connect one with {node.id!r} there"
