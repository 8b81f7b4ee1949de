"""Files that go with a workflow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from knime_ext.errors import ConfigurationError, WorkflowError
from knime_ext.runtime import NodeRegistry, Workflow, load_workflow, run_workflow
from knime_ext.runtime.knime_workflow import opened_knime_workflow, write_knime_workflow
from tests.knime_workflow.archives import files_in, unpacked

EXAMPLE = Path(__file__).parents[2] / "examples" / "csv-report" / "workflow.json"


def _reader(path: str) -> dict[str, Any]:
    return {"id": "read", "factory": "CSVReader", "settings": {"path": path}}


def _workflow(*nodes: dict[str, Any]) -> Workflow:
    return Workflow.model_validate({"name": "W", "nodes": nodes})


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "base" / "in").mkdir(parents=True)
    (tmp_path / "base" / "in" / "a.csv").write_text("n\n1\n", "utf-8")
    (tmp_path / "outer.csv").write_text("n\n2\n", "utf-8")
    return tmp_path / "base"


@pytest.mark.parametrize("path", ["in/a.csv", "./in/../in/a.csv"])
def test_a_file_keeps_the_path_that_its_node_names(path: str, base: Path, registry: NodeRegistry) -> None:
    export = write_knime_workflow(_workflow(_reader(path)), base / "w.knwf", registry, base)

    assert export.files == ("in/a.csv",)
    assert files_in(base / "w.knwf")["W/data/in/a.csv"] == b"n\n1\n"
    with opened_knime_workflow(base / "w.knwf", registry) as opened:
        assert opened.workflow.nodes[0].settings == {"path": path}
        assert run_workflow(opened.workflow, base_dir=opened.base_dir).table("read").num_rows == 1


def test_a_file_beside_the_folder_moves_into_it(base: Path, registry: NodeRegistry) -> None:
    export = write_knime_workflow(_workflow(_reader("../outer.csv")), base / "w.knwf", registry, base)

    assert export.files == ("outside/1/outer.csv",)
    with opened_knime_workflow(base / "w.knwf", registry) as opened:
        assert opened.workflow.nodes[0].settings == {"path": "outside/1/outer.csv"}
        assert run_workflow(opened.workflow, base_dir=opened.base_dir).table("read").to_pyarrow()["n"].to_pylist() == [
            2
        ]


@pytest.mark.parametrize("path", ["", "not there.csv", "/not/there.csv", "a\0b", "."])
def test_paths_without_a_file_of_their_own_bring_nothing_along(path: str, base: Path, registry: NodeRegistry) -> None:
    inner = base / "empty"
    inner.mkdir()

    assert write_knime_workflow(_workflow(_reader(path)), base / "w.knwf", registry, inner).files == ()


def test_a_file_whose_name_only_some_systems_allow_is_refused(base: Path, registry: NodeRegistry) -> None:
    (base / "a:b.csv").write_text("n\n", "utf-8")

    with pytest.raises(ConfigurationError, match="'a:b.csv' cannot go .* rename it"):
        write_knime_workflow(_workflow(_reader("a:b.csv")), base / "w.knwf", registry, base)


def _tool(path: Path, *nodes: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"format": 1, "name": path.stem, "nodes": nodes}), "utf-8")


def _tools(lines: str) -> dict[str, Any]:
    return {"id": "tools", "factory": "WorkflowToTool", "settings": {"workflows": lines}}


def test_workflows_that_become_tools_come_with_their_files_and_with_their_own_tools(
    base: Path, registry: NodeRegistry
) -> None:
    _tool(base / "tools" / "one.json", _reader("../in/a.csv"), _tools("deeper/*.json"))
    _tool(base / "tools" / "deeper" / "two.json", _tools("../one.json"))
    export = write_knime_workflow(_workflow(_tools("tools/*.json")), base / "w.knwf", registry, base)

    assert export.files == ("in/a.csv", "tools/deeper/two.json", "tools/one.json")
    with opened_knime_workflow(base / "w.knwf", registry) as opened:
        assert opened.workflow.nodes[0].settings == {"workflows": "tools/*.json"}
        assert run_workflow(opened.workflow, base_dir=opened.base_dir).table("tools").num_rows == 1


def test_a_tool_with_a_file_beside_the_folder_moves_as_a_whole(base: Path, registry: NodeRegistry) -> None:
    _tool(base / "inside.json")
    _tool(base / "tools" / "one.json", _reader("../../outer.csv"))
    export = write_knime_workflow(_workflow(_tools("inside.json\ntools/*.json")), base / "w.knwf", registry, base)

    assert export.files == ("inside.json", "outside/1/outside/0/outer.csv", "outside/1/workflow.json")
    with opened_knime_workflow(base / "w.knwf", registry) as opened:
        assert opened.workflow.nodes[0].settings == {"workflows": "inside.json\noutside/1/workflow.json"}
        assert run_workflow(opened.workflow, base_dir=opened.base_dir).table("tools").num_rows == 2


def test_a_tool_that_is_no_workflow_is_named(base: Path, registry: NodeRegistry) -> None:
    (base / "broken.json").write_text("{", "utf-8")

    with pytest.raises(WorkflowError, match=r"broken\.json"):
        write_knime_workflow(_workflow(_tools("broken.json")), base / "w.knwf", registry, base)
    assert not (base / "w.knwf").exists()


def test_an_example_gives_the_same_result_from_its_export(tmp_path: Path, registry: NodeRegistry) -> None:
    workflow = load_workflow(EXAMPLE)
    original = tmp_path / "original"
    original.mkdir()
    for name in ("sales.csv", "shops.csv"):
        (original / name).write_bytes((EXAMPLE.parent / name).read_bytes())
    write_knime_workflow(workflow, tmp_path / "w.knwf", registry, original)
    expected = run_workflow(workflow, base_dir=original).workflow_outputs["report"].to_pyarrow()

    with opened_knime_workflow(tmp_path / "w.knwf", registry) as opened:
        assert (
            run_workflow(opened.workflow, base_dir=opened.base_dir).workflow_outputs["report"].to_pyarrow() == expected
        )
        assert opened.written_files() == [Path("out/report.csv")]
    folder = unpacked(tmp_path / "w.knwf", tmp_path / "in")
    with opened_knime_workflow(folder, registry) as opened:
        assert (
            run_workflow(opened.workflow, base_dir=opened.base_dir).workflow_outputs["report"].to_pyarrow() == expected
        )
        assert opened.written_files() == []  # they are where the workflow is, and stay there
    assert (folder / "data/out/report.csv").is_file()
