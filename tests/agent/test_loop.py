"""The loop as a table: state and reply in, next step out."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from knime_ext.agent.loop import (
    Answer,
    AskToClose,
    Budget,
    Fail,
    LoopState,
    RunTools,
    next_step,
    text_of,
    with_call_ids,
)
from knime_ext.errors import AgentError, LimitReached


def asks(*names: str, **more: Any) -> AIMessage:
    calls: list[Any] = [{"name": name, "args": {}, "id": f"id_{name}", "type": "tool_call"} for name in names]
    return AIMessage(content=more.pop("content", ""), tool_calls=calls, **more)


def garbled(name: str = "search", finish: str = "tool_calls") -> AIMessage:
    call = {"name": name, "args": '{"q": ', "id": "id_x", "error": "Expecting value", "type": "invalid_tool_call"}
    return AIMessage(content="", invalid_tool_calls=[call], response_metadata={"finish_reason": finish})


def step(reply: AIMessage, *, turns: int = 0, closing: bool = False, budget: int = 2, then: Any = "fail") -> Any:
    return next_step(LoopState(turns=turns, closing=closing), reply, Budget(turns=budget), then)


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
    assert state == LoopState(turns=2)


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
    assert state == LoopState(turns=2, closing=True)


def test_a_budget_of_zero_turns_allows_an_answer_but_no_tools() -> None:
    assert step(AIMessage(content="hi"), budget=0)[1] == Answer("hi", "answered")
    assert isinstance(step(asks("a"), budget=0, then="answer")[1], AskToClose)


def test_the_final_answer_counts_even_if_the_model_asks_for_tools_again() -> None:
    assert step(asks("a", content="so far: 3"), turns=2, closing=True)[1] == Answer("so far: 3", "turn_limit")


def test_a_model_that_never_answers_after_the_limit_fails() -> None:
    found = step(asks("a"), turns=2, closing=True)[1]
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
