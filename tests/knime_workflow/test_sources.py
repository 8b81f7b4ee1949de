"""Files that are no workflows, or that try something."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from knime_ext.errors import ConfigurationError, KnimeExtError, WorkflowError
from knime_ext.runtime import NodeRegistry, Workflow
from knime_ext.runtime.knime_workflow import (
    is_knime_workflow,
    opened_knime_workflow,
    read_knime_workflow,
    write_knime_workflow,
)
from tests.knime_workflow.archives import files_in, unpacked
from tests.knime_workflow.knime_folders import ROW_FILTER, KnimeFolder, row_filter


@pytest.fixture
def good(tmp_path: Path, registry: NodeRegistry) -> Path:
    node = {"id": "n", "factory": "CSVReader", "settings": {"path": "in.csv"}}
    (tmp_path / "in.csv").write_text("a\n1\n", "utf-8")
    out = tmp_path / "good.knwf"
    write_knime_workflow(Workflow.model_validate({"name": "W", "nodes": [node]}), out, registry, tmp_path)
    return out


def _archive(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return path


def _changed(good: Path, changes: dict[str, bytes], without: str = "") -> Path:
    files = {name: content for name, content in files_in(good).items() if name != without}
    return _archive(good.with_name("changed.knwf"), files | changes)


def test_there_is_nothing_at_the_path(tmp_path: Path, registry: NodeRegistry) -> None:
    with pytest.raises(ConfigurationError, match="there is no workflow .*check the path"):
        read_knime_workflow(tmp_path / "none.knwf", registry)


def test_a_folder_without_a_workflow_is_no_workflow(tmp_path: Path, registry: NodeRegistry) -> None:
    with pytest.raises(ConfigurationError, match="holds no KNIME workflow"):
        read_knime_workflow(tmp_path, registry)


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04" + b"\0" * 60])
def test_a_file_that_is_no_archive_is_no_workflow(tmp_path: Path, registry: NodeRegistry, content: bytes) -> None:
    path = tmp_path / "w.knwf"
    path.write_bytes(content)

    with pytest.raises(ConfigurationError, match="is no KNIME workflow"):
        read_knime_workflow(path, registry)


def test_an_archive_without_a_workflow_is_refused(tmp_path: Path, registry: NodeRegistry) -> None:
    with pytest.raises(ConfigurationError, match="holds no KNIME workflow"):
        read_knime_workflow(_archive(tmp_path / "w.knwf", {"readme.txt": b"hello"}), registry)


def test_an_archive_with_several_workflows_is_refused_with_their_names(good: Path, registry: NodeRegistry) -> None:
    files = files_in(good)
    other = {f"Other/{name.partition('/')[2]}": content for name, content in files.items()}

    with pytest.raises(ConfigurationError, match=r"several workflows \('Other', 'W'\)"):
        read_knime_workflow(_changed(good, other), registry)


def test_a_workflow_without_a_folder_around_it_has_the_name_of_the_file(good: Path, registry: NodeRegistry) -> None:
    flat = {name.partition("/")[2]: content for name, content in files_in(good).items()}

    assert read_knime_workflow(_archive(good.with_name("flat.knwf"), flat), registry).name == "flat"


def test_a_renamed_folder_renames_the_workflow(good: Path, tmp_path: Path, registry: NodeRegistry) -> None:
    folder = unpacked(good, tmp_path / "in").rename(tmp_path / "in" / "Renamed")

    assert read_knime_workflow(folder, registry).name == "Renamed"


@pytest.mark.parametrize("name", ["W/data/../../../evil", "/etc/evil", "W\\data\\evil", "C:/evil", "W/data/../../x"])
def test_archives_that_lead_out_of_their_folder_are_refused(good: Path, registry: NodeRegistry, name: str) -> None:
    with (
        pytest.raises(ConfigurationError, match="outside of the workflow"),
        opened_knime_workflow(_changed(good, {name: b"evil"}), registry),
    ):
        pytest.fail("it was opened")


@pytest.mark.parametrize("place", ["../../secret.xml", "/etc/passwd", "C:\\secret.xml"])
def test_settings_files_outside_of_the_workflow_are_not_read(
    tmp_path: Path, registry: NodeRegistry, place: str
) -> None:
    folder = KnimeFolder(tmp_path / "w")
    folder.node(1, "Row Filter", ROW_FILTER, *row_filter())
    path = folder.save() / "workflow.knime"
    path.write_text(path.read_text("utf-8").replace("Row Filter (#1)/settings.xml", place), "utf-8")

    with pytest.raises(ConfigurationError, match="outside of the workflow"):
        read_knime_workflow(tmp_path / "w", registry)


def test_links_that_leave_the_workflow_are_not_followed(tmp_path: Path, registry: NodeRegistry) -> None:
    folder = KnimeFolder(tmp_path / "w")
    folder.node(1, "Row Filter", ROW_FILTER, *row_filter())
    file = folder.save() / "Row Filter (#1)/settings.xml"
    secret = tmp_path / "secret.xml"
    file.rename(secret)
    os.symlink(secret, file)

    with pytest.raises(ConfigurationError, match="a link that leaves the workflow"):
        read_knime_workflow(tmp_path / "w", registry)


def test_a_file_that_grows_while_it_is_unpacked_is_refused(good: Path, registry: NodeRegistry) -> None:
    bomb = b" " * (65 << 20)

    with pytest.raises(ConfigurationError, match="'workflow.knime' in .* is too large"):
        read_knime_workflow(_changed(good, {"W/workflow.knime": bomb}), registry)


def test_a_damaged_member_is_named(good: Path, registry: NodeRegistry) -> None:
    content = bytearray(good.read_bytes())
    start = content.index(b"workflow.knime") + len(b"workflow.knime")
    content[start + 20 : start + 60] = b"\xff" * 40
    good.write_bytes(bytes(content))

    with pytest.raises(ConfigurationError, match="cannot read 'workflow.knime' in"):
        read_knime_workflow(good, registry)


def test_a_missing_settings_file_is_named(good: Path, registry: NodeRegistry) -> None:
    path = _changed(good, {}, without="W/CSV Reader (#1)/settings.xml")

    with pytest.raises(WorkflowError, match=r"has no file 'CSV Reader \(#1\)/settings.xml'"):
        read_knime_workflow(path, registry)


@pytest.mark.parametrize(
    "notes",
    [
        '<entry key="format" type="xint" value="1"/><entry key="id" type="xstring" value="{"/>',
        '<entry key="format" type="xint" value="1"/><entry key="settings" type="xstring" value="[]"/>',
        '<entry key="format" type="xint" value="1"/><entry key="surplus" type="xstring" value="[1]"/>',
        '<entry key="format" type="xint" value="one"/>',
    ],
)
def test_damaged_notes_are_named(tmp_path: Path, registry: NodeRegistry, notes: str) -> None:
    folder = KnimeFolder(tmp_path / "w")
    folder.node(1, "Row Filter", ROW_FILTER, *row_filter(), around=f'<config key="knime_mcp">{notes}</config>')

    with pytest.raises(WorkflowError, match=r"'Row Filter' \(#1\) in .*'knime_mcp' is damaged"):
        read_knime_workflow(folder.save(), registry)


def test_notes_of_a_newer_version_are_refused(tmp_path: Path, registry: NodeRegistry) -> None:
    notes = '<config key="knime_mcp"><entry key="format" type="xint" value="2"/></config>'
    folder = KnimeFolder(tmp_path / "w")
    folder.node(1, "Row Filter", ROW_FILTER, *row_filter(), around=notes)

    with pytest.raises(WorkflowError, match="has format 2, this version reads format 1"):
        read_knime_workflow(folder.save(), registry)


def test_a_node_that_was_copied_with_its_notes_gets_another_identifier(good: Path, registry: NodeRegistry) -> None:
    files = files_in(good)
    settings = files["W/CSV Reader (#1)/settings.xml"]
    main = files["W/workflow.knime"].decode()
    start, end = main.index('<config key="node_1">'), main.index('<config key="connections"')
    second = main[start : main.rindex("</config>", start, end)].replace("node_1", "node_2").replace('"1"', '"2"', 1)
    changed = (
        main[: main.rindex("</config>", start, end)]
        + second.replace("(#1)", "(#2)")
        + main[main.rindex("</config>", start, end) :]
    )
    path = _changed(good, {"W/workflow.knime": changed.encode(), "W/CSV Reader (#2)/settings.xml": settings})

    assert [node.id for node in read_knime_workflow(path, registry).nodes] == ["n", "csv_reader_2"]


def test_any_cut_of_a_file_is_an_error_that_is_explained(good: Path, registry: NodeRegistry) -> None:
    content = good.read_bytes()
    for length in range(0, len(content), 97):
        good.write_bytes(content[:length])
        with pytest.raises(KnimeExtError):
            read_knime_workflow(good, registry)


def test_workflows_of_knime_are_told_from_documents(good: Path, tmp_path: Path) -> None:
    assert is_knime_workflow(good)
    assert is_knime_workflow(tmp_path / "not there.KNWF")
    assert is_knime_workflow(unpacked(good, tmp_path / "in"))
    assert not is_knime_workflow(tmp_path / "workflow.json")
    assert not is_knime_workflow(tmp_path)
