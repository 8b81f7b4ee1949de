"""What holds for every run: same script, same trace; nothing goes on after a stop; everything round-trips."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException

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
from knime.types.tool import MCPTool
from knime_ext.agent import (
    Agent,
    AgentEvent,
    AgentRun,
    Budget,
    RunFinished,
    ToolCallStarted,
    ToolNames,
    Trace,
    cells_from_messages,
    messages_from_cells,
    to_langchain_tools,
)
from knime_ext.agent.loop import text_of
from knime_ext.agent.trace import Timing, Tokens, TraceCall, TraceMessage, TraceTable
from knime_ext.testing import ScriptedChatModel
from tests.agent.orders import OrdersHost

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
TOOLS = ("echo", "fails", "blocks", "missing")
HANGS = "hangs"

Script = list[list[tuple[str, int]]]
"""The calls of each turn: name and argument."""


def scripts_of(names: Sequence[str]) -> st.SearchStrategy[Script]:
    turn = st.lists(st.tuples(st.sampled_from(names), st.integers(0, 9)), min_size=1, max_size=4)
    return st.lists(turn, max_size=3)


scripts = scripts_of(TOOLS)
hanging_scripts = scripts_of((*TOOLS, HANGS))
budgets = st.builds(Budget, turns=st.integers(0, 4), calls=st.none() | st.integers(0, 6))
ends = st.sampled_from(["fail", "answer", "refuse"])
# Every example starts threads or an event loop; how long that takes is not what is looked at.
few = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class World:
    """Tools that take their time in an order of their own, and know how many of them are at work."""

    def __init__(self, pauses: Sequence[int] = (0,)) -> None:
        self._pauses = list(pauses)
        self.at_work = 0

    async def _pause(self, n: int) -> None:
        self.at_work += 1
        try:
            for _ in range(self._pauses[n % len(self._pauses)]):
                await asyncio.sleep(0)
        finally:
            self.at_work -= 1

    def tools(self) -> list[BaseTool]:
        async def echo(n: int = 0) -> str:
            await self._pause(n)
            return f"echo {n}"

        async def fails(n: int = 0) -> str:
            await self._pause(n)
            raise ToolException(f"no {n}")

        def blocks(n: int = 0) -> str:
            return f"blocked {n}"

        async def hangs(n: int = 0) -> str:
            self.at_work += 1
            try:
                await asyncio.Event().wait()
            finally:
                self.at_work -= 1
            return "never"

        def made(name: str, **how: Any) -> BaseTool:
            return StructuredTool(name=name, description=name, args_schema=SCHEMA, **how)

        waiting = [made("echo", coroutine=echo), made("fails", coroutine=fails), made(HANGS, coroutine=hangs)]
        return [*waiting, made("blocks", func=blocks)]


def model(script: Script) -> ScriptedChatModel:
    def reply(messages: list[BaseMessage]) -> AIMessage:
        turn = sum(isinstance(message, AIMessage) for message in messages)
        if turn >= len(script):
            return AIMessage("done")
        calls: list[Any] = [{"name": name, "args": {"n": n}, "id": ""} for name, n in script[turn]]
        return AIMessage(f"turn {turn}", tool_calls=calls)

    return ScriptedChatModel(replies=[reply] * 20)


def hangs(event: AgentEvent) -> bool:
    return isinstance(event, ToolCallStarted) and event.tool == HANGS


async def streamed(agent: Agent, stop_at: int | None = None) -> AgentRun:
    """The run, stopped after so many events if there are so many, and when a tool begins that would never end."""
    cancel = threading.Event()
    number = 0
    async for event in agent.stream("go", cancel=cancel):
        number += 1
        if isinstance(event, RunFinished):
            return event.run
        if number == stop_at or hangs(event):
            cancel.set()
    raise AssertionError


def as_bytes(run: AgentRun) -> bytes:
    return json.dumps(run.trace.to_dict(timings=False), ensure_ascii=False).encode()


def assert_paired(messages: Sequence[BaseMessage]) -> None:
    """Every call is answered, in the order of the calls, before anybody else speaks."""
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            assert waiting and message.tool_call_id in waiting
            waiting.remove(message.tool_call_id)
            continue
        assert waiting == []
        if isinstance(message, AIMessage):
            waiting = [call["id"] or "" for call in message.tool_calls]
            assert len(set(waiting)) == len(waiting)
    assert waiting == []


@few
@given(scripts, budgets, ends, st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_the_same_script_gives_the_same_trace_however_fast_the_tools_are_streamed_or_not(
    script: Script, budget: Budget, end: Any, pauses: list[int], others: list[int]
) -> None:
    def agent(world: World) -> Agent:
        return Agent(model(script), world.tools(), budget=budget, when_exhausted=end)

    first = asyncio.run(agent(World(pauses)).aattempt("go"))
    again = asyncio.run(streamed(agent(World(others))))
    assert as_bytes(first) == as_bytes(again)
    assert_paired(first.messages)
    answered = [(message.tool_call_id) for message in first.messages if isinstance(message, ToolMessage)]
    asked = [call["id"] for message in first.messages if isinstance(message, AIMessage) for call in message.tool_calls]
    assert answered == asked


@few
@given(hanging_scripts, budgets, ends, st.lists(st.integers(0, 3), min_size=1), st.integers(1, 25))
def test_wherever_a_run_is_stopped_nothing_goes_on_and_its_conversation_can_go_on(
    script: Script, budget: Budget, end: Any, pauses: list[int], stop_at: int
) -> None:
    async def stopped() -> None:
        world = World(pauses)
        run = await streamed(Agent(model(script), world.tools(), budget=budget, when_exhausted=end), stop_at)
        assert world.at_work == 0
        assert run.stop_reason in ("cancelled", "answered", "failed", "turn_limit", "call_limit")
        assert_paired(run.messages)
        assert Trace.from_dict(run.trace.to_dict()).to_dict() == run.trace.to_dict()

    asyncio.run(stopped())


@few
@given(hanging_scripts, st.lists(st.integers(0, 3), min_size=1), st.integers(1, 25))
def test_wherever_a_stream_is_closed_nothing_goes_on(script: Script, pauses: list[int], close_at: int) -> None:
    async def closed() -> None:
        world = World(pauses)
        stream = Agent(model(script), world.tools()).stream("go")
        number = 0
        async for event in stream:
            number += 1
            if number == close_at or hangs(event):
                break
        await stream.aclose()
        assert world.at_work == 0
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(closed())


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(texts, jsons, max_size=3)
seconds = st.floats(0, 1e6)
tokens = st.builds(Tokens, input=st.integers(0), output=st.integers(0))
trace_messages = st.builds(
    TraceMessage,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    content=texts,
    turn=st.integers(0),
    blocks=st.lists(objects, max_size=2).map(tuple),
    reasoning=texts,
    tool_calls=st.lists(
        st.builds(TraceCall, id=texts, tool=texts, name=texts, kind=texts, arguments=jsons), max_size=2
    ).map(tuple),
    tool_call_id=st.none() | texts,
    tool=st.none() | texts,
    is_error=st.booleans(),
    origin=st.none() | texts,
    tables=st.lists(
        st.builds(TraceTable, id=texts, name=texts, columns=st.dictionaries(texts, texts), rows=st.integers(0)),
        max_size=1,
    ).map(tuple),
    tokens=tokens,
    timing=st.builds(Timing, start=seconds, seconds=seconds),
)
traces = st.builds(
    Trace,
    model=texts,
    question=texts,
    messages=st.lists(trace_messages, max_size=3).map(tuple),
    turns=st.integers(0),
    stop_reason=texts,
    error=st.none() | texts,
    started_at=texts,
    seconds=seconds,
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(traces)
def test_every_trace_comes_back_from_its_json(trace: Trace) -> None:
    shown = json.loads(json.dumps(trace.to_dict()))
    back = Trace.from_dict(shown)
    assert back.to_dict() == trace.to_dict() == shown
    timeless = replace(
        trace,
        started_at="",
        seconds=0.0,
        messages=tuple(replace(message, timing=Timing()) for message in trace.messages),
    )
    assert Trace.from_dict(json.loads(json.dumps(trace.to_dict(timings=False)))) == timeless


parts = st.lists(
    st.builds(MessageContentPart, st.just(MessageContentPartType.TEXT), texts.map(str.encode))
    | st.builds(MessageContentPart, st.just(MessageContentPartType.PNG), st.binary(min_size=1, max_size=20)),
    max_size=3,
)
values = st.one_of(
    st.builds(MessageValue, st.just(MessageType.USER), parts, name=st.none() | texts),
    st.builds(
        MessageValue,
        st.just(MessageType.AI),
        parts,
        st.none() | st.lists(st.builds(ToolCall, texts, texts, objects), min_size=1, max_size=2),
        st.none() | texts.filter(bool),
        st.none() | texts,
    ),
    st.builds(MessageValue, st.just(MessageType.TOOL), parts, tool_call_id=texts, name=st.none() | texts),
)


@settings(deadline=None, max_examples=60)
@given(values)
def test_every_message_comes_back_from_its_cell_and_from_its_langchain_message(value: MessageValue) -> None:
    factory = MessageValueFactory()
    assert factory.decode(factory.encode(value)) == value
    message = to_langchain_message(value)
    back = from_langchain_message(message)
    assert to_langchain_message(back) == message
    assert (back.message_type, back.text, back.tool_calls) == (value.message_type, value.text, value.tool_calls)
    images = [part for part in value.content if part.type is MessageContentPartType.PNG]
    assert [part for part in back.content if part.type is MessageContentPartType.PNG] == images


@few
@given(scripts, budgets, ends)
def test_every_conversation_comes_back_from_its_cells(script: Script, budget: Budget, end: Any) -> None:
    tools = World().tools()
    run = asyncio.run(Agent(model(script), tools, budget=budget, when_exhausted=end).aattempt("go"))
    back = messages_from_cells(cells_from_messages(run.messages, ToolNames(tools)), ToolNames(tools))
    assert [(message.type, text_of(message)) for message in back] == [
        (message.type, text_of(message)) for message in run.messages
    ]
    assert_paired([HumanMessage("before"), *back])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(max_size=12) | st.sampled_from(["echo", "echo_2", "echo 2", "ECHO", ""]), max_size=6))
def test_every_tool_is_found_again_by_the_name_that_people_see(displayed: list[str]) -> None:
    rows = [MCPTool(name, "", SCHEMA, f"http://host-{number}/") for number, name in enumerate(displayed)]
    tools = to_langchain_tools(rows, OrdersHost())
    names = ToolNames(tools)
    assert [names.safe(names.shown(tool.name)) for tool in tools] == [tool.name for tool in tools]
