"""The agent loop as a pure function: the state and the model's reply give the next step. No clock, model or tool."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage

from knime_ext.agent.answer_format import AnswerFormat, InvalidAnswer
from knime_ext.agent.budget import Budget, Limit, Outside, StopReason, WhenExhausted
from knime_ext.agent.origin import AGENT, marked
from knime_ext.errors import AgentError, LimitReached

__all__ = [
    "Answer",
    "AskAgain",
    "AskToClose",
    "Budget",
    "Fail",
    "LoopState",
    "RunTools",
    "Step",
    "StopReason",
    "WhenExhausted",
    "calls_to_run",
    "error_message",
    "in_form",
    "next_step",
    "reasoning_of",
    "text_of",
    "with_call_ids",
]

MAX_REFUSED_REPLIES = 3
"""Replies that ask for tools after a limit, before the run is given up ("refuse" keeps the tools on offer)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopState:
    """Where a run stands.

    Attributes:
        turns: Turns used up.
        calls: Tool calls made.
        limit: What is used up, so that the next reply is to be the last; None before that.
        refused: Replies whose calls were refused because of the limit.
        misfits: Answers that were not in the asked form.
    """

    turns: int = 0
    calls: int = 0
    limit: Limit | None = None
    refused: int = 0
    misfits: int = 0


