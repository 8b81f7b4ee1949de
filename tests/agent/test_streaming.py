"""Runs that tell what happens while it happens, over a real HTTP server and with models that cannot stream."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import SecretStr

from knime_ext.agent import Agent, AgentRun, Budget, ChatModelConfig, OfflineChatModel, create_chat_model
from knime_ext.agent.events import (
    AgentEvent,
    ReasoningDelta,
    RunFinished,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnStarted,
)
from knime_ext.agent.loop import text_of
from knime_ext.testing import ScriptedChatModel, call
from tests.agent.openai_server import Reply, Service, completion, delayed, openai_service, rate_limited

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
WAIT = 10.0


def double(n: int = 0) -> str:
    return str(2 * n)


def fails(n: int = 0) -> str:
    raise ValueError("no")


def tools() -> list[BaseTool]:
    return [
        StructuredTool(name="double", description="Doubles", args_schema=SCHEMA, func=double),
        StructuredTool(name="fails", description="Fails", args_schema=SCHEMA, func=fails),
    ]


def openai_model(service: Service) -> Any:
    key = SecretStr("a-key")
    return create_chat_model(
        ChatModelConfig(provider="openai", model="m", base_url=service.url, api_key=key, max_retries=0)
    )


async def heard(agent: Agent, prompt: str = "go", **options: Any) -> list[AgentEvent]:
    async with asyncio.timeout(WAIT):
        return [event async for event in agent.stream(prompt, **options)]


def streamed(replies: Sequence[Reply], **options: Any) -> list[AgentEvent]:
    with openai_service(replies) as service:
        return asyncio.run(heard(Agent(openai_model(service), tools(), **options)))


def without_times(events: Sequence[AgentEvent]) -> list[Any]:
    """The events, without those that hold times or are over."""
    shown: list[Any] = []
    for event in events:
        if isinstance(event, ToolCallFinished):
            shown.append(("finished", event.id, event.tool, event.text, event.is_error))
        elif not isinstance(event, RunFinished):
            shown.append(event)
    return shown


def run_of(events: Sequence[AgentEvent]) -> AgentRun:
    assert isinstance(events[-1], RunFinished)
    assert not any(isinstance(event, RunFinished) for event in events[:-1])
    return events[-1].run


TWO_CALLS = completion("Let me see", [("double", {"n": 21}), ("fails", {})])


def test_tokens_and_calls_come_as_they_happen_and_the_run_comes_last() -> None:
    events = streamed([TWO_CALLS, completion("It is 42.")])
    shown = without_times(events)
    assert shown[:4] == [TurnStarted(1), TextDelta("Let"), TextDelta(" me"), TextDelta(" see")]
    started = [ToolCallStarted("call_1", "double", {"n": 21}), ToolCallStarted("call_2", "fails", {})]
    finished = [
        ("finished", "call_1", "double", "42", False),
        ("finished", "call_2", "fails", "the tool 'fails' failed: ValueError: no", True),
    ]
    assert shown[4:6] == started
    assert sorted(shown[6:8]) == finished
    assert shown[8:] == [TurnStarted(2), TextDelta("It"), TextDelta(" is"), TextDelta(" 42.")]
    run = run_of(events)
    assert (run.answer, run.turns, run.trace.tokens.total) == ("It is 42.", 1, 36)


def test_a_streamed_run_has_the_same_trace_as_one_that_is_not() -> None:
    replies = [TWO_CALLS, completion("It is 42.")]
    with openai_service(replies) as service:
        plain = Agent(openai_model(service), tools()).run("go")
    assert not service.requests[0].get("stream")
    assert run_of(streamed(replies)).trace.to_dict(timings=False) == plain.trace.to_dict(timings=False)


def test_thoughts_of_a_model_behind_openais_api_are_told_and_kept_streamed_or_not() -> None:
    replies = [completion("42", reasoning="I think hard")]
    events = streamed(replies)
    assert events[1:4] == [ReasoningDelta("I"), ReasoningDelta(" think"), ReasoningDelta(" hard")]
    assert run_of(events).trace.messages[-1].reasoning == "I think hard"
    with openai_service(replies) as service:
        assert Agent(openai_model(service)).run("go").trace.messages[-1].reasoning == "I think hard"


def test_words_arrive_while_the_model_is_still_talking() -> None:
    async def first_word(service: Service) -> None:
        async for event in Agent(openai_model(service)).stream("go"):
            if event == TextDelta("one"):
                assert service.at_once == 1
                return

    with openai_service([completion("one two three four five", pause_ms=50)]) as service:
        asyncio.run(first_word(service))


class Awaited(ScriptedChatModel):
    """A model that is awaited, and gives its reply as a whole."""

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **more: Any) -> Any:
        return self._generate(messages)


@pytest.mark.parametrize("model", [OfflineChatModel(), ScriptedChatModel(replies=["Hello."]), Awaited(replies=["Hi."])])
def test_a_model_that_cannot_stream_says_everything_at_once(model: Any) -> None:
    events = asyncio.run(heard(Agent(model), "Hi"))
    [turn, said, finished] = events
    assert isinstance(finished, RunFinished)
    assert (turn, said) == (TurnStarted(1), TextDelta(finished.run.answer))


class Pieces(ScriptedChatModel):
    """A model that streams, blocking, and thinks aloud."""

    def _stream(self, messages: list[BaseMessage], *args: Any, **more: Any) -> Any:
        self.received.append(messages)
        thought: Any = [{"type": "reasoning", "reasoning": "hm"}]
        yield ChatGenerationChunk(message=AIMessageChunk(content=thought))
        for word in ("a", "b"):
            yield ChatGenerationChunk(message=AIMessageChunk(content=[{"type": "text", "text": word, "index": 1}]))


def test_a_model_that_streams_blocking_is_read_in_a_thread_and_shows_its_reasoning() -> None:
    events = asyncio.run(heard(Agent(Pieces(replies=[]))))
    assert events[:-1] == [TurnStarted(1), ReasoningDelta("hm"), TextDelta("a"), TextDelta("b")]
    assert (run_of(events).answer, run_of(events).trace.messages[-1].reasoning) == ("ab", "hm")


@pytest.mark.parametrize("after", [1, 3, 6])
def test_a_stream_that_breaks_off_ends_the_run_with_one_sentence(after: int) -> None:
    broken = completion("one two", [("double", {"n": 1})], cut_after=after)
    run = run_of(streamed([completion(None, [("double", {"n": 2})]), broken]))
    assert (run.stop_reason, run.answer, run.turns) == ("failed", "", 1)
    assert str(run.error) == "the connection to the chat model 'm' broke off in the middle of its reply; run it again."
    assert [message.role for message in run.trace.messages] == ["system", "user", "assistant", "tool"]


def test_a_model_that_refuses_to_stream_is_a_failed_run_as_without_streaming() -> None:
    run = run_of(streamed([rate_limited(3)]))
    assert "is limiting the rate" in str(run.error)
    assert "HTTP 429" in str(run.error)


def test_refused_calls_are_told_as_well() -> None:
    events = streamed([TWO_CALLS, completion("ok")], budget=Budget(calls=1))
    refusal = "not called: the budget of 1 tool call is used up. Answer with what you have."
    assert ("finished", "call_2", "fails", refusal, True) in without_times(events)
    assert run_of(events).answer == "ok"


async def until(condition: Any) -> None:
    async with asyncio.timeout(WAIT):
        while not condition():
            await asyncio.sleep(0.005)


def test_closing_the_iterator_stops_the_model() -> None:
    async def closed(service: Service) -> None:
        events = Agent(openai_model(service)).stream("go")
        async for event in events:
            if isinstance(event, TextDelta):
                break
        await events.aclose()
        await until(lambda: service.dropped == 1 and service.at_once == 0)

    with openai_service([completion("one two three four", pause_ms=100)]) as service:
        asyncio.run(closed(service))
        assert service.count == 1


def test_closing_the_iterator_stops_the_tools() -> None:
    stopped: list[str] = []

    async def hang(n: int = 0) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("hang")
        return "never"

    async def closed() -> None:
        tool = StructuredTool(name="hang", description="", args_schema=SCHEMA, coroutine=hang)
        events = Agent(ScriptedChatModel(replies=[call("hang")]), [tool]).stream("go")
        async for event in events:
            if isinstance(event, ToolCallStarted):
                await asyncio.sleep(0)
                break
        await events.aclose()
        assert stopped == ["hang"]

    asyncio.run(closed())


def test_cancelling_who_iterates_stops_the_model_before_its_first_word() -> None:
    async def cancelled(service: Service) -> None:
        task = asyncio.ensure_future(heard(Agent(openai_model(service))))
        await until(lambda: service.at_once == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: service.dropped == 1)

    with openai_service(delayed(completion("late"), 60_000)) as service:
        asyncio.run(cancelled(service))


def test_an_event_from_outside_ends_the_stream_with_the_cancelled_run() -> None:
    cancel = threading.Event()

    async def cancelled(service: Service) -> list[AgentEvent]:
        events: list[AgentEvent] = []
        async for event in Agent(openai_model(service), tools()).stream("go", cancel=cancel):
            events.append(event)
            if isinstance(event, TextDelta):
                cancel.set()
        return events

    with openai_service([completion("one two three four", pause_ms=100)]) as service:
        run = run_of(asyncio.run(cancelled(service)))
    assert (run.stop_reason, str(run.error)) == ("cancelled", "the run was cancelled.")


class Overhears(ScriptedChatModel):
    """Loses cancellations, as `asyncio.wait_for` of Python 3.11 does when the next piece is there already."""

    async def _astream(self, messages: list[BaseMessage], *args: Any, **options: Any) -> AsyncIterator[Any]:
        for number in range(100_000):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{number} "))


def test_a_fast_stream_stops_at_once_even_if_it_overhears_that_it_is_cancelled() -> None:
    cancel = threading.Event()

    async def cancelled() -> list[AgentEvent]:
        events: list[AgentEvent] = []
        async for event in Agent(Overhears(replies=[]), []).stream("go", cancel=cancel):
            events.append(event)
            if isinstance(event, TextDelta):
                cancel.set()
        return events

    events = asyncio.run(cancelled())
    assert run_of(events).stop_reason == "cancelled"
    assert len(events) < 20_000


def test_a_stream_goes_on_from_the_messages_of_the_run_before() -> None:
    with openai_service([completion("one"), completion("two")]) as service:
        agent = Agent(openai_model(service))
        first = run_of(asyncio.run(heard(agent)))
        second = run_of(asyncio.run(heard(agent, "and?", history=first.messages)))
    assert [text_of(message) for message in second.messages] == ["go", "one", "and?", "two"]
    assert [message["content"] for message in service.requests[1]["messages"]] == ["go", "one", "and?"]
