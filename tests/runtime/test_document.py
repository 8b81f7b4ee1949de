import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.errors import ConfigurationError, WorkflowError
from knime_ext.runtime.document import dump_workflow, load_workflow, parse_workflow, save_workflow

DOCUMENT: dict[str, Any] = {
    "format": 1,
    "name": "Pedidos de España",
    "nodes": [
        {"id": "reader", "factory": "CSVReader", "settings": {"path": "a.csv"}},
        {"id": "表格", "factory": "Agent", "flow_variables": {"group.limit": "top_n"}, "position": [10, 20.5]},
    ],
    "connections": [
        {"from": ["reader", 0], "to": ["表格", 3]},
        {"from": ["reader", "variables"], "to": ["表格", "variables"]},
        {"from": ["表格", 1, 2], "to": ["reader", 0]},
    ],
}


def changed(*path: Any, to: Any) -> dict[str, Any]:
    """The document with the value at `path` replaced."""
    document = copy.deepcopy(DOCUMENT)
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return document


def complaint(data: Any) -> str:
    with pytest.raises(WorkflowError) as error:
        parse_workflow(data, origin="flow.json")
    return str(error.value)


def test_a_document_is_read_with_its_ports_and_names():
    workflow = parse_workflow(DOCUMENT)
    assert workflow.name == "Pedidos de España"
    assert [node.id for node in workflow.nodes] == ["reader", "表格"]
    assert workflow.connections[0].source == ("reader", 0, 0)
    assert workflow.connections[1].target == ("表格", "variables")
    assert workflow.connections[2].source.slot == 2


def test_a_saved_workflow_is_read_back_equal(tmp_path: Path):
    workflow = parse_workflow(DOCUMENT)
    save_workflow(workflow, tmp_path / "flow.json")
    assert load_workflow(tmp_path / "flow.json") == workflow
    assert [path.name for path in tmp_path.iterdir()] == ["flow.json"]


def test_a_dumped_document_holds_only_what_was_said():
    assert dump_workflow(parse_workflow(DOCUMENT)) == DOCUMENT


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([1], "flow.json: the document must be an object, it is a list; correct it"),
        ({"format": 1}, "flow.json: the document has no 'name'; add it"),
        (
            changed("format", to=2),
            "flow.json: 'format' is 2, this version reads format 1; install a newer knime-mcp or convert the document",
        ),
        (changed("nodes", to={}), "flow.json: nodes must be a list, it is an object; correct it"),
        (
            changed("nodes", 1, "settings", to=[]),
            "flow.json: nodes[1].settings must be an object, it is a list; correct it",
        ),
        (
            changed("nodes", 1, "factroy", to="X"),
            "flow.json: nodes[1] has a field 'factroy' that does not exist; did you mean 'factory'?",
        ),
        (changed("nodes", 1, to={"id": "b"}), "flow.json: nodes[1] has no 'factory'; add it"),
        (
            changed("nodes", 1, "id", to="READER"),
            "flow.json: nodes 'reader', 'READER' have the same 'id' (upper and lower case do not count); "
            "rename all but one",
        ),
        (changed("nodes", 1, "id", to="../x"), "flow.json: nodes[1].id must not contain '.'; it is '../x'"),
        (
            changed("nodes", 1, "position", to=[1]),
            "flow.json: nodes[1].position must be two numbers [x, y]; correct it",
        ),
        (
            changed("connection", to=[]),
            "flow.json: the document has a field 'connection' that does not exist; did you mean 'connections'?",
        ),
        (changed("connections", 0, to={"to": ["a", 0]}), "flow.json: connections[0] has no 'from'; add it"),
    ],
)
def test_a_document_of_wrong_form_names_the_place_and_the_repair(data: Any, sentence: str):
    assert complaint(data) == sentence


@pytest.mark.parametrize("end", ["a", ["a"], ["a", -1], ["a", "x"], ["a", 0, "x"], ["a", 0, 0, 0], None, ["a", True]])
def test_a_connection_end_of_wrong_form_shows_the_right_form(end: Any):
    assert complaint(changed("connections", 1, "from", to=end)) == (
        'flow.json: connections[1].from must be [node id, port number], like ["reader", 0]; correct it'
    )


@pytest.mark.parametrize("bad", ["", " a", "a\n", "a/b", "a\\b", "a.b", "..", "a:b", "x" * 61])
def test_an_identifier_that_is_no_file_name_is_refused(bad: str):
    assert "nodes[0].id must" in complaint(changed("nodes", 0, "id", to=bad))


def test_a_missing_file_names_its_path(tmp_path: Path):
    with pytest.raises(ConfigurationError, match=r"there is no workflow file '.*flow\.json'; check the path"):
        load_workflow(tmp_path / "flow.json")


def test_a_folder_is_no_workflow(tmp_path: Path):
    with pytest.raises(ConfigurationError, match="is a folder; name the workflow's JSON file in it"):
        load_workflow(tmp_path)


def test_broken_json_names_line_and_column(tmp_path: Path):
    (tmp_path / "flow.json").write_text('{\n  "name": }', "utf-8")
    with pytest.raises(WorkflowError, match="is not JSON: Expecting value at line 2, column 11; correct it there"):
        load_workflow(tmp_path / "flow.json")


def test_json_nested_without_end_is_refused(tmp_path: Path):
    (tmp_path / "flow.json").write_text("[" * 100_000, "utf-8")
    with pytest.raises(WorkflowError, match="nested too deeply"):
        load_workflow(tmp_path / "flow.json")


def test_a_file_in_another_encoding_is_named(tmp_path: Path):
    (tmp_path / "flow.json").write_bytes('{"name": "Größe"}'.encode("latin-1"))
    with pytest.raises(WorkflowError, match="is not UTF-8 text"):
        load_workflow(tmp_path / "flow.json")


def test_a_byte_order_mark_is_no_obstacle(tmp_path: Path):
    (tmp_path / "flow.json").write_text(json.dumps(DOCUMENT), "utf-8-sig")
    assert load_workflow(tmp_path / "flow.json").name == "Pedidos de España"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    place=st.sampled_from(
        [("nodes",), ("nodes", 0), ("nodes", 0, "id"), ("connections", 0), ("connections", 0, "from"), ("name",)]
    ),
    value=json_values,
)
def test_any_value_at_any_place_is_read_or_refused_in_one_sentence(place: tuple[Any, ...], value: Any):
    try:
        parse_workflow(changed(*place, to=value), origin="flow.json")
    except WorkflowError as error:
        assert str(error).startswith("flow.json: ")
        assert "pydantic" not in str(error)
