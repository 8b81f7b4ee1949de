"""The Agent Prompter: cells in, agent, cells out."""

from typing import Any

import knime.extension as knext
import pyarrow as pa
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from knime.types.message import MessageType, MessageValue
from knime.types.tool import Tool
from knime_ext.nodes.cells import conversation_table, messages_in, tool_table
from knime_ext.nodes.chat_model_port import ChatModelPortObjectSpec
from knime_ext.runtime.knext.contexts import ConfigurationContext, NodeHost
from knime_ext.testing import call
from tests.nodes.agent_bench import Bench, mcp_tool, table, workflow_tool

ECHO = mcp_tool("echo", text={"type": "string"})


def echo(tool: Tool, parameters: dict[str, Any], inputs: list[Any]) -> str:
    return f"{tool.name}: {parameters['text']}"


def said(message: MessageValue | None) -> tuple[str, str]:
    assert message is not None
    return message.message_type.value, message.text


def test_the_conversation_has_a_row_per_message_and_no_developer_message() -> None:
    bench = Bench(replies=[call("echo", {"text": "hi"}), "It said hi."], tools=[ECHO], run=echo)
    outcome = bench.ask()
    assert [said(message) for message in outcome.messages] == [
        ("USER", "What is up?"),
        ("AI", ""),
        ("TOOL", "echo: hi"),
        ("AI", "It said hi."),
    ]
    asked = outcome.messages[1]
    assert asked is not None and asked.tool_calls is not None
    assert [(each.tool_name, each.arguments) for each in asked.tool_calls] == [("echo", {"text": "hi"})]
    assert outcome.conversation.column_names == ["Conversation"]
    assert isinstance(outcome.port.model.received[0][0], SystemMessage)


def test_the_view_is_a_page_of_the_conversation() -> None:
    page = Bench(replies=["Nothing <b>much</b>."]).ask().page
    assert "What is up?" in page
    assert "Nothing &lt;b&gt;much" in page
    assert "<b>much" not in page


def test_tools_of_both_kinds_in_one_column_reach_their_place() -> None:
    def run(tool: Tool, parameters: dict[str, Any], inputs: list[Any]) -> Any:
        return ("doubled", [table(x=[2, 4])]) if tool.name == "double" else "echoed"

    bench = Bench(
        replies=[call("double", {"data_inputs": {"rows": 0}}), call("echo", {"text": "x"}), "Done."],
        tools=[workflow_tool(), None, ECHO],
        run=run,
        data=[table(x=[1, 2])],
    )
    outcome = bench.ask()
    assert outcome.context.calls == [("double", {}), ("echo", {"text": "x"})]
    assert outcome.data[0].to_pyarrow().column("x").to_pylist() == [2, 4]


def test_equal_names_and_names_that_models_refuse_are_shown_as_people_know_them() -> None:
    replies = [call("Say_hello_", {"text": "a"}, id="1"), call("Say_hello__2", {"text": "b"}, id="2"), "Done."]
    twins = [mcp_tool("Say hello!", text={"type": "string"}), mcp_tool("Say hello!", text={"type": "string"})]
    outcome = Bench(replies=replies, tools=twins, run=echo).ask()
    assert outcome.port.model.bound[0] == ["Say_hello_", "Say_hello__2"]
    assert outcome.context.calls == [("Say hello!", {"text": "a"}), ("Say hello!", {"text": "b"})]
    asked = outcome.messages[1]
    assert asked is not None and asked.tool_calls is not None
    assert asked.tool_calls[0].tool_name == "Say hello!"


def test_a_failing_tool_is_told_to_the_model() -> None:
    def run(tool: Tool, parameters: dict[str, Any], inputs: list[Any]) -> str:
        raise RuntimeError("the disk is full")

    outcome = Bench(replies=[call("echo", {"text": "x"}), "It failed."], tools=[ECHO], run=run).ask()
    assert outcome.texts[-1] == "It failed."
    assert "the disk is full" in outcome.texts[2]


def test_data_outputs_are_the_last_tables_filled_up_with_empty_ones() -> None:
    def run(tool: Tool, parameters: dict[str, Any], inputs: list[Any]) -> Any:
        return "doubled", [table(x=[each * 2 for each in inputs[0].to_pyarrow().column("x").to_pylist()])]

    bench = Bench(
        replies=[call("double", {"data_inputs": {"rows": 0}}), "Done."],
        tools=[workflow_tool()],
        run=run,
        data=[table(x=[1, 2])],
        data_outputs=3,
    )
    first, second, third = bench.ask().data
    assert first.to_pyarrow().column("x").to_pylist() == [1, 2]
    assert second.to_pyarrow().column("x").to_pylist() == [2, 4]
    assert (third.num_rows, third.num_columns) == (0, 0)
    bench.data_outputs = 1
    [newest] = bench.ask().data
    assert newest.to_pyarrow().column("x").to_pylist() == [2, 4]
    bench.data_outputs = 0
    assert bench.ask().data == []


