"""The agent loop as a pure function: the state and the model's reply give the next step. No clock, model or tool."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage

from knime_ext.errors import AgentError, LimitReached

__all__ = [
    "Answer",
    "AskToClose",
    "Budget",
    "Fail",
    "LoopState",
    "RunTools",
    "Step",
    "StopReason",
    "WhenExhausted",
    "error_message",
    "next_step",
    "text_of",
    "with_call_ids",
]

WhenExhausted = Literal["fail", "answer"]
StopReason = Literal["answered", "turn_limit", "cancelled", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a run may spend.

    Attributes:
        turns: Replies that ask for tools; one reply with three parallel calls is one turn. 0 allows no tools.
        seconds_per_call: Time limit of each tool call; None for no limit.
    """

    turns: int = 25
    seconds_per_call: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopState:
    """Where a run stands.

    Attributes:
        turns: Turns used up.
        closing: True after the budget is used up and the model was asked for its final answer.
    """

    turns: int = 0
    closing: bool = False


@dataclass(frozen=True, slots=True)
class RunTools:
    """Run `calls` in parallel; `rejected` answers the calls that could not be read."""

    calls: tuple[ToolCall, ...]
    rejected: tuple[ToolMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class AskToClose:
    """The budget is used up: answer the calls with `refusals`, then ask the model for its answer without tools."""

    refusals: tuple[ToolMessage, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The run is over with an answer."""

    text: str
    stop_reason: StopReason


@dataclass(frozen=True, slots=True)
class Fail:
    """The run is over without an answer; `refusals` answers calls that are still open."""

    error: AgentError
    refusals: tuple[ToolMessage, ...] = ()


Step = RunTools | AskToClose | Answer | Fail

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


def error_message(call_id: str, name: str | None, text: str) -> ToolMessage:
    """A failed or refused call, as the model gets it."""
    return ToolMessage(content=text, tool_call_id=call_id, name=name, status="error")


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
    state: LoopState, reply: AIMessage, budget: Budget, when_exhausted: WhenExhausted
) -> tuple[LoopState, Step]:
    """What to do after a reply of the model.

    Args:
        state: Where the run stands.
        reply: The model's reply, every call with an id (`with_call_ids`).
        budget: What the run may spend.
        when_exhausted: "fail" ends with LimitReached, "answer" asks the model for an answer without tools.
    """
    wants_tools = bool(reply.tool_calls or reply.invalid_tool_calls)
    if not wants_tools or state.closing:
        return state, _last(reply, closing=state.closing)
    if state.turns < budget.turns:
        return replace(state, turns=state.turns + 1), RunTools(tuple(reply.tool_calls), _rejected(reply))
    refusals = _refusals(reply, budget)
    if when_exhausted == "answer":
        return replace(state, closing=True), AskToClose(refusals)
    return state, Fail(_limit_reached(budget), refusals)


def _limit_reached(budget: Budget) -> LimitReached:
    return LimitReached(
        f"the budget of {_turns(budget)} is used up and the model still asks for tools; raise the limit, "
        "or let the model answer without tools when it is reached."
    )


def _turns(budget: Budget) -> str:
    return f"{budget.turns} turn{'' if budget.turns == 1 else 's'}"


def _finish_reason(reply: AIMessage) -> str:
    facts = cast("Mapping[str, Any]", reply.response_metadata)  # pyright: ignore[reportUnknownMemberType]
    details = facts.get("incomplete_details")
    reason = cast("dict[str, Any]", details).get("reason") if isinstance(details, dict) else None
    return str(facts.get("finish_reason") or facts.get("stop_reason") or reason or "").lower()


def _last(reply: AIMessage, *, closing: bool) -> Step:
    text, reason = text_of(reply), _finish_reason(reply)
    if text.strip():
        return Answer(text, "turn_limit" if closing else "answered")
    if reason in _CUT_OFF:
        return Fail(
            AgentError(
                "the model used up its output tokens before it answered; raise the model's limit of output tokens."
            )
        )
    if reason in _FILTERED:
        return Fail(AgentError("the model's answer was withheld by its content filter; rephrase the prompt."))
    if closing:
        return Fail(
            LimitReached("the budget of turns is used up and the model gave no answer without tools; raise the limit.")
        )
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


def _refusals(reply: AIMessage, budget: Budget) -> tuple[ToolMessage, ...]:
    text = f"not called: the budget of {_turns(budget)} with tools is used up. Answer with what you have."
    calls = [(call["id"], call["name"]) for call in [*reply.tool_calls, *reply.invalid_tool_calls]]
    return tuple(error_message(identifier or "", name, text) for identifier, name in calls)
