"""Limits of a run and of many runs together, with models and tools that take their time."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import StructuredTool
from pydantic import SecretStr

from knime_ext.agent import Agent, AgentRun, Allowance, Budget, ChatModelConfig, RunFinished, create_chat_model
from knime_ext.agent.loop import text_of
from knime_ext.errors import AgentError, LimitReached
from knime_ext.testing import ScriptedChatModel, ScriptedReply
from tests.agent.openai_server import completion, openai_service

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
ENOUGH = "is used up. Answer with what you have."


def calls(*numbers: int, tokens: int = 0, name: str = "double") -> AIMessage:
    usage: Any = {"input_tokens": tokens, "output_tokens": 0, "total_tokens": tokens}
    wanted: list[Any] = [{"name": name, "args": {"n": n}, "id": f"c{n}"} for n in numbers]
    return AIMessage(content="", tool_calls=wanted, usage_metadata=usage if tokens else None)


def double(n: int = 0) -> str:
    return str(2 * n)


async def hang(n: int = 0) -> str:
    await asyncio.Event().wait()
    return "never"


def agent(*replies: ScriptedReply, **options: Any) -> Agent:
    tools = [
        StructuredTool(name="double", description="Doubles", args_schema=SCHEMA, func=double),
        StructuredTool(name="hang", description="Hangs", args_schema=SCHEMA, coroutine=hang),
    ]
    return Agent(ScriptedChatModel(replies=list(replies)), tools, **options)


def results(run: AgentRun) -> list[str]:
    return [text_of(message) for message in run.messages if isinstance(message, ToolMessage)]


def test_calls_beyond_the_budget_are_refused_and_the_request_stays_in_the_trace() -> None:
    run = agent(calls(1, 2, 3), "2, 4", budget=Budget(calls=2)).run("go")
    assert results(run) == ["2", "4", f"not called: the budget of 2 tool calls {ENOUGH}"]
    assert (run.answer, run.stop_reason, run.turns, run.tool_calls) == ("2, 4", "answered", 1, 3)
    assert [len(message.tool_calls) for message in run.trace.messages if message.role == "assistant"] == [3, 0]


@pytest.mark.parametrize(("end", "bound"), [("answer", []), ("refuse", ["double", "hang"])])
def test_the_calls_of_a_run_end_with_an_answer(end: Any, bound: list[str]) -> None:
    model = ScriptedChatModel(replies=[calls(1), calls(2), "2 so far"])
    tools = [StructuredTool(name=name, description="", args_schema=SCHEMA, func=double) for name in ("double", "hang")]
    run = Agent(model, tools, budget=Budget(calls=1), when_exhausted=end, final_prompt="Finish.").run("go")
    assert (run.answer, run.stop_reason) == ("2 so far", "call_limit")
    assert model.bound[-1] == bound
    assert text_of(model.received[-1][-1]) == (
        "Finish." if end == "answer" else f"not called: the budget of 1 tool call {ENOUGH}"
    )


def test_a_tool_is_stopped_when_the_time_of_the_run_is_up_and_the_model_answers_from_what_it_has() -> None:
    both = calls(1, 2)
    both.tool_calls[1]["name"] = "hang"
    run = agent(both, "only 2", budget=Budget(seconds=0.3, seconds_per_call=9), when_exhausted="answer").run("go")
    assert results(run) == [
        "2",
        "the tool 'hang' was stopped, for the run's time of 0.3 seconds is used up; "
        "it is unknown whether it took effect. Answer with what you have.",
    ]
    assert (run.answer, run.stop_reason) == ("only 2", "time_limit")


class Slow(ScriptedChatModel):
    """Waits before the replies whose numbers are in `waits`, until it is stopped."""

    waits: list[int]

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **more: Any) -> Any:
        if len(self.received) in self.waits:
            self.received.append(messages)
            await asyncio.Event().wait()
        return self._generate(messages, *args, **more)


def test_a_model_that_thinks_longer_than_the_run_may_take_is_stopped() -> None:
    with pytest.raises(LimitReached, match="the time of 0.2 seconds is used up and the model has not answered"):
        Agent(Slow(replies=["late"], waits=[0]), budget=Budget(seconds=0.2)).run("go")
    model = Slow(replies=["late", "in short: yes"], waits=[0])
    run = Agent(model, budget=Budget(seconds=0.2), when_exhausted="answer").run("go")
    assert (run.answer, run.stop_reason) == ("in short: yes", "time_limit")
    assert [message.role for message in run.trace.messages] == ["user", "user", "assistant"]


def test_a_models_own_time_out_is_no_limit_of_the_run() -> None:
    def times_out(messages: list[BaseMessage]) -> AIMessage:
        raise TimeoutError

    with pytest.raises(AgentError, match="did not answer in time"):
        agent(times_out, budget=Budget(seconds=60)).run("go")


def test_runs_in_many_threads_make_no_more_calls_together_than_they_may() -> None:
    made, lock = [0], threading.Lock()

    def counted(n: int = 0) -> str:
        with lock:
            made[0] += 1
        return str(n)

    tool = StructuredTool(name="double", description="", args_schema=SCHEMA, func=counted)
    allowance = Allowance(calls=25)

    def one(_: int) -> AgentRun:
        model = ScriptedChatModel(replies=[calls(1, 2, 3), calls(4, 5, 6), "done"])
        return Agent(model, [tool], allowance=allowance, when_exhausted="refuse").attempt("go")

    with ThreadPoolExecutor(8) as pool:
        runs = list(pool.map(one, range(12)))
    assert (made[0], allowance.spent.calls) == (25, 25)
    assert [run.answer for run in runs] == ["done"] * 12
    refusal = f"not called: the budget of 25 tool calls for all runs together {ENOUGH}"
    assert sum(results(run).count(refusal) for run in runs) == 12 * 6 - 25


def test_tokens_that_are_used_up_end_the_run_and_no_further_one_begins() -> None:
    allowance = Allowance(tokens=100)
    options: dict[str, Any] = {"allowance": allowance, "when_exhausted": "answer"}
    first = agent(calls(1, tokens=60), calls(2, tokens=60), "2", **options).run("go")
    assert results(first) == ["2", f"not called: the budget of 100 tokens for all runs together {ENOUGH}"]
    assert (first.answer, first.stop_reason, allowance.spent.tokens) == ("2", "token_limit", 120)
    second = agent(**options).attempt("go")
    assert isinstance(second.error, LimitReached)
    assert (second.stop_reason, second.turns, [message.role for message in second.trace.messages]) == (
        "failed",
        0,
        ["system", "user"],
    )


def openai(url: str) -> Any:
    return create_chat_model(ChatModelConfig(model="m", base_url=url, api_key=SecretStr("k"), max_retries=0))


@pytest.mark.parametrize(
    ("end", "said", "offered"),
    [("answer", ["go", "Finish."], [True, True, False]), ("refuse", ["go"], [True, True, True])],
)
def test_a_service_gets_every_call_answered_before_it_gives_its_last_answer(
    end: Any, said: list[str], offered: list[bool]
) -> None:
    wanted = completion(None, [("double", {"n": 1}), ("double", {"n": 2}), ("double", {"n": 3})])
    tool = StructuredTool(name="double", description="", args_schema=SCHEMA, func=double)
    with openai_service([wanted, wanted, completion("So far 2 and 4.")]) as service:
        agent = Agent(openai(service.url), [tool], budget=Budget(calls=2), when_exhausted=end, final_prompt="Finish.")
        run = agent.run("go")
    assert (run.answer, run.stop_reason, run.tool_calls) == ("So far 2 and 4.", "call_limit", 6)
    last: list[dict[str, Any]] = service.requests[-1]["messages"]
    asked = [call["id"] for message in last if message["role"] == "assistant" for call in message["tool_calls"]]
    answers = {message["tool_call_id"]: message["content"] for message in last if message["role"] == "tool"}
    refusal = f"not called: the budget of 2 tool calls {ENOUGH}"
    assert list(answers) == asked
    assert list(answers.values()) == ["2", "4", *[refusal] * 4]
    assert [message["content"] for message in last if message["role"] == "user"] == said
    assert ["tools" in request for request in service.requests] == offered


@pytest.mark.parametrize("streamed", [False, True])
def test_tokens_are_counted_as_the_service_counts_them(streamed: bool) -> None:
    async def run() -> AgentRun:
        if not streamed:
            return await agent.aattempt("go")
        [*_, last] = [event async for event in agent.stream("go")]
        assert isinstance(last, RunFinished)
        return last.run

    wanted = completion(None, [("double", {"n": 1})])
    tool = StructuredTool(name="double", description="", args_schema=SCHEMA, func=double)
    allowance = Allowance(tokens=30)
    with openai_service([wanted, wanted, completion("2")]) as service:
        agent = Agent(openai(service.url), [tool], allowance=allowance, when_exhausted="answer")
        found = asyncio.run(run())
    assert (found.answer, found.stop_reason, allowance.spent.tokens) == ("2", "token_limit", 54)