def test_the_model_is_told_columns_of_the_tables_but_never_rows() -> None:
    bench = Bench(
        replies=["Ok."],
        tools=[workflow_tool()],
        data=[table(customer=["a secret name"], amount=[3])],
        settings={"data_message_prefix": "All of it is from 2025."},
    )
    received = bench.ask().port.model.received[0]
    shown = "\n".join(str(message.content) for message in received)
    assert "customer" in shown
    assert "amount" in shown
    assert "All of it is from 2025." in shown
    assert "a secret name" not in shown


def conversation(*messages: MessageValue | None, errors: list[str | None] | None = None) -> knext.Table:
    return conversation_table(list(messages), "Talk", None if errors is None else ("Problems", errors))


def first_talk() -> knext.Table:
    outcome = Bench(replies=[call("echo", {"text": "hi"}), "Hi."], tools=[ECHO], run=echo).ask()
    return outcome.conversation


def test_a_history_comes_first_in_the_model_and_in_the_output() -> None:
    outcome = Bench(
        replies=["Still up."], tools=[ECHO], history=first_talk(), settings={"user_message": "And now?"}
    ).ask()
    assert outcome.texts == ["What is up?", "", "echo: hi", "Hi.", "And now?", "Still up."]
    assert [type(message).__name__ for message in outcome.port.model.received[0]] == [
        "SystemMessage",
        "HumanMessage",
        "AIMessage",
        "ToolMessage",
        "AIMessage",
        "HumanMessage",
    ]


def test_the_question_may_stand_at_the_end_of_the_history() -> None:
    history = conversation(*messages_in(first_talk(), "Conversation")[:1])
    outcome = Bench(replies=["All is well."], history=history, settings={"user_message": ""}).ask()
    assert outcome.texts == ["What is up?", "All is well."]


def test_without_any_question_the_node_says_so() -> None:
    with pytest.raises(knext.InvalidParametersError, match="The user message is empty"):
        Bench(replies=[], settings={"user_message": " "}).ask()
    with pytest.raises(knext.InvalidParametersError, match="The user message is empty"):
        Bench(replies=[], history=first_talk(), settings={"user_message": " "}).ask()


def always_calling(messages: list[BaseMessage]) -> AIMessage:
    return call("echo", {"text": "again"}, id=f"call_{len(messages)}")


def test_the_iteration_limit_fails_the_node() -> None:
    bench = Bench(replies=[always_calling] * 3, tools=[ECHO], run=echo, settings={"recursion_limit": 2})
    with pytest.raises(knext.InvalidParametersError, match="2 turns with tools is used up"):
        bench.ask()


def test_the_iteration_limit_can_end_with_a_final_response() -> None:
    settings = {
        "recursion_limit": 2,
        "recursion_limit_handling": "FINAL_RESPONSE",
        "recursion_limit_prompt": "Come to an end.",
    }
    outcome = Bench(replies=[*[always_calling] * 3, "Fine."], tools=[ECHO], run=echo, settings=settings).ask()
    assert outcome.texts[-2:] == ["Come to an end.", "Fine."]
    assert outcome.port.model.bound[-1] == []


COLUMN = {"errors": {"error_handling": "COLUMN"}, "recursion_limit": 1}


def test_an_error_can_go_to_a_column_with_the_conversation_so_far() -> None:
    outcome = Bench(replies=[always_calling] * 2, tools=[ECHO], run=echo, settings=COLUMN).ask()
    assert outcome.conversation.column_names == ["Conversation", "Errors"]
    errors = outcome.conversation.to_pyarrow().column("Errors").to_pylist()
    assert errors[:-1] == [None] * (len(errors) - 1)
    assert "1 turn with tools is used up" in errors[-1]
    assert outcome.messages[-1] is None
    assert said(outcome.messages[0]) == ("USER", "What is up?")


def test_without_an_error_the_column_is_there_and_empty() -> None:
    outcome = Bench(replies=["Fine."], settings=COLUMN).ask()
    assert outcome.conversation.to_pyarrow().column("Errors").to_pylist() == [None, None]


