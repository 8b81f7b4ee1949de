"""Reads a KNIME workflow that consists of nodes that this runtime has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from knime_ext.errors import WorkflowError
from knime_ext.runtime.document import Workflow, parse_workflow
from knime_ext.runtime.knime_workflow import metadata
from knime_ext.runtime.knime_workflow.config import Config, text
from knime_ext.runtime.knime_workflow.config_xml import parse_config
from knime_ext.runtime.knime_workflow.knime_ports import port_counts
from knime_ext.runtime.knime_workflow.locations import rebased
from knime_ext.runtime.knime_workflow.node_file import CREATION, comment_of, flow_variables_of, settings_of
from knime_ext.runtime.knime_workflow.node_forms import MERGER, NodeForm, NodeForms
from knime_ext.runtime.knime_workflow.own_notes import notes_of
from knime_ext.runtime.knime_workflow.rows import Unsupported
from knime_ext.runtime.knime_workflow.sources import WorkflowSource, open_source
from knime_ext.runtime.knime_workflow.wiring import StoredNode, read_links
from knime_ext.runtime.knime_workflow.workflow_file import WORKFLOW_FILE, bounds_of, read_connections
from knime_ext.runtime.knime_workflow.writer import folder_name
from knime_ext.runtime.registry import NodeRegistry

__all__ = ["read_knime_workflow", "read_source"]

_LONGEST_ID = 60
Answer = TypeVar("Answer")


def read_knime_workflow(path: Path, registry: NodeRegistry) -> Workflow:
    """Reads a KNIME workflow. Relative paths start at its data area, or at its folder if it has no data area.

    Args:
        path: A `.knwf` file, or the folder of an unpacked workflow.
        registry: The nodes.

    Raises:
        ConfigurationError: There is no such workflow, or it is damaged.
        WorkflowError: It has nodes that the registry does not have, or uses settings that they do not have; the
            message names all of them.
    """
    with open_source(path) as source:
        return read_source(source, registry)


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A node as its files have it.

    Attributes:
        number: Its number.
        entry: What the list of nodes says about it.
        config: Its settings.xml.
        form: The kind of node; None if the registry has none.
    """

    number: int
    entry: Config
    config: Config
    form: NodeForm | None

    @property
    def title(self) -> str:
        """Its name and number, for messages."""
        name = self.config.string("node-name") or self.config.string("name")
        return f"{(name or 'node')!r} (#{self.number})"


@dataclass(slots=True)
class _Problems:
    """Settings and connections that cannot be taken over, as sentences without their ends."""

    found: list[str] = field(default_factory=list[str])

    def tried(self, title: str, read: Callable[[], Answer], otherwise: Answer) -> Answer:
        """What `read` gives; the reason and `otherwise` if it is not supported."""
        try:
            return read()
        except Unsupported as problem:
            self.found.append(f"{title} {problem}".strip())
            return otherwise


def read_source(source: WorkflowSource, registry: NodeRegistry) -> Workflow:
    """Reads an open KNIME workflow; errors are those of `read_knime_workflow`."""
    main = _parsed(source, WORKFLOW_FILE)
    files = sorted(_files(source, main, NodeForms(registry)), key=lambda file: file.number)
    _refuse_unknown(source.origin, files)
    notes = notes_of(main, f"{WORKFLOW_FILE!r} in {source.origin}")
    document = {
        "format": 1,
        "name": _name(notes.get("name"), source.name),
        "description": notes.get("description", _description(source)),
        **_graph(source, main, files),
    }
    return parse_workflow(document, origin=source.origin)


def _graph(source: WorkflowSource, main: Config, files: Sequence[_File]) -> dict[str, Any]:
    """Nodes and connections of the document."""
    notes = {file.number: notes_of(file.config, f"{file.title} in {source.origin}") for file in files}
    problems, stored = _Problems(), _stored(files, notes)
    nodes = [
        _node(file, stored[file.number].id, notes[file.number], problems, source.has_data_area)
        for file in files
        if file.form is not MERGER
    ]
    try:
        links = read_connections(main)
    except ValueError as error:
        raise WorkflowError(f"{source.origin} has a damaged connection ({error}); check {WORKFLOW_FILE!r}") from None
    connections = problems.tried("", lambda: read_links(links, stored), [])
    if problems.found:
        raise WorkflowError(
            f"{source.origin} asks for what this runtime does not do: {'; '.join(problems.found)}; "
            "change that in KNIME, or run the workflow there"
        )
    return {"nodes": nodes, "connections": connections}


