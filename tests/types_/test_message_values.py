import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from knime.types.message import (
    MessageContentPart,
    MessageContentPartType,
    MessageType,
    MessageValue,
    MessageValueFactory,
    ToolCall,
    from_langchain_message,
    to_langchain_message,
)

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
parts = st.builds(MessageContentPart, st.sampled_from(MessageContentPartType), st.binary(max_size=20))
calls = st.builds(ToolCall, texts, texts, st.dictionaries(texts, st.integers() | texts, max_size=3))
messages = st.builds(
    MessageValue,
    st.sampled_from(MessageType),
    st.lists(parts, max_size=3),
    st.none() | st.lists(calls, max_size=3),
    st.none() | texts,
    st.none() | texts,
)


@given(st.none() | messages)
def test_a_message_decodes_to_what_was_encoded(message: MessageValue | None) -> None:
    factory = MessageValueFactory()
    assert factory.decode(factory.encode(message)) == message


def _text(text: str) -> list[MessageContentPart]:
    return [MessageContentPart(MessageContentPartType.TEXT, text.encode())]


def test_langchain_messages_of_people_models_and_tools_come_back_equal() -> None:
    call = {"name": "add", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
    for message in (
        HumanMessage("Grüße", name="Ada"),
        AIMessage("", tool_calls=[call], id="m1"),
        AIMessage("done", id="m2"),
        ToolMessage("3", tool_call_id="c1", name="add"),
    ):
        assert to_langchain_message(from_langchain_message(message)) == message


def test_a_png_image_is_stored_as_its_bytes_and_shown_as_a_data_url() -> None:
    png = b"\x89PNG rest"
    url = "data:image/png;base64," + base64.b64encode(png).decode()
    message = HumanMessage([{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": url}}])
    value = from_langchain_message(message)
    assert value.content[1] == MessageContentPart(MessageContentPartType.PNG, png)
    assert value.text == "look"
    assert to_langchain_message(value) == message


def test_an_image_that_knime_stored_as_an_address_is_read_as_that_address() -> None:
    value = MessageValue(MessageType.USER, [MessageContentPart(MessageContentPartType.PNG, b"https://e.org/a.png")])
    shown = [{"type": "image_url", "image_url": {"url": "https://e.org/a.png"}}]
    assert to_langchain_message(value).content == shown


def test_a_part_without_a_place_in_the_layout_is_left_out() -> None:
    message = AIMessage([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}])
    assert from_langchain_message(message).content == _text("yes")


def test_a_system_message_has_no_place_in_a_conversation() -> None:
    with pytest.raises(ValueError, match="SystemMessage"):
        from_langchain_message(SystemMessage("be brief"))
