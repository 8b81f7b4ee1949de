"""What a document has comes back from its KNIME workflow."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.runtime import Workflow, load_workflow
from knime_ext.runtime.knime_workflow import opened_knime_workflow, read_knime_workflow, write_knime_workflow
from knime_ext.runtime.knime_workflow.platform_table import PLATFORM_NODES
from tests.knime_workflow.archives import unpacked, without_notes
from tests.knime_workflow.documents import REGISTRY, documents

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.json"))


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def _text(workflow: Workflow) -> str:
    return json.dumps(workflow.model_dump(), sort_keys=True)


@given(documents())
def test_any_document_comes_back_exactly(workflow: Workflow) -> None:
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "w.knwf"
        write_knime_workflow(workflow, out, REGISTRY, Path(name))

        assert _text(read_knime_workflow(out, REGISTRY)) == _text(workflow)


@given(documents())
def test_an_unpacked_workflow_gives_the_same_document(workflow: Workflow) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_knime_workflow(workflow, folder / "w.knwf", REGISTRY, folder)

        assert _text(read_knime_workflow(unpacked(folder / "w.knwf", folder / "in"), REGISTRY)) == _text(workflow)


@given(documents(sensible=True))
def test_what_knime_saves_again_is_read_and_stays_the_same_from_then_on(workflow: Workflow) -> None:
    """KNIME drops our notes. What is read then need not be the first document, but writing it changes nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_knime_workflow(workflow, folder / "a.knwf", REGISTRY, folder)
        saved = unpacked(folder / "a.knwf", folder / "a")
        without_notes(saved)
        first = read_knime_workflow(saved, REGISTRY)
        write_knime_workflow(first, folder / "b.knwf", REGISTRY, folder)

        assert [node.factory for node in first.nodes] == [node.factory for node in workflow.nodes]
        assert len(first.connections) == len(workflow.connections)
        assert _text(read_knime_workflow(folder / "b.knwf", REGISTRY)) == _text(first)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_examples_come_back_with_their_files(path: Path, folder: Path) -> None:
    workflow = load_workflow(path)
    export = write_knime_workflow(workflow, folder / "w.knwf", REGISTRY, path.parent)

    with opened_knime_workflow(folder / "w.knwf", REGISTRY) as opened:
        assert _text(opened.workflow) == _text(workflow)
        for place in export.files:
            assert (opened.base_dir / place).read_bytes() == (path.parent / place).read_bytes()


