"""What an Agent Prompter answers: one row with typed columns; and how it uses tools: by calls or by code."""

from typing import Any

import knime.extension as knext
import pytest
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage

from knime.types.tool import Tool
from knime_ext.nodes.chat_model_port import ChatModelPortObjectSpec
from knime_ext.runtime.knext.contexts import ConfigurationContext
from knime_ext.testing import call
from tests.nodes.agent_bench import Bench, Outcome, mcp_tool, table, tool_table, workflow_tool

ECHO = mcp_tool("echo", text={"type": "string"})

FIELDS = {
    "form": "FIELDS",
    "fields": [
        {"name": "customer", "type": "STRING", "description": "Who it is", "may_be_missing": False},
        {"name": "total", "type": "NUMBER", "description": "", "may_be_missing": False},
        {"name": "orders", "type": "INTEGER", "description": "", "may_be_missing": True},
        {"name": "late", "type": "BOOLEAN", "description": "", "may_be_missing": True},
        {"name": "products", "type": "STRINGS", "description": "", "may_be_missing": True},
    ],
}
GOOD = '{"customer": "Ada", "total": 12.5, "orders": 3, "late": false, "products": ["a", "b"]}'
FACTS = ["Stop reason", "Turns", "Tool calls", "Tokens", "Time (seconds)", "Error"]


def echo(tool: Tool, parameters: dict[str, Any], inputs: list[Any]) -> str:
    return f"{tool.name}: {parameters['text']}"


def row(outcome: Outcome) -> dict[str, Any]:
    [only] = outcome.answer.to_pyarrow().drop_columns(["<RowID>"]).to_pylist()
    return only


def test_the_answer_is_one_row_with_what_the_run_has_taken() -> None:
    outcome = Bench(replies=[call("echo", {"text": "hi"}), "It said hi."], tools=[ECHO], run=echo).ask()
    assert outcome.answer.column_names == ["Answer", *FACTS]
    answer = row(outcome)
    assert (answer["Answer"], answer["Stop reason"], answer["Turns"], answer["Tool calls"]) == (
        "It said hi.",
        "answered",
        1,
        1,
    )
    assert answer["Time (seconds)"] >= 0
    assert answer["Error"] is None


def test_fields_become_columns_with_their_types() -> None:
    outcome = Bench(replies=[f"Here it is:\n```json\n{GOOD}\n```"], settings={"answer": FIELDS}).ask()
    assert outcome.answer.column_names == ["Answer", "customer", "total", "orders", "late", "products", *FACTS]
    answer = row(outcome)
    assert [answer[name] for name in ("customer", "total", "orders", "late", "products")] == [
        "Ada",
        12.5,
        3,
        False,
        ["a", "b"],
    ]
    types = {column.name: column.ktype for column in outcome.answer.schema}
    assert types["total"] == knext.double()
    assert types["orders"] == knext.int64()
    assert types["products"] == knext.list_(knext.string())
    told = outcome.port.model.received[0][0]
    assert isinstance(told, SystemMessage)
    assert "Who it is" in str(told.content)


def test_an_answer_that_does_not_fit_goes_back_with_the_reason() -> None:
    replies = ["Twelve.", '{"customer": "Ada", "total": "much"}', GOOD.replace("12.5", "7")]
    outcome = Bench(replies=replies, settings={"answer": FIELDS}).ask()
    assert row(outcome)["total"] == 7
    second, third = (str(messages[-1].content) for messages in outcome.port.model.received[1:])
    assert "no JSON object" in second
    assert "total" in third


def test_a_model_that_never_answers_in_the_form_fails_the_node_or_fills_the_error_column() -> None:
    settings: dict[str, Any] = {"answer": {**FIELDS, "attempts": 2}}
    with pytest.raises(knext.InvalidParametersError, match="JSON"):
        Bench(replies=["No.", "Never."], settings=settings).ask()
    settings["errors"] = {"error_handling": "COLUMN"}
    answer = row(Bench(replies=["No.", "Never."], settings=settings).ask())
    assert (answer["Answer"], answer["customer"], answer["total"]) == (None, None, None)
    assert "JSON" in answer["Error"]


