from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import StructuredTool
from pydantic import SecretStr

from knime.types.message import (
    MessageContentPart,
    MessageContentPartType,
    MessageType,
    MessageValue,
    MessageValueFactory,
    ToolCall,
)
from knime.types.tool import MCPTool
from knime_ext.agent import (
    Agent,
    ChatModelConfig,
    ToolNames,
    cells_from_messages,
    create_chat_model,
    messages_from_cells,
    to_langchain_tools,
)
from knime_ext.testing import ScriptedChatModel, call
from tests.agent.openai_server import completion, openai_service
from tests.agent.orders import OrdersHost

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}}

ROWS = [
    MCPTool("Wörter zählen", "", {}, "http://a/"),
    MCPTool("echo", "", {}, "http://a/"),
    MCPTool("echo", "", {}, "http://b/"),
]


def names() -> ToolNames:
    return ToolNames(to_langchain_tools(ROWS, OrdersHost()))


def text(words: str) -> list[MessageContentPart]:
    return [MessageContentPart(MessageContentPartType.TEXT, words.encode())]


def user(words: str) -> MessageValue:
    return MessageValue(MessageType.USER, text(words))


def ai(*calls: ToolCall) -> MessageValue:
    return MessageValue(MessageType.AI, text(""), list(calls) or None)


def tool(identifier: str, name: str) -> MessageValue:
    return MessageValue(MessageType.TOOL, text("result"), tool_call_id=identifier, name=name)


def test_saved_messages_show_tools_as_people_named_them_and_read_back_as_models_call_them() -> None:
    asked = AIMessage(content="", id="msg_1", tool_calls=[{"name": "Worter_zahlen", "args": {"n": 1}, "id": "1"}])
    answered = ToolMessage("2", tool_call_id="1", name="Worter_zahlen")
    cells = cells_from_messages([SystemMessage("s"), HumanMessage("go"), asked, answered], names())
    assert [cell.message_type.name for cell in cells] == ["USER", "AI", "TOOL"]
    assert cells[1].tool_calls == [ToolCall("Wörter zählen", "1", {"n": 1})]
    assert (cells[1].tool_call_id, cells[2].name) == ("msg_1", "Wörter zählen")
    back = messages_from_cells(cells, names())
    assert [message.type for message in back] == ["human", "ai", "tool"]
    assert isinstance(back[1], AIMessage) and back[1].tool_calls[0]["name"] == "Worter_zahlen"
    assert back[2].name == "Worter_zahlen"


def test_tools_that_share_a_name_stay_apart_in_saved_messages() -> None:
    found = names()
    assert [found.shown(safe) for safe in ("echo", "echo_2")] == ["echo", "echo_2"]
    assert [found.safe(shown) for shown in ("echo", "echo_2")] == ["echo", "echo_2"]


def test_a_tool_that_is_gone_keeps_a_name_that_models_accept() -> None:
    [_, asked, _] = messages_from_cells(
        [user("x"), ai(ToolCall("Ünser Tool!", "1", {})), tool("1", "Ünser Tool!")], names()
    )
    assert isinstance(asked, AIMessage)
    assert asked.tool_calls[0]["name"] == "Unser_Tool_"


def test_a_random_id_of_langchain_is_not_saved_so_that_equal_runs_give_equal_cells() -> None:
    def cells() -> list[MessageValue]:
        tools = to_langchain_tools(ROWS, OrdersHost())
        model = ScriptedChatModel(replies=[call("nope", id="1"), "done"])
        return cells_from_messages(Agent(model, tools).run("go").messages, ToolNames(tools))

    assert cells() == cells()


def test_a_call_that_could_not_be_read_is_saved_with_its_text_and_keeps_its_answer() -> None:
    garbled: Any = {"name": "echo", "args": '{"a', "id": "1", "error": "bad", "type": "invalid_tool_call"}
    answer = ToolMessage("unreadable", tool_call_id="1", name="echo", status="error")
    cells = cells_from_messages([AIMessage(content="", invalid_tool_calls=[garbled]), answer], names())
    assert cells[0].tool_calls == [ToolCall("echo", "1", {"unreadable_arguments": '{"a'})]
    assert [message.type for message in messages_from_cells(cells, names())] == ["ai", "tool"]


def test_missing_cells_are_left_out() -> None:
    assert [message.type for message in messages_from_cells([None, user("hi"), None], names())] == ["human"]