FIELD = {"name": "total", "type": "NUMBER", "description": "in €", "may_be_missing": True}
NEEDS_NO_NOTES = {
    "CSVReader": {
        "path": "in/orders.csv",
        "column_delimiter": "\\t",
        "quote_char": "'",
        "first_row_contains_column_names": False,
        "first_column_contains_row_ids": True,
        "file_encoding": "utf-16",
        "skip_first_lines": 3,
    },
    "CSVWriter": {
        "path": "out/report.csv",
        "if_exists": "OVERWRITE",
        "create_missing_folders": True,
        "column_delimiter": ";",
        "write_column_header": False,
        "write_row_id": True,
    },
    "RowFilter": {
        "match_policy": "OR",
        "criteria": [
            {"column": "name", "value": "Ada", "case_sensitive": False},
            {"column": "count", "operator": "GTE", "value": "42"},
            {"column": "big", "operator": "LT", "value": "9999999999"},
            {"column": "share", "operator": "NEQ", "value": "2.5"},
            {"column": "paid", "value": "true"},
            {"column": "city", "operator": "WILDCARD", "value": "B*"},
            {"column": "note", "operator": "IS_MISSING"},
            {"column": "<RowID>", "operator": "REGEX", "value": "Row[1-3]"},
        ],
        "output_mode": "NON_MATCHING",
    },
    "ColumnFilter": {
        "column_filter": {
            "mode": "REGEX",
            "patternFilter": {"pattern": "a.*", "isCaseSensitive": False, "isInverted": True},
            "typeFilter": {"selectedTypes": ["org.knime.core.data.IntValue"], "typeDisplays": []},
            "manualFilter": {"manuallySelected": ["a"], "manuallyDeselected": ["b"], "includeUnknownColumns": False},
        }
    },
    "Concatenate": {"column_set_policy": "INTERSECTION", "row_id_handling": "SKIP", "suffix": "_2"},
    "Joiner": {
        "join_columns": [{"left": "customer", "right": "id"}, {"left": "<RowID>", "right": "key"}],
        "join_mode": "FULL_OUTER",
        "merge_join_columns": True,
        "suffix": "_r",
        "row_ids": "SEQUENTIAL",
        "separator": "+",
    },
    "TableCreator": {
        "columns": [{"name": "n", "type": "INTEGER"}, {"name": "t"}, {"name": "d", "type": "DOUBLE"}],
        "rows": '[[1, "a", 0.5], [null, "", null], [null, null, null]]',
    },
    "WorkflowInput": {"parameter_name": "orders", "description": "What was ordered"},
    "WorkflowOutput": {"parameter_name": "result", "description": "Two\nlines"},
    "ToolMessageOutput": {},
    "StringConfiguration": {"default_value": "x", "label": "Who", "description": "d", "parameter_name": "who"},
    "IntegerConfiguration": {
        "default_value": 5,
        "use_minimum": True,
        "minimum": 1,
        "use_maximum": True,
        "maximum": 9,
        "parameter_name": "top_n",
    },
    "DoubleConfiguration": {"default_value": 0.5, "use_maximum": True, "maximum": 1.5, "parameter_name": "share"},
    "BooleanConfiguration": {"default_value": True, "parameter_name": "strict"},
    "AgentPrompter": {
        "user_message": "Hello\n✓",
        "mode": "CODE",
        "answer": {"form": "FIELDS", "fields": [FIELD, {**FIELD, "name": "tags", "type": "STRINGS"}], "attempts": 2},
        "recursion_limit": 3,
        "limits": {"calls": 9, "seconds": 1.5, "tool_tokens": 800},
        "approval": {"mode": "RULES", "allow": "a*, b", "ask": "c", "deny": "d", "others": "ASK"},
        "errors": {"error_handling": "COLUMN"},
        "mcp": {"changed_tools": "ACCEPT", "questions": "DECLINE"},
    },
    "AgentBatchPrompter": {
        "prompt": "{{ a }}\n{% if b %}ß{% endif %}",
        "answer_column": "said",
        "tool_alias": "mail",
        "rows": {"preview": 5, "concurrency": 2, "error_handling": "FAIL", "traces": False},
        "answer": {"form": "SCHEMA", "json_schema": '{"type": "object", "properties": {}}'},
        "limits": {"turns": 0, "total_tokens": 1_000_000, "when_reached": "REFUSE"},
        "speed": {"model_per_minute": 0.5, "attempts": 1},
    },
    "ToolExplorer": {"tool_column": "Tool", "columns": ["NAME", "TOKENS"]},
    "ToolBuilder": {"explorer_columns": False, "name_column": "new name", "hidden_column": "hide"},
    "ToolCaller": {
        "tool_choice": "COLUMN",
        "tool_name_column": "which",
        "by_name": False,
        "arguments": [{"argument": "to", "constant": "EUR"}, {"argument": "n", "column": "n"}],
        "results": "FIXED",
        "errors": {"error_handling": "FAIL"},
        "limits": {"concurrency": 1, "per_minute": 30.0},
    },
    "MCPToolProvider": {"server_url": "http://127.0.0.1:8000/sse", "time_limits": {"connect": 2.5}},
}


@pytest.mark.parametrize("factory", sorted(NEEDS_NO_NOTES))
def test_knimes_own_settings_hold_everything_that_both_sides_have(factory: str, folder: Path) -> None:
    node = {"id": "n", "factory": factory, "settings": NEEDS_NO_NOTES[factory], "comment": "c", "position": [7.0, 8.0]}
    workflow = Workflow.model_validate({"name": "W", "nodes": [node]})
    write_knime_workflow(workflow, folder / "w.knwf", REGISTRY, folder)
    saved = unpacked(folder / "w.knwf", folder / "in")
    without_notes(saved)
    (back,) = read_knime_workflow(saved, REGISTRY).nodes

    assert back.model_copy(update={"id": "n"}) == workflow.nodes[0]


def test_every_node_of_the_table_is_among_them() -> None:
    assert set(PLATFORM_NODES) - set(NEEDS_NO_NOTES) == {"WorkflowToTool"}  # KNIME's takes its paths from a table


@given(st.text(max_size=80).filter(bool))
def test_any_name_and_description_come_back(name: str) -> None:
    workflow = Workflow(name=name, description=name)
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary) / "w.knwf"
        write_knime_workflow(workflow, out, REGISTRY, Path(temporary))
        folder = unpacked(out, Path(temporary) / "in")

        assert read_knime_workflow(folder, REGISTRY) == workflow
