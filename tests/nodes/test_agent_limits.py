"""What an Agent Prompter may spend and call, and how it ends when that is used up."""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import knime.extension as knext
import pytest
from langchain_core.messages import AIMessage, BaseMessage

from knime.types.tool import MCPTool, Tool
from knime_ext.mcp import Answer, Question
from knime_ext.runtime.knext.contexts import NodeHost
from knime_ext.testing import call
from knime_ext.tools import ToolDefinition
from tests.nodes.agent_bench import Bench, Context, mcp_tool, workflow_tool

ECHO = mcp_tool("echo", text={"type": "string"})


def echo(tool: Tool, parameters: dict[str, Any], inputs: list[Any]) -> str:
    return f"{tool.name}: {parameters.get('text', '')}"


def calling(*texts: str) -> AIMessage:
    calls = [call("echo", {"text": text}, id=text).tool_calls[0] for text in texts]
    return AIMessage(content="", tool_calls=calls)


def annotated(name: str, **annotations: Any) -> MCPTool:
    return MCPTool(name, f"Does {name}.", {"type": "object"}, "http://localhost:1/mcp", annotations=annotations)


def test_calls_that_the_limit_leaves_no_room_for_are_refused_and_the_model_answers() -> None:
    settings = {"limits": {"calls": 2}, "recursion_limit_handling": "REFUSE"}
    replies = [calling("a", "b", "c"), "Two of three."]
    outcome = Bench(replies=replies, tools=[ECHO], run=echo, settings=settings).ask()
    assert outcome.context.calls == [("echo", {"text": "a"}), ("echo", {"text": "b"})]
    assert "not called" in outcome.texts[4]
    assert outcome.texts[-1] == "Two of three."


@pytest.mark.parametrize("handling", ["FINAL_RESPONSE", "REFUSE"])
def test_after_the_last_turn_every_call_is_refused_and_the_model_answers_from_what_it_has(handling: str) -> None:
    settings = {"recursion_limit": 1, "recursion_limit_handling": handling, "recursion_limit_prompt": "Come to an end."}
    replies = [calling("a"), calling("b", "c"), "That is all."]
    outcome = Bench(replies=replies, tools=[ECHO], run=echo, settings=settings).ask()
    assert outcome.context.calls == [("echo", {"text": "a"})]
    refused = [text for text in outcome.texts if "1 turn with tools is used up" in text]
    assert len(refused) == 2
    assert ("Come to an end." in outcome.texts) == (handling == "FINAL_RESPONSE")
    assert outcome.texts[-1] == "That is all."


def test_a_tool_that_takes_too_long_is_stopped_and_the_run_goes_on() -> None:
    release = threading.Event()

    def wait(tool: Tool, parameters: dict[str, Any], inputs: list[Any]) -> str:
        release.wait(20)
        return "too late"

    settings = {"limits": {"seconds_per_call": 0.05}}
    try:
        outcome = Bench(replies=[calling("a"), "It was slow."], tools=[ECHO], run=wait, settings=settings).ask()
    finally:
        release.set()
    assert "within 0.05 seconds" in outcome.texts[2]
    assert outcome.texts[-1] == "It was slow."


def test_the_time_of_the_run_is_limited() -> None:
    def slow(tool: Tool, parameters: dict[str, Any], inputs: list[Any]) -> str:
        threading.Event().wait(0.2)
        return "done"

    bench = Bench(replies=[calling("a"), calling("b")], tools=[ECHO], run=slow, settings={"limits": {"seconds": 0.1}})
    with pytest.raises(knext.InvalidParametersError, match=r"0\.1 seconds"):
        bench.ask()


def test_tokens_are_limited_where_the_model_counts_them() -> None:
    def costly(messages: list[BaseMessage]) -> AIMessage:
        usage = {"input_tokens": 900, "output_tokens": 200, "total_tokens": 1100}
        return calling("a").model_copy(update={"usage_metadata": usage})

    settings = {"limits": {"tokens": 1000}, "recursion_limit_handling": "FINAL_RESPONSE"}
    outcome = Bench(replies=[costly, "Short of tokens."], tools=[ECHO], run=echo, settings=settings).ask()
    assert outcome.context.calls == []
    assert "1000 tokens" in outcome.texts[2]


