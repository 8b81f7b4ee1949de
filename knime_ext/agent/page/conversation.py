"""The messages of a run as a chat; every tool call stands in the reply that asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from knime_ext.agent.data import read_data_lines
from knime_ext.agent.page.blocks import blocks_view, table_card
from knime_ext.agent.page.calls import call_view, lone_result
from knime_ext.agent.page.markdown import prose
from knime_ext.agent.page.texts import duration, shown
from knime_ext.agent.trace import Trace, TraceMessage

__all__ = ["conversation", "final_answer"]

OPEN_CALLS = 6
"""Calls are unfolded in runs with at most so many."""


def final_answer(trace: Trace) -> TraceMessage | None:
    """The message with the answer."""
    said = [message for message in trace.messages if message.role == "assistant" and not message.tool_calls]
    return said[-1] if said and said[-1].content.strip() else None


def conversation(trace: Trace) -> str:
    """The messages as items of a list."""
    unfold = trace.tool_calls <= OPEN_CALLS
    final = final_answer(trace)
    parts: list[str] = []
    turns: set[int] = set()
    for message, answers in _exchanges(trace.messages):
        match message.role:
            case "assistant":
                anchor = f' id="turn-{message.turn}"' if message.turn > 0 and message.turn not in turns else ""
                turns.add(message.turn)
                parts.append(_assistant(message, answers, unfold=unfold, is_answer=message is final, anchor=anchor))
            case "user":
                parts.append(_user(message))
            case "system":
                body = f'<div class="body quiet">{prose(message.content)}</div>'
                parts.append(f'<li class="card message from-system">{_aside("Instructions to the model", body)}</li>')
            case "tool":
                who = f'<header><span class="who">Result of {shown(message.tool or "a tool", 200)}</span></header>'
                parts.append(f'<li class="card message from-tool">{who}{lone_result(message)}</li>')
    return f'<ol class="talk">{"".join(parts)}</ol>'


def _exchanges(messages: Sequence[TraceMessage]) -> Iterator[tuple[TraceMessage, dict[str, TraceMessage]]]:
    """Every message with the answers to its calls; ids may repeat in a long history."""
    index = 0
    while index < len(messages):
        message = messages[index]
        index += 1
        answers: dict[str, TraceMessage] = {}
        wanted = {call.id for call in message.tool_calls}
        while index < len(messages) and messages[index].role == "tool":
            identifier = messages[index].tool_call_id or ""
            if identifier not in wanted or identifier in answers:
                break
            answers[identifier] = messages[index]
            index += 1
        yield message, answers


def _aside(summary: str, body: str) -> str:
    return f'<details class="aside"><summary>{summary}</summary>{body}</details>'


def _user(message: TraceMessage) -> str:
    text, items = read_data_lines(message.content)
    if items:
        tables = "".join(table_card(item.name, f"id {item.id}", item.columns, item.description) for item in items)
        names = shown(", ".join(item.name for item in items), 300)
        said = f'<div class="body quiet">{prose(text)}</div>' if text else ""
        summary = f'<span class="who">Data for tools</span><span class="quiet">{names}</span>'
        body = f'{said}<div class="tables">{tables}</div>'
        return f'<li class="card message from-data">{_aside(summary, body)}</li>'
    return (
        '<li class="card message from-user"><header><span class="who">Question</span></header>'
        f"{prose(message.content)}{blocks_view(message.blocks)}</li>"
    )


def _assistant(
    message: TraceMessage, answers: dict[str, TraceMessage], *, unfold: bool, is_answer: bool, anchor: str
) -> str:
    reasoning = ""
    if message.reasoning:
        reasoning = _aside("Reasoning", f'<div class="body quiet">{prose(message.reasoning)}</div>')
    text = prose(message.content) if message.content.strip() else ""
    calls = "".join(call_view(call, answers.get(call.id), unfold=unfold) for call in message.tool_calls)
    turn = f'<span class="turn">Turn {message.turn}</span>' if message.turn > 0 and message.tool_calls else ""
    return (
        f'<li class="card message from-assistant{" is-answer" if is_answer else ""}"{anchor}><header>'
        f'<span class="who">{"Answer" if is_answer else "Model"}</span>{turn}<span class="when">{_cost(message)}</span>'
        f"</header>{reasoning}{text}{blocks_view(message.blocks)}{calls}</li>"
    )


def _cost(message: TraceMessage) -> str:
    tokens = message.tokens
    said = [f"{tokens.input:,} tokens in, {tokens.output:,} out"] if tokens.total else []
    if message.timing.seconds > 0:
        said.append(duration(message.timing.seconds))
    return " · ".join(said)
