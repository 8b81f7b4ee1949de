"""What people get wrong in a workflow file, with the real nodes: one clear sentence each, and nothing half-written."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from knime_ext.errors import KnimeExtError
from knime_ext.runtime import load_workflow, run_workflow

GOOD: dict[str, Any] = {
    "format": 1,
    "name": "Umsätze",
    "nodes": [
        {"id": "orders", "factory": "CSVReader", "settings": {"path": "orders.csv"}},
        {"id": "large", "factory": "SQLQuery", "settings": {"query": "SELECT * FROM input WHERE amount > 1"}},
        {"id": "both", "factory": "Concatenate"},
        {"id": "model", "factory": "OfflineChatModel"},
        {"id": "result", "factory": "WorkflowOutput", "settings": {"parameter_name": "result"}},
    ],
    "connections": [
        {"from": ["orders", 0], "to": ["large", 0]},
        {"from": ["large", 0], "to": ["both", 0]},
        {"from": ["both", 0], "to": ["result", 0]},
    ],
}


def with_change(*path: Any, to: Any) -> dict[str, Any]:
    document = copy.deepcopy(GOOD)
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return document


def with_connection(*source: Any, to: list[Any]) -> dict[str, Any]:
    return with_change("connections", to=[*GOOD["connections"], {"from": list(source), "to": to}])


def run(folder: Path, document: Any) -> Any:
    (folder / "orders.csv").write_text("customer,amount\na,1\nb,5\n", "utf-8")
    file = folder / "flow.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return run_workflow(load_workflow(file), base_dir=folder, out=folder / "out")


def test_the_workflow_itself_is_good(tmp_path: Path):
    assert run(tmp_path, GOOD).workflow_outputs["result"].num_rows == 1


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        pytest.param(
            with_connection("both", 0, to=["both", 0]),
            "the connections form a circle: 'both' -> 'both'; remove one of them",
            id="circle",
        ),
        pytest.param(
            with_change("nodes", 0, "factory", to="CsvReder"),
            "node 'orders' (nodes[0]) has the unknown factory 'CsvReder'; did you mean 'CSVReader'?",
            id="unknown node",
        ),
        pytest.param(
            with_connection("model", 0, to=["both", 0]),
            "connections[3] does not fit: output port 0 'Chat model' of node 'model' (Offline Chat Model) gives "
            "'Chat model', input port 0 'Tables' of node 'both' (Concatenate) takes 'Table'; connect ports of one type",
            id="wrong port type",
        ),
        pytest.param(
            with_change("nodes", 0, "settings", to={"path": "order.csv"}),
            "node 'orders' failed: there is no file '{folder}/order.csv'",
            id="missing file",
        ),
        pytest.param(
            with_change("nodes", 1, "settings", to={"qeury": "SELECT 1"}),
            "settings of node 'large' (SQL Query): there is no parameter 'qeury'; did you mean 'query'?",
            id="wrong parameter",
        ),
        pytest.param(
            with_change("nodes", 0, "settings", to={"path": "orders.csv", "skip_first_lines": "two"}),
            "settings of node 'orders' (CSV Reader): parameter 'skip_first_lines': 'two' is of type str, "
            "but must be a whole number",
            id="wrong value",
        ),
        pytest.param(
            with_change("nodes", 1, "settings", to={"query": "SELECT amuont FROM input"}),
            "node 'large' failed: the query fails: ",
            id="wrong column",
        ),
        pytest.param(
            with_change("connections", 0, "from", to=["order", 0]),
            "connections[0] starts at the node 'order', which does not exist; did you mean 'orders'?",
            id="connection to nowhere",
        ),
        pytest.param(
            '{"format": 1, "name": "x", "nodes": [}',
            "'{folder}/flow.json' is not JSON: Expecting value at line 1, column 38; correct it there",
            id="broken JSON",
        ),
        pytest.param(
            with_change("nodes", 0, to={"id": "orders"}),
            "'{folder}/flow.json': nodes[0] has no 'factory'; add it",
            id="missing field",
        ),
    ],
)
def test_bad_input_is_one_clear_sentence_and_writes_nothing(document: Any, sentence: str, tmp_path: Path):
    with pytest.raises(KnimeExtError) as error:
        run(tmp_path, document)
    said = str(error.value)
    assert said.startswith(sentence.replace("{folder}", str(tmp_path)))
    assert "\n" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flow.json", "orders.csv"]
