from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from knime_ext.errors import KnimeExtError
from knime_ext.runtime.document import parse_workflow
from knime_ext.runtime.engine import run_workflow
from knime_ext.runtime.knext.table import Table
from knime_ext.runtime.result import RunResult

TEMPLATE = {"columns": [{"name": "städte"}], "rows": '[["Łódź"]]'}


def passing_through(tmp_path: Path, *, template: bool, inputs: dict[str, Table], name: str = "orders") -> RunResult:
    nodes: list[dict[str, Any]] = [
        {"id": "in", "factory": "WorkflowInput", "settings": {"parameter_name": name}},
        {"id": "out", "factory": "WorkflowOutput", "settings": {"parameter_name": "copy"}},
        {"id": "say", "factory": "ToolMessageOutput"},
    ]
    connections = [{"from": ["in", 0], "to": ["out", 0]}, {"from": ["in", 0], "to": ["say", 0]}]
    if template:
        nodes.append({"id": "template", "factory": "TableCreator", "settings": TEMPLATE})
        connections.append({"from": ["template", 0], "to": ["in", 0]})
    workflow = parse_workflow({"name": "w", "nodes": nodes, "connections": connections})
    return run_workflow(workflow, base_dir=tmp_path, inputs=inputs)


def test_the_callers_table_wins_over_the_template(tmp_path: Path) -> None:
    given = Table.from_pyarrow(pa.table({"x": ["東京"]}))
    result = passing_through(tmp_path, template=True, inputs={"orders": given})
    assert result.workflow_outputs["copy"].to_pyarrow().to_pydict() == {"<RowID>": ["Row0"], "x": ["東京"]}
    assert result.message == "東京"


def test_the_template_serves_when_nobody_gives_a_table(tmp_path: Path) -> None:
    result = passing_through(tmp_path, template=True, inputs={})
    assert result.message == "Łódź"
    assert result.workflow_outputs["copy"].column_names == ["städte"]


def test_an_empty_table_gives_an_empty_message(tmp_path: Path) -> None:
    empty = Table.from_pyarrow(pa.table({"x": pa.array([], pa.string())}))
    assert not passing_through(tmp_path, template=False, inputs={"orders": empty}).message


def test_neither_table_nor_template_is_explained(tmp_path: Path) -> None:
    with pytest.raises(
        KnimeExtError, match="nobody gave a table for the workflow input 'orders': give one, or connect"
    ):
        passing_through(tmp_path, template=False, inputs={})


def test_a_message_table_without_columns_is_refused(tmp_path: Path) -> None:
    nothing = Table.from_pyarrow(pa.table({"<RowID>": ["r"]}))
    with pytest.raises(KnimeExtError, match="the message table has no column"):
        passing_through(tmp_path, template=False, inputs={"orders": nothing})


def test_names_that_callers_cannot_write_are_refused(tmp_path: Path) -> None:
    with pytest.raises(KnimeExtError, match="the parameter name 'my orders' is not possible"):
        passing_through(tmp_path, template=True, inputs={}, name="my orders")
