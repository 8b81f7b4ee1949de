"""The test doubles that ship with the package."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from knime_ext.agent.loop import text_of
from knime_ext.errors import UnknownTool
from knime_ext.testing import RecordingToolset, ScriptedChatModel, call
from knime_ext.tools import ToolResult

ECHO: dict[str, Any] = {
    "type": "function",
    "function": {"name": "echo", "description": "", "parameters": {"type": "object", "properties": {}}},
}


def shout(messages: list[BaseMessage]) -> AIMessage:
    return AIMessage(content=text_of(messages[-1]).upper())


def test_a_scripted_model_replies_in_order_and_writes_down_what_it_got() -> None:
    model = ScriptedChatModel(replies=["one", AIMessage(content="two"), shout])
    bound = model.bind_tools([ECHO])
    assert [text_of(asked.invoke("hi")) for asked in (model, bound, model)] == ["one", "two", "HI"]
    assert model.bound == [[], ["echo"], []]
    assert [[text_of(message) for message in messages] for messages in model.received] == [["hi"]] * 3


def test_a_scripted_model_says_when_its_script_is_over() -> None:
    with pytest.raises(AssertionError, match="1 replies, but was asked 2 times"):
        model = ScriptedChatModel(replies=["one"])
        model.invoke("a")
        model.invoke("b")


def test_the_same_script_can_be_replayed() -> None:
    reply = call("echo", {"n": 1})
    model = ScriptedChatModel(replies=[reply, reply])
    first, second = model.invoke([HumanMessage("a")]), model.invoke([HumanMessage("a")])
    assert isinstance(first, AIMessage) and isinstance(second, AIMessage)
    assert first.tool_calls == second.tool_calls
    assert reply.id is None


def test_a_recording_toolset_answers_and_writes_down_its_calls() -> None:
    toolset = RecordingToolset(
        {"echo": lambda arguments: str(arguments["x"]), "fail": ToolResult.of_text("no", is_error=True)}
    )

    async def use() -> list[ToolResult]:
        assert [definition.name for definition in await toolset.list_definitions()] == ["echo", "fail"]
        return [await toolset.call("echo", {"x": 1}), await toolset.call("fail", {})]

    echoed, failed = asyncio.run(use())
    assert (echoed.text, failed.is_error) == ("1", True)
    assert toolset.calls == [("echo", {"x": 1}), ("fail", {})]
    with pytest.raises(UnknownTool, match="the tools are: echo, fail"):
        asyncio.run(toolset.call("nope", {}))