def _name(own: Any, folder: str) -> str:
    """The name that the workflow had in its document, unless somebody has renamed its folder since."""
    return own if isinstance(own, str) and own and folder_name(own) == folder else folder


def _parsed(source: WorkflowSource, place: str) -> Config:
    content = source.read(place)
    if content is None:
        raise WorkflowError(f"{source.origin} has no file {place!r}; export it from KNIME anew")
    return parse_config(content, f"{place!r} in {source.origin}")


def _files(source: WorkflowSource, main: Config, forms: NodeForms) -> Iterator[_File]:
    for _, entry in main.below("nodes").configs():
        try:
            number = int(entry.value("id", -1))
        except ValueError:
            raise WorkflowError(f"{source.origin} has a node without a number; check {WORKFLOW_FILE}") from None
        place = entry.string("node_settings_file")
        if entry.value("node_is_meta", False):
            yield _File(number=number, entry=entry, config=_nested(place), form=None)
            continue
        config = _parsed(source, place)
        form = forms.behind(config.string("factory"), config.below("factory_settings"))
        yield _File(number=number, entry=entry, config=config, form=form)


def _nested(place: str) -> Config:
    """What messages need of a component or metanode: its name is that of its folder, without the number."""
    return Config({"node-name": text(re.sub(r" \(#\d+\)$", "", place.split("/")[0]))})


def _refuse_unknown(origin: str, files: Sequence[_File]) -> None:
    unknown = [f"{file.title[:-1]}, {_kind(file)})" for file in files if file.form is None]
    if unknown:
        raise WorkflowError(
            f"{origin} has nodes that this runtime does not have: {', '.join(unknown)}; "
            "replace them in KNIME, or run the workflow there"
        )


def _kind(file: _File) -> str:
    factory, inner = file.config.string("factory"), file.config.below("factory_settings")
    if not factory:
        return "a component or metanode"
    if "node_id" in inner:
        return f"factory {factory!r}, node {inner.string('node_id')!r} of {inner.string('extension_id')!r}"
    return f"factory {factory!r}"


def _stored(files: Sequence[_File], notes: Mapping[int, Mapping[str, Any]]) -> dict[int, StoredNode]:
    taken: set[str] = set()
    stored: dict[int, StoredNode] = {}
    for file in files:
        if file.form is None:
            continue
        creation = file.config.below(CREATION) if CREATION in file.config else None
        stored[file.number] = StoredNode(
            number=file.number,
            form=file.form,
            id="" if file.form is MERGER else _identifier(file, notes[file.number].get("id"), taken),
            title=file.title,
            inputs=port_counts(file.form.inputs, creation),
            outputs=port_counts(file.form.outputs, creation),
        )
    return stored


def _identifier(file: _File, own: Any, taken: set[str]) -> str:
    """The identifier that the node had in its document; for others their name in KNIME with the number."""
    name = own if isinstance(own, str) and own.casefold() not in taken else ""
    if not name:
        words = re.sub(r"[^a-z0-9]+", "_", file.config.string("node-name").lower()).strip("_")
        suffix = f"_{file.number}"
        name = f"{words[: _LONGEST_ID - len(suffix)] or 'node'}{suffix}"
    while name.casefold() in taken:
        name += "_"
    taken.add(name.casefold())
    return name


def _node(
    file: _File, node_id: str, notes: Mapping[str, Any], problems: _Problems, has_data_area: bool
) -> dict[str, Any]:
    form = file.form or MERGER
    settings = problems.tried(file.title, lambda: settings_of(file.config, form, notes), {})
    variables = problems.tried(file.title, lambda: flow_variables_of(file.config, form, notes), {})
    locations = form.platform.locations if form.platform is not None else ()
    for name in locations:
        if not has_data_area and name in settings and name not in notes.get("settings", {}):
            settings[name] = rebased(settings[name])
    node: dict[str, Any] = {"id": node_id, "factory": form.node_id, "settings": settings}
    node |= {"flow_variables": variables, "comment": comment_of(file.config)}
    position = _position(file, notes.get("position"))
    return node if position is None else {**node, "position": position}


def _position(file: _File, own: Any) -> Any:
    if own is not None:
        return own or None
    try:
        return bounds_of(file.entry)
    except ValueError:
        return None


def _description(source: WorkflowSource) -> str:
    content = source.read(metadata.METADATA_FILE)
    if content is not None:
        return metadata.read_metadata(content, f"{metadata.METADATA_FILE!r} in {source.origin}")
    content = source.read(metadata.LEGACY_FILE)
    return "" if content is None else metadata.read_legacy(content, f"{metadata.LEGACY_FILE!r} in {source.origin}")