@dataclass(frozen=True, slots=True)
class RunTools:
    """Run `calls` in parallel; `rejected` answers the calls that are too many or could not be read."""

    calls: tuple[ToolCall, ...]
    rejected: tuple[ToolMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class AskToClose:
    """A limit is reached: answer the calls with `refusals`, then ask the model for its answer."""

    refusals: tuple[ToolMessage, ...]


@dataclass(frozen=True, slots=True)
class AskAgain:
    """The answer is not in the asked form: tell the model why and ask once more."""

    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The run is over with an answer; `structured` is what it holds if a form was asked for."""

    text: str
    stop_reason: StopReason
    structured: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """The run is over without an answer; `refusals` answers calls that are still open."""

    error: AgentError
    refusals: tuple[ToolMessage, ...] = ()


Step = RunTools | AskToClose | AskAgain | Answer | Fail

_CUT_OFF = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_FILTERED = frozenset({"content_filter", "safety", "refusal", "blocklist", "prohibited_content", "recitation"})


def text_of(message: BaseMessage) -> str:
    """The text of a message, also where its content is a list of blocks."""
    content = cast("str | list[str | dict[str, Any]]", message.content)  # pyright: ignore[reportUnknownMemberType]
    if isinstance(content, str):
        return content
    texts = (block if isinstance(block, str) else str(block.get("text") or "") for block in content if _is_text(block))
    return "".join(texts)


def _is_text(block: str | Mapping[str, Any]) -> bool:
    return isinstance(block, str) or block.get("type") in ("text", "output_text")


def reasoning_of(message: AIMessage) -> str:
    """What a model shows of its reasoning."""
    parts = [cast("Mapping[str, Any]", block) for block in message.content_blocks if block["type"] == "reasoning"]
    shown = "\n".join(text for part in parts if (text := str(part.get("reasoning") or "")))
    facts = cast("Mapping[str, Any]", message.additional_kwargs)  # pyright: ignore[reportUnknownMemberType]
    return shown or str(facts.get("reasoning_content") or "")


def error_message(call_id: str, name: str | None, text: str) -> ToolMessage:
    """A failed or refused call, as the model gets it; it comes from here and not from a tool."""
    return marked(ToolMessage(content=text, tool_call_id=call_id, name=name, status="error"), AGENT)


def with_call_ids(reply: AIMessage, turn: int, taken: Collection[str] = ()) -> AIMessage:
    """The reply with an id of its own for every call; some models leave ids out or repeat them in every reply."""
    seen = set(taken)

    def renamed(calls: Sequence[Mapping[str, Any]], kind: str) -> list[dict[str, Any]]:
        changed: list[dict[str, Any]] = []
        for position, call in enumerate(calls, start=1):
            identifier = call.get("id") or ""
            if not identifier or identifier in seen:
                identifier = f"{kind}_{turn}_{position}"
            seen.add(identifier)
            changed.append({**call, "id": identifier})
        return changed

    if not reply.tool_calls and not reply.invalid_tool_calls:
        return reply
    calls = renamed(reply.tool_calls, "call")
    invalid = renamed(reply.invalid_tool_calls, "invalid")
    return reply.model_copy(update={"tool_calls": calls, "invalid_tool_calls": invalid})


def next_step(
    state: LoopState,
    reply: AIMessage | None,
    budget: Budget,
    when_exhausted: WhenExhausted,
    outside: Outside = Outside(),  # noqa: B008 - a frozen value
) -> tuple[LoopState, Step]:
    """What to do after a reply of the model.

    Args:
        state: Where the run stands.
        reply: The model's reply, every call with an id (`with_call_ids`); None if the model was stopped because the
            time of the run is used up.
        budget: What the run may spend.
        when_exhausted: "fail" ends with LimitReached; "answer" asks the model for an answer without tools; "refuse"
            refuses every further call, and the model answers from what it has.
        outside: The time, and what the allowance of all runs says.
    """
    if reply is None:
        return _out_of_time(state, budget, when_exhausted)
    wants_tools = bool(reply.tool_calls or reply.invalid_tool_calls)
    if not wants_tools:
        return state, _last(reply, state.limit)
    limit = state.limit or _reached(state, budget, outside)
    if limit is None:
        return _run_tools(state, reply, budget, outside)
    return _refuse(state, reply, limit, when_exhausted)


def in_form(state: LoopState, step: Step, form: AnswerFormat | None) -> tuple[LoopState, Step]:
    """The same step, or another one if it is an answer that is not in the asked form."""
    if form is None or not isinstance(step, Answer):
        return state, step
    try:
        return state, replace(step, structured=form.read(step.text))
    except InvalidAnswer as error:
        wrong = str(error)
    attempts = state.misfits + 1
    if attempts >= form.attempts:
        counted = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        return state, Fail(
            AgentError(
                f"the model gave no answer in the asked form within {counted}: {wrong}; "
                "describe the fields more clearly, allow more attempts or use a stronger model."
            )
        )
    reason = f"This answer is not in the asked form: {wrong}. Answer again with one JSON object that fits the schema."
    return replace(state, misfits=attempts), AskAgain(reason)


def calls_to_run(state: LoopState, reply: AIMessage, budget: Budget, seconds: float) -> int:
    """How many calls of a reply the run's own budget allows: as many as are to be taken from a shared allowance."""
    if state.limit or _reached(state, budget, Outside(seconds=seconds)):
        return 0
    wanted = len(reply.tool_calls)
    return wanted if budget.calls is None else min(wanted, budget.calls - state.calls)


def _reached(state: LoopState, budget: Budget, outside: Outside) -> Limit | None:
    if budget.seconds is not None and outside.seconds >= budget.seconds:
        return Limit.of_seconds(budget.seconds)
    if state.turns >= budget.turns:
        return Limit.of_turns(budget.turns)
    if budget.calls is not None and state.calls >= budget.calls:
        return Limit.of_calls(budget.calls)
    # Of the shared calls, this reply may just have got the last ones.
    return None if outside.granted else outside.limit


def _run_tools(state: LoopState, reply: AIMessage, budget: Budget, outside: Outside) -> tuple[LoopState, Step]:
    own = len(reply.tool_calls) if budget.calls is None else budget.calls - state.calls
    fitting = own if outside.granted is None else min(own, outside.granted)
    calls, rest = reply.tool_calls[:fitting], reply.tool_calls[fitting:]
    limit = outside.limit if fitting < own else Limit.of_calls(budget.calls or 0)
    refusals = _refusals(rest, limit) if rest and limit else ()
    advanced = replace(state, turns=state.turns + 1, calls=state.calls + len(calls))
    return advanced, RunTools(tuple(calls), (*refusals, *_rejected(reply)))


def _refuse(state: LoopState, reply: AIMessage, limit: Limit, when_exhausted: WhenExhausted) -> tuple[LoopState, Step]:
    refusals = _refusals([*reply.tool_calls, *reply.invalid_tool_calls], limit)
    if when_exhausted == "fail":
        return state, Fail(_limit_reached(limit), refusals)
    rounds = MAX_REFUSED_REPLIES if when_exhausted == "refuse" else 1
    if state.refused >= rounds or (state.limit and when_exhausted == "answer"):
        return state, _last(reply, limit)
    return replace(state, limit=limit, refused=state.refused + 1), AskToClose(refusals)


def _out_of_time(state: LoopState, budget: Budget, when_exhausted: WhenExhausted) -> tuple[LoopState, Step]:
    limit = Limit.of_seconds(budget.seconds or 0.0)
    if when_exhausted == "fail" or state.limit:
        why = "the model has not answered" if state.limit is None else "the model did not give its final answer in time"
        return state, Fail(LimitReached(f"{limit.what} is used up and {why}; raise the limit."))
    return replace(state, limit=limit), AskToClose(())


def _limit_reached(limit: Limit) -> LimitReached:
    return LimitReached(
        f"{limit.what} is used up and the model still asks for tools; raise the limit, "
        "or let the model answer from what it has when it is reached."
    )


def _finish_reason(reply: AIMessage) -> str:
    facts = cast("Mapping[str, Any]", reply.response_metadata)  # pyright: ignore[reportUnknownMemberType]
    details = facts.get("incomplete_details")
    reason = cast("dict[str, Any]", details).get("reason") if isinstance(details, dict) else None
    return str(facts.get("finish_reason") or facts.get("stop_reason") or reason or "").lower()


def _last(reply: AIMessage, limit: Limit | None) -> Step:
    text, reason = text_of(reply), _finish_reason(reply)
    if text.strip():
        return Answer(text, limit.stop_reason if limit else "answered")
    if reason in _CUT_OFF:
        return Fail(
            AgentError(
                "the model used up its output tokens before it answered; raise the model's limit of output tokens."
            )
        )
    if reason in _FILTERED:
        return Fail(AgentError("the model's answer was withheld by its content filter; rephrase the prompt."))
    if limit:
        return Fail(LimitReached(f"{limit.what} is used up and the model gave no final answer; raise the limit."))
    return Answer(text, "answered")


def _rejected(reply: AIMessage) -> tuple[ToolMessage, ...]:
    """Answers to the calls whose arguments are no JSON."""
    cut = _finish_reason(reply) in _CUT_OFF
    messages: list[ToolMessage] = []
    for call in reply.invalid_tool_calls:
        name = call["name"] or "unknown"
        why = "it was cut off at the limit of output tokens" if cut else call["error"] or "its arguments are no JSON"
        repair = "Make the call shorter." if cut else "Send the arguments as one valid JSON object."
        text = f"the call of {name!r} could not be read: {why}. {repair}"
        messages.append(error_message(call["id"] or "", call["name"], text))
    return tuple(messages)


def _refusals(calls: Sequence[Mapping[str, Any]], limit: Limit) -> tuple[ToolMessage, ...]:
    text = f"not called: {limit.what} is used up. Answer with what you have."
    return tuple(error_message(call["id"] or "", call["name"], text) for call in calls)
