"""Agent Batch Prompter in the embedded runtime, with a real chat model service and a real MCP server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import ipc

from knime_ext.errors import KnimeExtError
from knime_ext.runtime import run_workflow
from knime_ext.runtime.document import Workflow
from knime_ext.runtime.events import Event, NodeProgress
from tests.agent.openai_server import (
    Body,
    Reply,
    Service,
    chosen,
    completion,
    delayed,
    failure,
    openai_service,
    question_in,
)
from tests.agent_batch.tool_server import ToolServer, tool_server, weighing

THINGS = ["ball", "pen", "cup", "box"]
ENDINGS = ("trace", "stop_reason", "turns", "tool_calls", "tokens", "seconds", "error")


@pytest.fixture(scope="module")
def server() -> Iterator[ToolServer]:
    with tool_server() as running:
        yield running


def workflow(model: Service, server: ToolServer | None = None, /, **settings: Any) -> Workflow:
    rows = json.dumps([[thing, number] for number, thing in enumerate(THINGS)])
    columns = [{"name": "The thing", "type": "STRING"}, {"name": "n", "type": "INTEGER"}]
    chat = {"model": "tiny", "base_url": model.url}
    nodes: list[dict[str, Any]] = [
        {"id": "things", "factory": "TableCreator", "settings": {"columns": columns, "rows": rows}},
        {"id": "model", "factory": "ChatModelConnector", "settings": chat},
        {"id": "batch", "factory": "AgentBatchPrompter", "settings": {"prompt": "{{ row['The thing'] }}"} | settings},
    ]
    wires: list[dict[str, Any]] = [
        {"from": ["model", 0], "to": ["batch", 0]},
        {"from": ["things", 0], "to": ["batch", 1]},
    ]
    if server is not None:
        nodes.append({"id": "tools", "factory": "MCPToolProvider", "settings": {"server_url": server.url}})
        wires.append({"from": ["tools", 0], "to": ["batch", 2]})
    return Workflow.model_validate(
        {"format": 1, "name": "things", "description": "", "nodes": nodes, "connections": wires}
    )


def answered(document: Workflow, folder: Path, **options: Any) -> tuple[pa.Table, Any]:
    result = run_workflow(document, base_dir=folder, **options)
    return result.table("batch", 0).to_pyarrow(), result


def echo(body: Body) -> Reply:
    return completion(question_in(body))


def test_each_row_gets_an_answer_with_all_that_led_to_it(tmp_path: Path, server: ToolServer) -> None:
    told: list[Event] = []
    with openai_service(weighing()) as model:
        table, result = answered(workflow(model, server), tmp_path, out=tmp_path / "out", events=told.append)
    assert table.column_names == ["<RowID>", "The thing", "n", "answer", *(f"answer__{name}" for name in ENDINGS)]
    assert table["The thing"].to_pylist() == THINGS
    assert table["answer"].to_pylist() == [f"weight of {it} and colour of {it}" for it in THINGS]
    assert table["answer__tool_calls"].to_pylist() == [2] * 4
    assert table["answer__tokens"].to_pylist() == [36] * 4
    trace = json.loads(table["answer__trace"][1].as_py())
    assert [message["role"] for message in trace] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert trace[3]["content"] == "weight of pen"
    assert "colour of pen" in result.views["batch"]
    progress = [event.message for event in told if isinstance(event, NodeProgress) and event.node == "batch"]
    assert progress[-1] is not None
    assert progress[-1].startswith("4 of 4 rows, ")
    assert not (tmp_path / "out" / "journals").exists()


def test_a_prompt_that_does_not_fit_the_table_is_an_error_before_anything_runs(tmp_path: Path) -> None:
    with openai_service(chosen(echo)) as model:
        for settings, reason in (
            ({"prompt": "{{ thing }}"}, "uses the column 'thing', which the table does not have"),
            ({"system_message": "{{ m }}"}, "system message uses the column 'm'"),
            ({"prompt": "{{ n"}, "unexpected end of template"),
            ({"prompt": ""}, "prompt is empty"),
            ({"answer_column": "n"}, "two columns 'n'"),
        ):
            with pytest.raises(KnimeExtError, match=reason):
                run_workflow(workflow(model, **settings), base_dir=tmp_path)
    assert model.count == 0


def test_rows_of_a_preview_are_not_asked_for_again(tmp_path: Path) -> None:
    with openai_service(chosen(echo)) as model:
        table, _ = answered(workflow(model, rows={"preview": 3}), tmp_path, out=tmp_path / "out")
        assert (table["answer"].to_pylist(), model.count) == (THINGS[:3], 3)
        table, _ = answered(workflow(model), tmp_path, out=tmp_path / "out")
    assert (table["answer"].to_pylist(), model.count) == (THINGS, 4)


def test_a_row_that_fails_is_an_error_in_its_column_or_fails_the_node(tmp_path: Path) -> None:
    def choose(body: Body) -> Reply:
        return failure(400, "no pens") if question_in(body) == "pen" else echo(body)

    with openai_service(chosen(choose)) as model:
        table, _ = answered(workflow(model), tmp_path)
        assert table["answer"].to_pylist() == ["ball", None, "cup", "box"]
        assert "rejected the request" in table["answer__error"][1].as_py()
        with pytest.raises(KnimeExtError, match="Row 'Row1' failed: the chat model 'tiny' rejected"):
            run_workflow(workflow(model, rows={"error_handling": "FAIL"}), base_dir=tmp_path)


def test_a_canceled_node_goes_on_where_it_stopped(tmp_path: Path) -> None:
    cancel, asked = threading.Event(), list[str]()

    def choose(body: Body) -> Reply:
        thing = question_in(body)
        asked.append(thing)
        if thing == "cup" and not cancel.is_set():
            cancel.set()
            return delayed(echo(body), 60_000)
        return echo(body)

    document, out = {"rows": {"concurrency": 1}}, tmp_path / "out"
    with openai_service(chosen(choose)) as model:
        stopped = run_workflow(workflow(model, **document), base_dir=tmp_path, out=out, cancel=cancel)
        assert stopped.state == "canceled"
        assert asked == ["ball", "pen", "cup"]
        table, _ = answered(workflow(model, **document), tmp_path, out=out)
    assert table["answer"].to_pylist() == THINGS
    assert asked == ["ball", "pen", "cup", "cup", "box"]


def test_answers_in_a_form_are_typed_columns(tmp_path: Path) -> None:
    fields: Sequence[dict[str, Any]] = [{"name": "weight", "type": "INTEGER"}, {"name": "round", "type": "BOOLEAN"}]
    settings = {"answer": {"form": "FIELDS", "fields": fields}, "rows": {"traces": False}}
    with openai_service(completion('{"weight": 7, "round": true}')) as model:
        table, _ = answered(workflow(model, **settings), tmp_path)
    assert table.column_names[3:7] == ["answer", "weight", "round", "answer__stop_reason"]
    assert table["weight"].to_pylist() == [7] * 4
    assert table["round"].to_pylist() == [True] * 4


def test_one_switch_keeps_all_conversations_as_arrow_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNIME_MCP_TRACES", str(tmp_path / "traces"))
    with openai_service(chosen(echo)) as model:
        table, _ = answered(workflow(model, rows={"traces": False}), tmp_path)
    assert "answer__trace" not in table.column_names
    [file] = (tmp_path / "traces").iterdir()
    with pa.memory_map(str(file)) as mapped:
        kept = ipc.open_file(mapped).read_all().to_pylist()
    assert [row["row"] for row in kept] == [0, 1, 2, 3]
    assert [message["content"] for message in kept[2]["answer__trace"]] == ["cup", "cup"]


@pytest.mark.parametrize("where", ["node", "tool configuration"])
def test_tools_come_by_alias_and_limits_hold_for_all_rows(
    tmp_path: Path, home: Path, server: ToolServer, where: str
) -> None:
    home.mkdir()
    (home / "providers.yaml").write_text(
        f"providers:\n  scales:\n    provider_type: http\n    url: {server.url}\n", encoding="utf-8"
    )
    limit = "    max_table_tool_calls: 4\n" if where == "tool configuration" else ""
    (home / "tool_configs.yaml").write_text(
        f"tool_configs:\n  weigh:\n    providers: [scales]\n{limit}", encoding="utf-8"
    )
    limits = {"when_reached": "FAIL"} | ({"total_calls": 4} if where == "node" else {})
    settings = {"tool_alias": "weigh", "limits": limits, "rows": {"concurrency": 1}}
    server.calls.clear()
    with openai_service(weighing()) as model:
        table, _ = answered(workflow(model, **settings), tmp_path)
    assert table["answer__stop_reason"].to_pylist() == ["answered", "answered", "failed", "failed"]
    assert "4 tool calls for all runs together" in table["answer__error"][3].as_py()
    assert len(server.calls) == 4
    assert table["answer"][0].as_py() == "weight of ball and colour of ball"
    with pytest.raises(KnimeExtError, match="no tool configuration is called 'way'"):
        run_workflow(workflow(model, tool_alias="way"), base_dir=tmp_path)
