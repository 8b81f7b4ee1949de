"""Workflows with tables of tools: as a document, as a `.knwf` file, and as KNIME saves it again, they do the same."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import ROOT, in_this_process
from tests.knime_workflow.archives import unpacked, without_notes

ORDERS = ROOT / "examples" / "orders-agent"
QUESTION = "Which customer has the highest revenue in the orders, and how much is that in EUR?"

READ_ONLY = {"column": "Read-only", "operator": "EQ", "value": "true"}
RENAMED: dict[str, Any] = {
    "columns": [{"name": "tool", "type": "STRING"}, {"name": "new name", "type": "STRING"}],
    "rows": '[["convert_currency", "Change money"]]',
}

Wires = list[tuple[str, str]]
Nodes = dict[str, tuple[str, dict[str, Any]]]

EDITED: Nodes = {
    "explored": ("ToolExplorer", {"columns": ["WIRE_NAME", "READ_ONLY"]}),
    "harmless": ("RowFilter", {"criteria": [READ_ONLY]}),
    "names": ("TableCreator", RENAMED),
    "named": ("Joiner", {"join_columns": [{"left": "Wire name", "right": "tool"}]}),
    "built": ("ToolBuilder", {"explorer_columns": False, "name_column": "new name"}),
}
EDITS: Wires = [
    ("provider 0", "explored 0"),
    ("explored 0", "harmless 0"),
    ("harmless 0", "named 0"),
    ("names 0", "named 1"),
    ("named 0", "built 0"),
]
AGENT: Nodes = {
    **EDITED,
    "workflows": ("WorkflowToTool", {"workflows": "tools/*.json"}),
    "tools": ("Concatenate", {}),
    "orders": ("CSVReader", {"path": "orders.csv"}),
    "model": ("OfflineChatModel", {}),
    "agent": (
        "AgentPrompter",
        {
            "user_message": QUESTION,
            "limits": {"calls": 5, "result_chars": 5000},
            "approval": {"mode": "RULES", "allow": "customer_revenue, Change money", "others": "DENY"},
        },
    ),
}
BATCH: Nodes = {
    **EDITED,
    "sums": ("CSVReader", {"path": "sums.csv"}),
    "model": ("OfflineChatModel", {}),
    "batch": (
        "AgentBatchPrompter",
        {
            "prompt": "Change {{ amount }} USD to {{ to }}.",
            "answer_column": "said",
            "rows": {"preview": 2, "concurrency": 3, "traces": False},
            "limits": {"turns": 4},
        },
    ),
}
CALLER: Nodes = {
    **EDITED,
    "sums": ("CSVReader", {"path": "sums.csv"}),
    "calls": (
        "ToolCaller",
        {
            "tool_name": "Change money",
            "arguments": [
                {"argument": "from_currency", "column": "<none>", "constant": "USD"},
                {"argument": "to_currency", "column": "to", "constant": ""},
            ],
            "column_prefix": "new ",
            "limits": {"concurrency": 2},
        },
    ),
}
WORKFLOWS: dict[str, tuple[Nodes, Wires, list[str]]] = {
    "agent": (
        AGENT,
        [
            *EDITS,
            ("built 0", "tools 0"),
            ("workflows 0", "tools 0"),
            ("model 0", "agent 0"),
            ("tools 0", "agent 1"),
            ("orders 0", "agent 3"),
        ],
        ["agent 0", "agent 1 0", "agent 1 1", "agent 2"],
    ),
    "batch": (BATCH, [*EDITS, ("model 0", "batch 0"), ("sums 0", "batch 1"), ("built 0", "batch 2")], ["batch 0"]),
    "caller": (CALLER, [*EDITS, ("built 0", "calls 0"), ("sums 0", "calls 1")], ["calls 0"]),
}


def port(text: str) -> list[Any]:
    """A port of a document."""
    node, *numbers = text.split()
    return [node, *map(int, numbers)]


def document(folder: Path, name: str, server_url: str) -> Path:
    """Writes a workflow with its files; each of its results goes to a workflow output."""
    nodes, wires, results = WORKFLOWS[name]
    shutil.copytree(ORDERS / "tools", folder / "tools")
    shutil.copy(ORDERS / "orders.csv", folder)
    (folder / "sums.csv").write_text("amount,to\n10,EUR\n20,GBP\n30,XXX\n", encoding="utf-8")
    everything: Nodes = {"provider": ("MCPToolProvider", {"server_url": server_url}), **nodes}
    for number in range(len(results)):
        everything[f"out{number}"] = ("WorkflowOutput", {"parameter_name": f"result{number}"})
    wires = [*wires, *((result, f"out{number} 0") for number, result in enumerate(results))]
    tree = {
        "format": 1,
        "name": name,
        "nodes": [{"id": node, "factory": kind, "settings": each} for node, (kind, each) in everything.items()],
        "connections": [{"from": port(source), "to": port(target)} for source, target in wires],
    }
    (folder / "workflow.json").write_text(json.dumps(tree), encoding="utf-8")
    return folder / "workflow.json"


def results(workflow: Path, out: Path) -> dict[str, list[list[str]]]:
    """Runs a workflow; its outputs as header and rows of CSV, but for measured times."""
    done = in_this_process("run", str(workflow), "--out", str(out), KNIME_MCP_HOME=str(out / "home"))
    assert done.returncode == 0, done.stderr
    tables: dict[str, list[list[str]]] = {}
    for file in sorted(out.glob("result*.csv")):
        with file.open(encoding="utf-8", newline="") as lines:
            header, *rows = csv.reader(lines)
        timeless = [at for at, name in enumerate(header) if "seconds" not in name]
        tables[file.stem] = [[row[at] for at in timeless] for row in (header, *rows)]
    return tables


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_with_tables_of_tools_does_the_same_after_export(name: str, tmp_path: Path, server_url: str) -> None:
    (tmp_path / "here").mkdir()
    workflow = document(tmp_path / "here", name, server_url)
    exported = in_this_process("export", str(workflow), str(tmp_path / "w.knwf"))
    assert exported.returncode == 0, exported.stderr

    first = results(workflow, tmp_path / "first")
    assert len(first) == len(WORKFLOWS[name][2])
    assert results(tmp_path / "w.knwf", tmp_path / "second") == first
    if name != "agent":  # KNIME's Workflow to Tool takes its paths from a table
        saved = unpacked(tmp_path / "w.knwf", tmp_path / "saved")
        without_notes(saved)
        assert results(saved, tmp_path / "third") == first


def test_the_agent_used_both_kinds_of_tools_and_gave_its_answer_as_a_table(tmp_path: Path, server_url: str) -> None:
    tables = results(document(tmp_path, "agent", server_url), tmp_path / "out")
    header, answer = tables["result3"]
    told = dict(zip(header, answer, strict=True))
    assert "Northwind Traders" in told["Answer"]
    assert "EUR" in told["Answer"]
    assert (told["Stop reason"], told["Tool calls"]) == ("answered", "2")
    assert "Change money" in str(tables["result0"])


def test_rows_are_asked_and_called_with_the_edited_tool(tmp_path: Path, server_url: str) -> None:
    for name in ("batch", "caller"):
        (tmp_path / name).mkdir()
    batch = results(document(tmp_path / "batch", "batch", server_url), tmp_path / "out1")["result0"]
    assert len(batch) == 3  # a preview of two rows
    assert [row[batch[0].index("said__tool_calls")] for row in batch[1:]] == ["1", "1"]
    calls = results(document(tmp_path / "caller", "caller", server_url), tmp_path / "out2")["result0"]
    assert [row[calls[0].index("new amount")] != "" for row in calls[1:]] == [True, True, False]
    assert "XXX" in calls[3][calls[0].index("Error")]
