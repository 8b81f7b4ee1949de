from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from knime_ext.agent import Trace
from knime_ext.agent.page.answer_table import answer_rows
from knime_ext.agent.page.saved import read_runs, rows_of_traces
from knime_ext.errors import ConfigurationError
from tests.agent.test_batch_page import trace

TRACE_TYPE = pa.list_(
    pa.struct(
        [
            ("role", pa.string()),
            ("content", pa.string()),
            ("tool_calls", pa.list_(pa.struct([(name, pa.string()) for name in ("id", "name", "arguments")]))),
            ("tool_call_id", pa.string()),
            ("reasoning_content", pa.string()),
        ]
    )
)
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be careful."},
    {"role": "user", "content": "Who?"},
    {
        "role": "assistant",
        "content": "",
        "reasoning_content": "Let me see.",
        "tool_calls": [{"id": "1", "name": "orders", "arguments": '{"country": "DE"}'}],
    },
    {"role": "tool", "content": "8 orders", "tool_call_id": "1"},
    {"role": "assistant", "content": "Ada."},
]


def saved(folder: Path, value: Any, name: str = "run.json") -> Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def one(path: Path) -> Trace:
    run = read_runs(path)
    assert isinstance(run, Trace)
    return run


def many(path: Path) -> list[Trace]:
    runs = read_runs(path)
    assert isinstance(runs, list)
    return runs


def table_of(rows: int, names: tuple[str, ...] = ("answer",), *, row_ids: bool = False) -> pa.Table:
    columns: dict[str, pa.Array] = {"<RowID>": pa.array([f"Order {n}" for n in range(rows)])} if row_ids else {}
    columns["tool"] = pa.array([b"x"] * rows)
    for name in names:
        columns[name] = pa.array([None if n == 1 else f"Answer {n}" for n in range(rows)], pa.string())
        columns[f"{name}__trace"] = pa.array([None if n == 1 else MESSAGES for n in range(rows)], TRACE_TYPE)
        columns[f"{name}__stop_reason"] = pa.array(["failed" if n == 1 else "answered" for n in range(rows)])
        columns[f"{name}__turns"] = pa.array([1] * rows, pa.int32())
        columns[f"{name}__tokens"] = pa.array([100 * n for n in range(rows)], pa.int64())
        columns[f"{name}__seconds"] = pa.array([0.5] * rows)
        columns[f"{name}__error"] = pa.array(["no answer" if n == 1 else None for n in range(rows)], pa.string())
    return pa.table(columns)


def test_a_trace_comes_back_as_it_was(tmp_path: Path) -> None:
    written = trace("Who?")
    assert one(saved(tmp_path, written.to_dict())).to_dict() == written.to_dict()


def test_messages_of_a_chat_api_are_a_run_too(tmp_path: Path) -> None:
    openai = json.loads(json.dumps(MESSAGES))
    openai[2]["tool_calls"] = [
        {"id": "1", "type": "function", "function": {"name": "orders", "arguments": '{"country": "DE"}'}}
    ]
    openai[1]["content"] = [{"type": "text", "text": "Who?"}, {"type": "image_url", "image_url": {"url": "x"}}]
    for value in (MESSAGES, openai, {"messages": openai}):
        run = one(saved(tmp_path, value))
        assert [(message.role, message.turn) for message in run.messages] == [
            ("system", 0),
            ("user", 0),
            ("assistant", 1),
            ("tool", 1),
            ("assistant", 2),
        ]
        assert run.question.startswith("Who?")
        assert (run.turns, run.tool_calls, run.stop_reason) == (1, 1, "answered")
        assert run.messages[2].tool_calls[0].arguments == {"country": "DE"}
        assert run.messages[2].reasoning == "Let me see."
        assert run.messages[3].tool == "orders"


def test_several_traces_are_the_rows_of_a_page(tmp_path: Path) -> None:
    traces = [trace("A?", "one").to_dict(), trace("B?", "two").to_dict()]
    lines = "\n".join(map(json.dumps, traces)) + "\n"
    for path in (saved(tmp_path, traces), saved(tmp_path, lines, "runs.jsonl")):
        rows = list(rows_of_traces(many(path)))
        assert [(row.label, row.prompt, row.answer, row.tokens) for row in rows] == [
            ("Run 1", "A?", "one", 100),
            ("Run 2", "B?", "two", 100),
        ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ("[]", "is empty"),
        ("no json", "no JSON"),
        ("5", "holds no trace"),
        ('{"format": 1}', "model: Field required"),
        ('{"messages": 3}', "holds no trace"),
        ('[{"role": "x", "content": ""}]', "messages.0.role"),
        ('[{"role": "user", "content": [{"a": 1}]}]', "holds no trace"),
        ('[{"format": 1, "messages": []}]', "run 1"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_what_is_no_trace_is_one_sentence(text: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        read_runs(saved(tmp_path, text))


@pytest.mark.parametrize("kind", ["file", "stream", "parquet"])
def test_a_table_of_answers_is_read_with_its_conversations(kind: str, tmp_path: Path) -> None:
    path, table = tmp_path / "answers", table_of(200, row_ids=True)
    if kind == "parquet":
        parquet.write_table(table, path)
    else:
        make = ipc.new_file if kind == "file" else ipc.new_stream
        with make(path, table.schema) as writer:
            writer.write_table(table)
    rows = list(answer_rows(path))
    assert len(rows) == 200
    assert [(row.label, row.answer, row.stop_reason, row.tokens, row.error) for row in rows[:3]] == [
        ("Order 0", "Answer 0", "answered", 0, None),
        ("Order 1", "", "failed", 100, "no answer"),
        ("Order 2", "Answer 2", "answered", 200, None),
    ]
    assert rows[1].trace is None
    assert isinstance(rows[2].trace, Trace)
    assert (rows[2].prompt, rows[2].tool_calls, rows[2].trace.seconds) == ("Who?", 1, 0.5)


def test_one_of_several_answers_has_to_be_named(tmp_path: Path) -> None:
    parquet.write_table(table_of(2, ("first", "second")), tmp_path / "two")
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "none")
    (tmp_path / "text").write_text("a,b\n1,2\n", encoding="utf-8")
    assert [row.label for row in answer_rows(tmp_path / "two", "second")] == ["Row 1", "Row 2"]
    for name, answer, problem in (
        ("two", None, "name one of 'first', 'second' with --answer"),
        ("two", "third", "no conversation of 'third'"),
        ("none", None, "let the batch save traces"),
        ("text", None, "cannot read"),
        ("missing", None, "cannot read"),
    ):
        with pytest.raises(ConfigurationError, match=problem):
            list(answer_rows(tmp_path / name, answer))