def test_a_json_schema_gives_the_columns_and_own_names_win() -> None:
    schema = '{"type": "object", "properties": {"Answer": {"type": "integer"}, "Turns": {"type": "string"}}}'
    settings = {"answer": {"form": "SCHEMA", "json_schema": schema}}
    outcome = Bench(replies=['{"Answer": 42, "Turns": "left"}'], settings=settings).ask()
    names = outcome.answer.column_names
    assert names[:4] == ["Answer (#1)", "Answer", "Turns", "Stop reason"]
    assert "Turns (#1)" in names
    assert (row(outcome)["Answer"], row(outcome)["Turns"], row(outcome)["Turns (#1)"]) == (42, "left", 0)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"form": "FIELDS"}, "has no fields; add one"),
        ({"form": "SCHEMA", "json_schema": "{"}, "the JSON Schema of the answer is no JSON"),
        ({"form": "SCHEMA", "json_schema": "[]"}, "describe one of type 'object'"),
        ({"form": "SCHEMA", "json_schema": '{"type": "string"}'}, "'properties', which become columns"),
    ],
)
def test_a_form_that_cannot_be_used_is_told_before_anything_runs(answer: dict[str, Any], sentence: str) -> None:
    node = Bench(replies=[], settings={"answer": answer}).node()
    context = ConfigurationContext(None, {}, [1, 1, 1, 0], [1, 0, 1])
    with pytest.raises(knext.InvalidParametersError, match=sentence):
        node.configure(context, ChatModelPortObjectSpec(provider="offline"), tool_table([]).schema, None, [])


CODE = {"mode": "CODE"}


def code(text: str, identifier: str = "1") -> AIMessage:
    return call("run_python", {"code": text}, id=identifier)


def test_in_code_mode_a_loop_over_a_hundred_calls_is_one_iteration() -> None:
    loop = "said = [echo(text=str(number)) for number in range(100)]\nprint(len(said), said[-1])"
    bench = Bench(replies=[code(loop), "Done."], tools=[ECHO], run=echo, settings={**CODE, "recursion_limit": 1})
    outcome = bench.ask()
    assert outcome.port.model.bound[0] == ["run_python"]
    assert len(outcome.context.calls) == 100
    assert "100 echo: 99" in outcome.texts[2]
    assert (row(outcome)["Turns"], row(outcome)["Answer"]) == (1, "Done.")
    system = outcome.port.model.received[0][0]
    assert "def echo(" in str(system.content)


def test_code_reads_long_results_whole_and_the_model_only_what_is_printed() -> None:
    replies = [code("text = echo(text='x')\nprint(len(text), text[-3:])\ntext"), "Done."]
    settings = {**CODE, "limits": {"result_chars": 1000}}
    outcome = Bench(replies=replies, tools=[ECHO], run=lambda *_: "y" * 200_000 + "end", settings=settings).ask()
    assert "200003 end" in outcome.texts[2]
    assert len(outcome.texts[2]) < 1_500


def test_approval_and_limits_hold_for_calls_that_code_makes() -> None:
    delete = mcp_tool("delete", text={"type": "string"})
    attempt = "try:\n    delete(text='x')\nexcept Exception as error:\n    print('refused:', error)\necho(text='a')"
    settings = {**CODE, "approval": {"mode": "RULES", "allow": "echo", "ask": "delete"}}
    outcome = Bench(replies=[code(attempt), "Done."], tools=[ECHO, delete], run=echo, settings=settings).ask()
    assert outcome.context.calls == [("echo", {"text": "a"})]
    assert "nobody can be asked here" in outcome.texts[2]

    loop = "for number in range(5):\n    echo(text=str(number))"
    settings = {**CODE, "limits": {"calls": 3}, "recursion_limit_handling": "REFUSE"}
    outcome = Bench(replies=[code(loop), "Enough."], tools=[ECHO], run=echo, settings=settings).ask()
    assert len(outcome.context.calls) <= 3
    assert outcome.texts[-1] == "Enough."


def test_code_hands_tables_from_tool_to_tool() -> None:
    def double(tool: Tool, parameters: dict[str, Any], inputs: list[Any]) -> Any:
        return "doubled", [table(x=[each * 2 for each in inputs[0].to_pyarrow().column("x").to_pylist()])]

    outcome = Bench(
        replies=[code("print(double(data_inputs={'rows': 0}))"), "Done."],
        tools=[workflow_tool()],
        run=double,
        data=[table(x=[1, 2])],
        settings=CODE,
    ).ask()
    [newest] = outcome.data
    assert newest.to_pyarrow().column("x").to_pylist() == [2, 4]


def test_many_tools_are_searched_for_where_their_definitions_would_take_too_much() -> None:
    tools = [mcp_tool(f"tool_{number}", text={"type": "string"}) for number in range(50)]

    def search(messages: list[BaseMessage]) -> AIMessage:
        return call("search_tools", {"query": "tool_7"})

    settings = {"limits": {"tool_tokens": 300}}
    outcome = Bench(replies=[search, "Found."], tools=tools, run=echo, settings=settings).ask()
    assert outcome.port.model.bound[0] == ["search_tools"]
    assert "tool_7" in outcome.port.model.bound[1]
