"""The loop as a table: state and reply in, next step out."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from knime_ext.agent.budget import Allowance, Budget, Limit, Outside
from knime_ext.agent.loop import (
    MAX_REFUSED_REPLIES,
    Answer,
    AskToClose,
    Fail,
    LoopState,
    RunTools,
    calls_to_run,
    next_step,
    text_of,
    with_call_ids,
)
from knime_ext.errors import AgentError, ConfigurationError, LimitReached


def asks(*names: str, **more: Any) -> AIMessage:
    calls: list[Any] = [{"name": name, "args": {}, "id": f"id_{name}", "type": "tool_call"} for name in names]
    return AIMessage(content=more.pop("content", ""), tool_calls=calls, **more)


def garbled(name: str = "search", finish: str = "tool_calls") -> AIMessage:
    call = {"name": name, "args": '{"q": ', "id": "id_x", "error": "Expecting value", "type": "invalid_tool_call"}
    return AIMessage(content="", invalid_tool_calls=[call], response_metadata={"finish_reason": finish})


TURNS = Limit.of_turns(2)


def after(
    state: LoopState, reply: AIMessage | None, budget: Budget, then: Any, outside: Outside | None = None
) -> tuple[LoopState, Any]:
    return next_step(state, reply, budget, then, outside or Outside())


def step(reply: AIMessage, *, turns: int = 0, closing: bool = False, budget: int = 2, then: Any = "fail") -> Any:
    state = LoopState(turns=turns, limit=TURNS if closing else None, refused=int(closing))
    return next_step(state, reply, Budget(turns=budget), then)


def test_a_reply_without_calls_is_the_answer() -> None:
    state, found = step(AIMessage(content="42"), turns=1)
    assert found == Answer("42", "answered")
    assert state == LoopState(turns=1)


def test_an_answer_in_blocks_is_the_text_of_its_text_blocks() -> None:
    blocks: list[Any] = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "4"}, "2"]
    assert step(AIMessage(content=blocks))[1] == Answer("42", "answered")


def test_a_reply_with_calls_uses_one_turn_however_many_calls_it_has() -> None:
    reply = asks("a", "b", "c")
    state, found = step(reply, turns=1)
    assert found == RunTools(tuple(reply.tool_calls))
    assert state == LoopState(turns=2, calls=3)


def test_the_last_turn_of_the_budget_still_runs() -> None:
    assert isinstance(step(asks("a"), turns=1, budget=2)[1], RunTools)


def test_a_used_up_budget_fails_with_the_limit_and_the_repair() -> None:
    state, found = step(asks("a"), turns=2)
    assert isinstance(found, Fail)
    assert isinstance(found.error, LimitReached)
    assert "2 turns" in str(found.error)
    assert [message.tool_call_id for message in found.refusals] == ["id_a"]
    assert state == LoopState(turns=2)


def test_a_used_up_budget_refuses_every_open_call_and_asks_for_the_answer() -> None:
    state, found = step(asks("a", "b"), turns=2, then="answer")
    assert isinstance(found, AskToClose)
    assert [(message.tool_call_id, message.status) for message in found.refusals] == [
        ("id_a", "error"),
        ("id_b", "error"),
    ]
    assert "budget of 2 turns" in text_of(found.refusals[0])
    assert state == LoopState(turns=2, limit=TURNS, refused=1)


def test_a_budget_of_zero_turns_allows_an_answer_but_no_tools() -> None:
    assert step(AIMessage(content="hi"), budget=0)[1] == Answer("hi", "answered")
    assert isinstance(step(asks("a"), budget=0, then="answer")[1], AskToClose)


def test_the_final_answer_counts_even_if_the_model_asks_for_tools_again() -> None:
    assert step(asks("a", content="so far: 3"), turns=2, closing=True, then="answer")[1] == Answer(
        "so far: 3", "turn_limit"
    )


def test_a_model_that_never_answers_after_the_limit_fails() -> None:
    found = step(asks("a"), turns=2, closing=True, then="answer")[1]
    assert isinstance(found, Fail)
    assert isinstance(found.error, LimitReached)


def test_a_call_that_cannot_be_read_goes_back_to_the_model_as_an_error() -> None:
    found = step(garbled())[1]
    assert isinstance(found, RunTools)
    assert found.calls == ()
    [message] = found.rejected
    assert (message.tool_call_id, message.status) == ("id_x", "error")
    assert "Expecting value" in text_of(message)
    assert "JSON object" in text_of(message)


def test_a_call_that_was_cut_off_says_so() -> None:
    found = step(garbled(finish="length"))[1]
    assert "cut off at the limit of output tokens" in text_of(found.rejected[0])


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"finish_reason": "length"}, "output tokens"),
        ({"stop_reason": "max_tokens"}, "output tokens"),
        ({"incomplete_details": {"reason": "max_output_tokens"}}, "output tokens"),
        ({"finish_reason": "content_filter"}, "content filter"),
        ({"finish_reason": "SAFETY"}, "content filter"),
    ],
)
def test_an_empty_answer_fails_with_its_reason(facts: dict[str, Any], words: str) -> None:
    found = step(AIMessage(content="", response_metadata=facts))[1]
    assert isinstance(found, Fail)
    assert type(found.error) is AgentError
    assert words in str(found.error)


def test_an_empty_answer_without_a_reason_is_an_empty_answer() -> None:
    assert step(AIMessage(content=""))[1] == Answer("", "answered")


def test_calls_without_an_id_or_with_one_in_use_get_their_own() -> None:
    calls: list[Any] = [
        {"name": name, "args": {}, "id": identifier}
        for name, identifier in [("a", "x"), ("b", ""), ("c", "x"), ("d", "old")]
    ]
    reply = with_call_ids(AIMessage(content="", tool_calls=calls), turn=3, taken=["old"])
    assert [call["id"] for call in reply.tool_calls] == ["x", "call_3_2", "call_3_3", "call_3_4"]


def refused(found: Any) -> list[tuple[str, str]]:
    messages = found.rejected if isinstance(found, RunTools) else found.refusals
    return [(message.tool_call_id, text_of(message)) for message in messages]


def test_of_a_turn_with_more_calls_than_are_left_the_first_ones_run_and_the_rest_are_refused_in_order() -> None:
    reply = asks("a", "b", "c", "d")
    state, found = after(LoopState(turns=1, calls=3), reply, Budget(calls=5), "fail")
    assert found.calls == tuple(reply.tool_calls[:2])
    why = "not called: the budget of 5 tool calls is used up. Answer with what you have."
    assert refused(found) == [("id_c", why), ("id_d", why)]
    assert state == LoopState(turns=2, calls=5)


ASKED = (
    "and the model still asks for tools; raise the limit, or let the model answer from what it has when it is reached."
)


@pytest.mark.parametrize(
    ("state", "budget", "outside", "limit", "what"),
    [
        (LoopState(turns=2), Budget(turns=2), Outside(), "turn_limit", "the budget of 2 turns with tools"),
        (LoopState(turns=1, calls=5), Budget(calls=5), Outside(), "call_limit", "the budget of 5 tool calls"),
        (LoopState(turns=1), Budget(seconds=3), Outside(seconds=3.1), "time_limit", "the time of 3 seconds"),
        (
            LoopState(),
            Budget(),
            Outside(granted=0, limit=Limit.of_calls(1, shared=True)),
            "call_limit",
            "the budget of 1 tool call for all runs together",
        ),
        (
            LoopState(),
            Budget(),
            Outside(granted=0, limit=Limit.of_tokens(9)),
            "token_limit",
            "the budget of 9 tokens for all runs together",
        ),
    ],
)
def test_every_limit_has_three_ends(state: LoopState, budget: Budget, outside: Outside, limit: Any, what: str) -> None:
    why = f"not called: {what} is used up. Answer with what you have."

    _, failed = after(state, asks("a", "b"), budget, "fail", outside)
    assert str(failed.error) == f"{what} is used up {ASKED}"
    assert refused(failed) == [("id_a", why), ("id_b", why)]

    closing, closed = after(state, asks("a", "b"), budget, "answer", outside)
    assert isinstance(closed, AskToClose)
    assert refused(closed) == [("id_a", why), ("id_b", why)]
    assert after(closing, AIMessage("3"), budget, "answer", outside)[1] == Answer("3", limit)
    assert isinstance(after(closing, asks("a"), budget, "answer", outside)[1], Fail)

    for _ in range(MAX_REFUSED_REPLIES):
        state, refusing = after(state, asks("c"), budget, "refuse", outside)
        assert isinstance(refusing, AskToClose)
        assert refused(refusing) == [("id_c", why)]
        assert after(state, AIMessage("3"), budget, "refuse", outside)[1] == Answer("3", limit)
    given_up = after(state, asks("c"), budget, "refuse", outside)[1]
    assert str(given_up.error) == f"{what} is used up and the model gave no final answer; raise the limit."


def test_what_the_shared_allowance_does_not_grant_is_refused() -> None:
    reply = asks("a", "b", "c")
    outside = Outside(granted=1, limit=Limit.of_calls(7, shared=True))
    state, found = after(LoopState(), reply, Budget(calls=2), "fail", outside)
    why = "not called: the budget of 7 tool calls for all runs together is used up. Answer with what you have."
    assert (found.calls, refused(found)) == ((reply.tool_calls[0],), [("id_b", why), ("id_c", why)])
    assert state.calls == 1


@pytest.mark.parametrize(
    ("state", "budget", "seconds", "wanted"),
    [
        (LoopState(), Budget(), 0, 3),
        (LoopState(calls=1), Budget(calls=3), 0, 2),
        (LoopState(calls=3), Budget(calls=3), 0, 0),
        (LoopState(turns=4), Budget(turns=4), 0, 0),
        (LoopState(), Budget(seconds=1), 2, 0),
        (LoopState(limit=TURNS), Budget(), 0, 0),
    ],
)
def test_only_calls_that_will_run_are_taken_from_the_shared_allowance(
    state: LoopState, budget: Budget, seconds: float, wanted: int
) -> None:
    assert calls_to_run(state, asks("a", "b", "c"), budget, seconds) == wanted


def test_a_model_that_is_still_thinking_when_the_time_is_up_fails_or_is_asked_to_close() -> None:
    budget = Budget(seconds=2)
    failed = after(LoopState(), None, budget, "fail")[1]
    assert isinstance(failed, Fail)
    assert str(failed.error) == "the time of 2 seconds is used up and the model has not answered; raise the limit."
    state, closed = after(LoopState(), None, budget, "answer")
    assert (closed, state.limit) == (AskToClose(()), Limit.of_seconds(2))
    late = after(state, None, budget, "answer")[1]
    assert "did not give its final answer in time" in str(late.error)


def test_an_allowance_gives_no_more_than_it_has() -> None:
    allowance = Allowance(tokens=10, calls=3)
    assert [allowance.take_calls(2), allowance.take_calls(2), allowance.take_calls(2)] == [2, 1, 0]
    assert allowance.exhausted == Limit.of_calls(3, shared=True)
    allowance.spend(tokens=11)
    assert (allowance.spent.tokens, allowance.spent.calls) == (11, 3)
    assert allowance.exhausted == Limit.of_tokens(10)
    assert Allowance().take_calls(1000) == 1000
    assert Allowance().exhausted is None


@pytest.mark.parametrize("wrong", [{"turns": -1}, {"calls": -1}, {"seconds": 0}, {"seconds_per_call": -0.5}])
def test_a_budget_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        Budget(**wrong)
    with pytest.raises(ConfigurationError, match="tokens"):
        Allowance(tokens=-1)
