"""A table of prompts: one run per row, answers behind the columns of the table."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, tool

from knime.types.tool import MCPTool, Tool, WorkflowTool
from knime_ext.agent import Allowance, Budget
from knime_ext.agent.batch.journal import Journal
from knime_ext.agent.batch.output_fields import TRACE_TYPE, OutputFields
from knime_ext.agent.batch.prompting import BatchPrompter
from knime_ext.agent.batch.row_scope import RowData, row_tools
from knime_ext.agent.batch.row_source import RowSource
from knime_ext.errors import ConfigurationError, OtherRun, RowFailed, RowsCancelled
from knime_ext.testing import ScriptedChatModel, call
from knime_ext.tools import ToolResult

PRODUCTS = pa.table({"product": ["Filter", "Grinder", None, "Kettle"], "The price": [12.5, 80.0, 3.0, 0.0]})


@tool
def stock_of(product: str) -> str:
    """How many of a product are there."""
    return f"{len(product)} of {product}"


class Answering(ScriptedChatModel):
    """Asks for the stock of the product in the prompt, then answers with it; may answer at any time, in any order."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.replies.append(self.answer(messages))
        return super()._generate(messages, *args, **kwargs)

    def answer(self, messages: list[BaseMessage]) -> AIMessage | str:
        texts = [str(message.content) for message in messages]  # pyright: ignore[reportUnknownMemberType]
        if messages[-1].type == "tool":
            return f"There are {texts[-1]}."
        if "Kettle" in texts[-1]:
            raise ConnectionError("no kettles, please")
        return call("stock_of", {"product": texts[-1].rpartition(" ")[2]})


def prompter(**changes: Any) -> BatchPrompter:
    from knime_ext.agent.batch.pacing import Pacing
    from knime_ext.agent.batch.retries import Retries

    options: dict[str, Any] = {"prompt": "Stock of {{ product }}", "pacing": Pacing(retries=Retries(attempts=1))}
    tools: list[BaseTool] = changes.pop("tools", [stock_of])
    return BatchPrompter(changes.pop("model", None) or Answering(replies=[]), tools, **options | changes)


def prompted(batch: BatchPrompter, table: pa.Table, path: Path, **options: Any) -> pa.Table:
    source = RowSource.of_table(table)
    with Journal.open(path, fingerprint=batch.fingerprint(source)) as journal:
        asyncio.run(batch.run(source.head(options.pop("rows", None)), journal, **options))
        return pa.Table.from_batches(batch.answered(source, journal))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def test_answers_stand_behind_the_columns_of_the_table(path: Path) -> None:
    answered = prompted(prompter(), PRODUCTS, path)
    assert answered.select(PRODUCTS.column_names).equals(PRODUCTS)
    rows = answered.drop_columns([*PRODUCTS.column_names, "answer__trace", "answer__seconds"]).to_pylist()
    good = {"answer__stop_reason": "answered", "answer__turns": 1, "answer__tool_calls": 1, "answer__tokens": 0}
    assert rows[:2] == [
        {"answer": "There are 6 of Filter.", **good, "answer__error": None},
        {"answer": "There are 7 of Grinder.", **good, "answer__error": None},
    ]
    assert rows[3]["answer"] is None
    assert rows[3]["answer__stop_reason"] == "failed"
    assert "cannot be reached" in rows[3]["answer__error"]


def test_the_conversation_of_a_row_is_a_list_of_structs(path: Path) -> None:
    answered = prompted(prompter(system_message="Sell {{ product }}."), PRODUCTS.slice(0, 2), path)
    assert answered.schema.field("answer__trace").type == TRACE_TYPE
    system, user, asking, result, last = answered["answer__trace"][1].as_py()
    assert system["role"] == "system"
    assert system["content"].startswith("Sell Grinder.")
    nothing = {"tool_calls": None, "tool_call_id": None, "reasoning_content": None}
    assert user == {"role": "user", "content": "Stock of Grinder"} | nothing
    wanted = [{"id": "call_stock_of", "name": "stock_of", "arguments": '{"product": "Grinder"}'}]
    assert asking == {"role": "assistant", "content": ""} | nothing | {"tool_calls": wanted}
    assert result == {"role": "tool", "content": "7 of Grinder"} | nothing | {"tool_call_id": "call_stock_of"}
    assert last == {"role": "assistant", "content": "There are 7 of Grinder."} | nothing