def test_calls_that_nothing_answers_get_an_answer_before_the_conversation_goes_on() -> None:
    cells = [user("a"), ai(ToolCall("echo", "1", {}), ToolCall("echo", "2", {})), tool("1", "echo"), user("b")]
    back = messages_from_cells(cells, names())
    assert [message.type for message in back] == ["human", "ai", "tool", "tool", "human"]
    assert isinstance(back[3], ToolMessage)
    assert (back[3].tool_call_id, back[3].status, back[3].content) == ("2", "error", "no result was recorded.")


def test_answers_that_nothing_asked_for_are_left_out() -> None:
    back = messages_from_cells([tool("9", "echo"), user("b"), tool("9", "echo")], names())
    assert [message.type for message in back] == ["human"]


def test_images_survive_the_way_through_a_cell() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    message = HumanMessage(content=[{"type": "text", "text": "look"}, image])
    factory = MessageValueFactory()
    cells = [factory.decode(factory.encode(cell)) for cell in cells_from_messages([message], names())]
    assert [m.content for m in messages_from_cells(cells, names())] == [message.content]


def asking(numbers: list[int]) -> MessageValue:
    return ai(*(ToolCall("echo", f"c{number}", {}) for number in numbers))


def answering(number: int) -> MessageValue:
    return tool(f"c{number}", "echo")


MESSAGES = st.lists(
    st.one_of(
        st.builds(user, st.text()),
        st.builds(asking, st.lists(st.integers(0, 4), max_size=3, unique=True)),
        st.builds(answering, st.integers(0, 4)),
        st.none(),
    )
)


@given(MESSAGES)
def test_whatever_a_table_holds_every_call_is_answered_and_every_answer_was_asked_for(
    cells: list[MessageValue | None],
) -> None:
    waiting: set[str] = set()
    for message in messages_from_cells(cells, names()):
        if isinstance(message, ToolMessage):
            waiting.remove(message.tool_call_id)
            continue
        assert waiting == set()
        if isinstance(message, AIMessage):
            waiting = {call["id"] or "" for call in message.tool_calls}
    assert waiting == set()


@given(st.none() | st.text() | st.integers() | st.sampled_from(["null", "[1]", '{"n": 1}', '{"n": ', "NaN", '"x"']))
def test_whatever_stands_where_arguments_should_be_is_a_conversation_that_goes_on(arguments: Any) -> None:
    cell = {"0": "AI", "1": None, "2": [{"0": "1", "1": "echo", "2": arguments}], "3": None, "4": None}
    found = messages_from_cells([user("go"), MessageValueFactory().decode(cell)], names())
    assert [message.type for message in found] == ["human", "ai", "tool"]
    assert isinstance(found[1], AIMessage)
    expected = {"n": 1} if arguments == '{"n": 1}' else None
    kept = found[1].tool_calls[0]["args"]
    assert kept in (expected, {}, {"unreadable_arguments": str(arguments)})


def counted(text: str = "") -> str:
    return str(len(text.split()))


def test_a_saved_conversation_with_an_image_calls_and_results_goes_on_at_a_service() -> None:
    with openai_service(
        [completion(None, [("Worter_zahlen", {"text": "a b"})]), completion("2"), completion("ok")]
    ) as service:
        key = SecretStr("k")
        model = create_chat_model(ChatModelConfig(model="m", base_url=service.url, api_key=key))
        facts = {"display_name": "Wörter zählen"}
        counts = StructuredTool(name="Worter_zahlen", description="", args_schema=SCHEMA, func=counted, metadata=facts)
        tools, shown = [counts], ToolNames([counts])
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
        first = Agent(model, tools).run(HumanMessage([{"type": "text", "text": "How many?"}, image]))
        factory = MessageValueFactory()
        stored = [factory.encode(cell) for cell in cells_from_messages(first.messages, shown)]
        assert stored[1] is not None and stored[1]["2"][0]["1"] == "Wörter zählen"
        history = messages_from_cells([factory.decode(cell) for cell in stored], shown)
        Agent(model, tools).run("And now?", history=history)
    system, *before = service.requests[1]["messages"]
    sent = service.requests[2]["messages"]
    assert sent[0] == system
    assert sent[1 : 1 + len(before)] == before
    assert [message["content"] for message in sent[1 + len(before) :]] == ["2", "And now?"]
    assert sent[1]["content"][1] == image