def test_a_long_result_goes_to_a_file_and_the_model_reads_on(tmp_path: Path) -> None:
    whole = "".join(f"line {number}\n" for number in range(1_000))

    def read_on(messages: list[BaseMessage]) -> AIMessage:
        handle = str(messages[-1].content).rpartition("handle '")[2].partition("'")[0]
        return call("read_more", {"handle": handle, "offset": 9_000}, id="more")

    outcome = Bench(
        replies=[calling("a"), read_on, "Read."],
        tools=[ECHO],
        run=lambda *_: whole,
        settings={"limits": {"result_chars": 500}},
        host=NodeHost(temp_dir=tmp_path),
    ).ask()
    assert outcome.texts[2].startswith(whole[:500])
    assert len(outcome.texts[2]) < 700
    assert outcome.texts[4].startswith(whole[9_000:9_500])
    assert outcome.port.model.bound == [["echo"], ["echo", "read_more"], ["echo", "read_more"]]
    [file] = tmp_path.glob("tool-results-*/*.txt")
    assert file.read_text("utf-8") == whole.strip() or file.read_text("utf-8") == whole


READ, WRITE, DROP = annotated("read", readOnlyHint=True), annotated("write"), annotated("drop", destructiveHint=True)


@pytest.mark.parametrize(
    ("settings", "offered"),
    [
        ({}, ["read", "write", "drop", "double"]),
        ({"mode": "READ_ONLY"}, ["read"]),
        ({"mode": "RULES", "deny": "d*"}, ["read", "write"]),
        ({"mode": "RULES", "others": "DENY", "allow": "double, write"}, ["write", "double"]),
        ({"mode": "RULES", "allow": "drop", "deny": "drop", "others": "ALLOW"}, ["read", "write", "double"]),
    ],
)
def test_the_model_is_only_told_of_tools_that_are_not_denied(settings: dict[str, Any], offered: list[str]) -> None:
    tools = [READ, WRITE, DROP, workflow_tool("double", inputs=[], outputs=[])]
    outcome = Bench(replies=["Ok."], tools=tools, settings={"approval": settings}).ask()
    assert outcome.port.model.bound == [offered]


def test_where_nobody_can_be_asked_calls_that_need_approval_are_refused_with_the_reason() -> None:
    replies = [AIMessage(content="", tool_calls=[*call("read").tool_calls, *call("write").tool_calls]), "Only read."]
    outcome = Bench(replies=replies, tools=[READ, WRITE], run=echo, settings={"approval": {"mode": "RULES"}}).ask()
    assert outcome.context.calls == [("read", {})]
    assert "nobody can be asked here" in outcome.texts[3]


class Person:
    """Approves some calls."""

    def __init__(self, *approved: str) -> None:
        self.approved = approved
        self.asked: list[str] = []

    async def answer(self, question: Question) -> Answer:
        return Answer(action="cancel")

    async def approve(self, tool: ToolDefinition, arguments: Mapping[str, Any]) -> bool:
        self.asked.append(tool.name)
        return tool.name in self.approved


def test_the_person_in_front_of_the_run_is_asked_where_there_is_one() -> None:
    class Attended(Context):
        _person = Person("write")

    replies = [AIMessage(content="", tool_calls=[*call("write").tool_calls, *call("drop").tool_calls]), "Done."]
    bench = Bench(replies=replies, tools=[WRITE, DROP], run=echo, settings={"approval": {"mode": "RULES"}})
    bench.context_class = Attended
    outcome = bench.ask()
    assert sorted(Attended._person.asked) == ["drop", "write"]  # pyright: ignore[reportPrivateUsage]
    assert outcome.context.calls == [("write", {})]
    assert "was not approved" in outcome.texts[3]