def test_traces_can_be_left_out_and_columns_be_named(path: Path) -> None:
    answered = prompted(prompter(output=OutputFields(answer="reply", traces=False)), PRODUCTS.slice(0, 1), path)
    assert answered.column_names[2:] == [
        "reply",
        *(f"reply__{name}" for name in ("stop_reason", "turns", "tool_calls", "tokens", "seconds", "error")),
    ]
    with pytest.raises(ConfigurationError, match="would be two columns 'The price'; choose another name"):
        prompter(output=OutputFields(answer="The price")).fields(PRODUCTS.column_names)


def test_a_missing_column_is_an_error_before_anything_is_asked() -> None:
    batch = prompter(prompt="{{ row['The prize'] }} {{ product }}")
    with pytest.raises(ConfigurationError, match="'The prize'.*did you mean 'The price'"):
        batch.columns(PRODUCTS.column_names)
    with pytest.raises(ConfigurationError, match="system message uses the column 'tone'"):
        prompter(system_message="Be {{ tone }}").columns(PRODUCTS.column_names)
    with pytest.raises(ConfigurationError, match="prompt is empty"):
        prompter(prompt=" ")


def test_a_row_that_the_template_does_not_fit_is_one_error_among_answers(path: Path) -> None:
    batch = prompter(prompt="{{ 100 / row['The price'] }} {{ product }}")
    errors = prompted(batch, PRODUCTS, path)["answer__error"].to_pylist()
    assert errors[:3] == [None, None, None]
    assert errors[3] == "the template of the prompt cannot be filled in: float division by zero."


def test_an_interrupted_table_goes_on_where_it_stopped(path: Path) -> None:
    model = Answering(replies=[])
    whole = prompted(prompter(), PRODUCTS, path.with_name("other"))
    source = RowSource.of_table(PRODUCTS)
    batch = prompter(model=model)
    with Journal.open(path, fingerprint=batch.fingerprint(source)) as journal:
        asyncio.run(batch.run(source.head(2), journal))
        assert journal.finished() == {0, 1}
        with pytest.raises(ConfigurationError, match="row 3 is not in the journal"):
            list(batch.answered(source, journal))
    asked = len(model.received)
    resumed = prompted(batch, PRODUCTS, path)
    assert resumed.drop_columns("answer__seconds").equals(whole.drop_columns("answer__seconds"))
    assert len(model.received) - asked == 2  # the third row: a question and an answer; the fourth fails before
    with pytest.raises(OtherRun):
        prompted(prompter(prompt="{{ product }}?"), PRODUCTS, path)
    with pytest.raises(OtherRun):
        prompted(batch, PRODUCTS.slice(1), path)


def test_failed_rows_stay_failed_unless_they_are_to_be_tried_again(path: Path) -> None:
    class Recovered(Answering):
        def answer(self, messages: list[BaseMessage]) -> AIMessage | str:
            return "all right"

    first = prompted(prompter(), PRODUCTS, path)
    model = Recovered(replies=[])
    same = prompter(model=model)
    source = RowSource.of_table(PRODUCTS)
    known = prompter().fingerprint(source)
    with Journal.open(path, fingerprint=known) as journal:
        asyncio.run(same.run(source, journal))
        assert model.received == []
        asyncio.run(same.run(source, journal, retry_failed=True))
        answers = pa.Table.from_batches(same.answered(source, journal))["answer"].to_pylist()
    assert answers == [*first["answer"].to_pylist()[:3], "all right"]


def test_the_first_failure_stops_the_table_if_asked(path: Path) -> None:
    with pytest.raises(RowFailed, match="row 4 failed: the chat model .* cannot be reached"):
        prompted(prompter(), PRODUCTS, path, stop_at_first_error=True, concurrency=1)