def test_the_error_column_of_a_history_is_continued() -> None:
    [question, *_] = messages_in(first_talk(), "Conversation")
    history = conversation(question, None, errors=[None, "It broke."])
    settings = {"errors": {"error_handling": "COLUMN", "use_existing_error_column": True}}
    outcome = Bench(replies=["Now it works."], history=history, settings=settings).ask()
    assert outcome.conversation.column_names == ["Talk", "Problems"]
    assert outcome.conversation.to_pyarrow().column("Problems").to_pylist() == [
        "It broke." if i == 1 else None for i in range(4)
    ]
    assert [None if message is None else message.text for message in outcome.messages] == [
        "What is up?",
        None,
        "What is up?",
        "Now it works.",
    ]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"tool_column": "Gone"}, "Column 'Gone' of the tools table does not exist; select another one in the dialog."),
        ({"conversation_column_name": " "}, "The conversation column has no name; enter one in the dialog."),
        (
            {"conversation_column_name": "Errors", "errors": {"error_handling": "COLUMN"}},
            "The conversation column and the error column are both named 'Errors'; rename one of them.",
        ),
    ],
)
def test_settings_that_do_not_fit_are_told_before_anything_runs(settings: dict[str, Any], sentence: str) -> None:
    node = Bench(replies=[], settings=settings).node()
    context = ConfigurationContext(None, {}, [1, 1, 1, 0], [1, 0])
    with pytest.raises(knext.InvalidParametersError) as caught:
        node.configure(context, ChatModelPortObjectSpec(provider="offline"), tool_table([]).schema, None, [])
    assert str(caught.value) == sentence


def test_a_damaged_tool_cell_names_column_row_field_and_reason() -> None:
    good = tool_table([ECHO, ECHO, ECHO]).to_pyarrow()
    kind: Any = good.schema.field("Tool").type
    cells = [dict(cell) for cell in good.column("Tool").chunk(0).storage.to_pylist()]
    cells[1]["3"] = "{broken"
    cells[2]["0"] = 7
    damaged = pa.ExtensionArray.from_storage(kind, pa.array(cells, kind.storage_type))
    with pytest.raises(knext.InvalidParametersError) as caught:
        Bench(replies=[], tools_table=knext.Table.from_pyarrow(pa.table({"Tool": damaged}))).ask()
    text = str(caught.value)
    assert text.startswith(
        "Column 'Tool' of the tools table is damaged in row 1, field 'parameter_schema': is not JSON"
    )
    assert text.endswith("(1 more cell is damaged too); make the tools again.")


def test_a_canceled_run_fails_also_where_errors_go_to_a_column() -> None:
    bench = Bench(replies=["Fine."], settings=COLUMN, host=NodeHost(is_canceled=lambda: True))
    with pytest.raises(knext.InvalidParametersError, match="cancelled"):
        bench.ask()


def test_simple_types_only_hides_structured_arguments() -> None:
    tool = mcp_tool("plan", steps={"type": "array", "items": {"type": "string"}}, name={"type": "string"})
    outcome = Bench(replies=["Ok."], tools=[tool], settings={"simple_types_only": True}).ask()
    [offered] = outcome.port.model.bound_tools
    assert offered["function"]["parameters"]["properties"]["name"]["type"] == "string"
    assert "array" not in str(offered)


@pytest.mark.parametrize(("debug", "mode"), [(False, "DEFAULT"), (True, "DEBUG")])
def test_debug_mode_reaches_the_host_as_a_hint(debug: bool, mode: str) -> None:
    outcome = Bench(
        replies=[call("double", {"data_inputs": {"rows": 0}}), "Done."],
        tools=[workflow_tool(outputs=[])],
        run=lambda *_: ("done", []),
        data=[table(x=[1])],
        settings={"debug": debug},
    ).ask()
    assert outcome.context.hints["execution-mode"] == mode


def test_an_empty_table_of_tools_asks_the_model_alone() -> None:
    outcome = Bench(replies=["Just so."]).ask()
    assert [said(each) for each in outcome.messages] == [("USER", "What is up?"), ("AI", "Just so.")]
    assert outcome.port.model.bound == [[]]


def test_the_human_question_is_the_last_thing_the_model_reads() -> None:
    outcome = Bench(replies=["Ok."], data=[table(x=[1])]).ask()
    last = outcome.port.model.received[0][-1]
    assert isinstance(last, HumanMessage)
    assert last.content == "What is up?"
    assert MessageType.USER in {message.message_type for message in outcome.messages if message}
