from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from knime.types.tool import WorkflowTool
from knime_ext.runtime.platform.workflow_files import matching_files


def write_workflow(path: Path, name: str) -> None:
    nodes = [
        {"id": "n", "factory": "IntegerConfiguration", "settings": {"parameter_name": "n", "default_value": 2}},
        {"id": "in", "factory": "WorkflowInput", "settings": {"parameter_name": "rows", "description": "Some rows"}},
        {"id": "out", "factory": "WorkflowOutput", "settings": {"parameter_name": "copy"}},
    ]
    connections = [{"from": ["in", 0], "to": ["out", 0]}]
    document = {"name": name, "description": f"Does {name}", "nodes": nodes, "connections": connections}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), "utf-8")


@pytest.fixture(autouse=True)
def own_filestore(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNIME_MCP_HOME", str(tmp_path_factory.mktemp("home")))


def test_each_workflow_becomes_one_row_of_the_one_column_tool(output: Callable[..., pa.Table], tmp_path: Path) -> None:
    write_workflow(tmp_path / "tools" / "b.json", "zählen")
    write_workflow(tmp_path / "tools" / "a.json", "copy_rows")
    write_workflow(tmp_path / "extra [1].json", "extra")
    table = output("WorkflowToTool", {"workflows": "\ntools/*.json\n extra [1].json \ntools/a.json\n"})
    assert table.column_names == ["<RowID>", "Tool"]
    tools: list[WorkflowTool] = table.column("Tool").to_pylist()
    assert [tool.name for tool in tools] == ["copy_rows", "zählen", "extra"]
    assert tools[0].description == "Does copy_rows"
    assert list(tools[0].parameter_schema) == ["n"]
    assert [port.name for port in tools[0].input_ports or []] == ["rows"]
    assert [port.name for port in tools[0].output_ports or []] == ["copy"]
    assert tools[0].filestore_keys


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "no workflow is named: write a path or a pattern such as 'tools/*.json'"),
        ("tools/*.json", "no workflow file matches 'tools/*.json' in the folder"),
        (".", "no workflow file matches '.'"),
    ],
)
def test_lines_that_match_nothing_are_explained_before_anything_runs(
    failure: Callable[..., str], lines: str, message: str
) -> None:
    assert message in failure("WorkflowToTool", {"workflows": lines})


def test_a_file_that_is_no_workflow_is_named(failure: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{"name": "x", "nodes": [{"id": "a"}]}', "utf-8")
    message = failure("WorkflowToTool", {"workflows": "*.json"})
    assert "broken.json" in message
    assert "nodes[0]" in message


def test_absolute_paths_and_subfolders_are_found_in_order(tmp_path: Path) -> None:
    for name in ("x/2.json", "x/10.json", "x/y/1.json"):
        write_workflow(tmp_path / name, "w")
    found = matching_files(f"{tmp_path}/x/y/1.json\n**/*.json", tmp_path)
    names: list[Any] = [path.relative_to(tmp_path).as_posix() for path in found]
    assert names == ["x/y/1.json", "x/10.json", "x/2.json"]