def test_cancelling_stops_model_and_tools_at_once(path: Path) -> None:
    cancel, started = threading.Event(), threading.Semaphore(0)

    @tool
    async def slow(product: str) -> str:
        """Never comes back."""
        started.release()
        cancel.set()
        await asyncio.sleep(60)
        return product

    def ask(messages: list[BaseMessage]) -> AIMessage:
        return call("slow", {"product": "x"})

    batch = prompter(model=ScriptedChatModel(replies=[ask, ask]), tools=[slow])
    with pytest.raises(RowsCancelled):
        prompted(batch, PRODUCTS.slice(0, 2), path, cancel=cancel)
    assert started.acquire(timeout=1)


def test_all_rows_share_one_allowance_also_after_a_resumption(path: Path) -> None:
    source = RowSource.of_table(pa.table({"product": ["a", "b", "c", "d"]}))
    batch = prompter(allowance=Allowance(calls=3), budget=Budget(turns=3), when_exhausted="fail")
    with Journal.open(path, fingerprint=batch.fingerprint(source)) as journal:
        asyncio.run(batch.run(source.head(2), journal, concurrency=1))
        resumed = prompter(allowance=Allowance(calls=3), budget=Budget(turns=3), when_exhausted="fail")
        asyncio.run(resumed.run(source, journal, concurrency=1))
        errors = pa.Table.from_batches(resumed.answered(source, journal))["answer__error"].to_pylist()
    assert errors[:3] == [None, None, None]
    assert "3 tool calls for all runs together" in errors[3]


class LongResults:
    """A host whose tool gives as many characters as it is asked for."""

    async def _acall_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> ToolResult:
        await asyncio.sleep(0)
        return ToolResult.of_text("x" * parameters["size"])

    def _execute_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> str:
        raise NotImplementedError

    def _execute_tool(
        self, tool: WorkflowTool, parameters: dict[str, Any], inputs: list[Any], execution_hints: dict[str, str]
    ) -> tuple[str, list[Any], list[str]]:
        raise NotImplementedError


def test_rows_share_their_tools_but_nothing_that_tools_keep(path: Path) -> None:
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
    rows: list[Tool] = [MCPTool("fetch", "Gets a text.", schema, "http://127.0.0.1:1/mcp", "fetch")]
    data = RowData()
    tools = row_tools(rows, LongResults(), data=data)
    offered: dict[str, list[list[str]]] = {}

    class Fetching(ScriptedChatModel):
        def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
            names = [each["function"]["name"] for each in kwargs["tools"]]
            size = str(messages[1].content)  # pyright: ignore[reportUnknownMemberType]
            offered.setdefault(size, []).append(names)
            self.replies.append("done" if messages[-1].type == "tool" else call("fetch", {"size": int(size)}))
            return super()._generate(messages, *args, **kwargs)

    table = pa.table({"size": [10, 50_000, 20, 60_000]})
    batch = prompter(model=Fetching(replies=[]), tools=tools, prompt="{{ size }}", data=data)
    traces = prompted(batch, table, path)["answer__trace"].to_pylist()
    assert [len(trace[3]["content"]) < 25_000 for trace in traces] == [True] * 4
    assert offered == {
        size: [["fetch"], ["fetch", "read_more"] if int(size) > 20_000 else ["fetch"]]
        for size in ("10", "20", "50000", "60000")
    }


def test_the_same_table_gives_the_same_journal_whatever_the_concurrency(path: Path) -> None:
    table = pa.table({"product": [f"p{number}" for number in range(40)]})

    def without_times(parsed: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in parsed.items() if name not in ("timing", "seconds")}

    def bare(payload: bytes) -> Any:
        return json.loads(payload, object_hook=without_times)

    found: list[Any] = []
    for concurrency in (1, 16):
        batch, source = prompter(), RowSource.of_table(table)
        own = path.with_name(f"journal{concurrency}")
        with Journal.open(own, fingerprint=batch.fingerprint(source)) as journal:
            asyncio.run(batch.run(source, journal, concurrency=concurrency))
            found.append([(number, bare(payload)) for number, payload in journal.rows()])
    assert found[0] == found[1]
