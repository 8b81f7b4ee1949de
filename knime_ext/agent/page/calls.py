"""Tool calls with what came back, and the calls that a piece of code has made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from knime_ext.agent.data import read_data_lines
from knime_ext.agent.page.blocks import CALLS, blocks_view, handed_over, part, result_text
from knime_ext.agent.page.json_view import arguments_view, one_line
from knime_ext.agent.page.texts import counted, duration, shown
from knime_ext.agent.trace import TraceCall, TraceMessage

__all__ = ["call_view", "lone_result"]

MAX_INNER_CALLS = 500
"""Calls of one piece of code that are shown."""

_LABELS = {"workflow": "Workflow", "mcp": "MCP tool", "code": "Code"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """A call and its answer, from the model or from code."""

    tool: str
    kind: str
    arguments: Any
    body: str
    is_error: bool = False
    seconds: float = 0.0
    origin: str = ""
    inner: Sequence[Mapping[str, Any]] = field(default_factory=tuple)


def call_view(call: TraceCall, answer: TraceMessage | None, *, unfold: bool) -> str:
    """A call of the model.

    Args:
        call: What the model asked for.
        answer: The message that answers it, if there is one.
        unfold: Whether it starts unfolded; a failed call always does.
    """
    if answer is None:
        nothing = part("Result", '<p class="quiet">none</p>')
        return _view(_Shown(tool=call.tool, kind=call.kind, arguments=call.arguments, body=nothing), unfold=unfold)
    return _view(
        _Shown(
            tool=call.tool,
            kind=call.kind,
            arguments=call.arguments,
            body=_result(answer),
            is_error=answer.is_error,
            seconds=answer.timing.seconds,
            origin=_origin(answer),
            inner=_inner(answer),
        ),
        unfold=unfold,
    )


def lone_result(answer: TraceMessage) -> str:
    """A result whose call is not in the conversation, as in a history that was cut."""
    return f'<div class="inside">{_result(answer)}</div>'


def _origin(answer: TraceMessage) -> str:
    return answer.origin or ""


def _result(answer: TraceMessage) -> str:
    text, _ = read_data_lines(answer.content)
    return _text_part(text, answer.is_error) + blocks_view(answer.blocks) + handed_over(answer.tables)


def _text_part(text: str, is_error: bool) -> str:
    if not text:
        return ""
    return part("Error" if is_error else "Result", result_text(text), "error" if is_error else "")


def _view(call: _Shown, *, unfold: bool) -> str:
    preview = one_line(call.arguments)[:200] if call.arguments else ""
    kind = f"dot-{call.kind}" if call.kind in _LABELS else ""
    label = _LABELS.get(call.kind, "Tool")
    failed = '<span class="tag bad">failed</span>' if call.is_error else ""
    origin = f'<p class="origin">Result from: <bdi>{_from(call.origin)}</bdi></p>' if call.origin else ""
    state = f'class="call{" failed" if call.is_error else ""}"{" open" if unfold or call.is_error else ""}'
    arguments = part("Arguments", arguments_view(call.arguments))
    return (
        f"<details {state}><summary>"
        f'<span class="kind {kind}"></span><span class="tool"><bdi>{shown(call.tool, 200)}</bdi></span>'
        f'<span class="preview">{shown(preview)}</span>{failed}<span class="tag">{label}</span>'
        f'<span class="time">{duration(call.seconds) if call.seconds else ""}</span></summary>'
        f'<div class="inside">{arguments}{_inner_calls(call.inner)}{call.body}{origin}</div></details>'
    )


def _from(origin: str) -> str:
    return "the agent itself, not the tool" if origin == "agent" else shown(origin, 300)


def _inner(answer: TraceMessage) -> list[Mapping[str, Any]]:
    lists = [block.get("calls") for block in answer.blocks if block.get("type") == CALLS]
    return [
        call
        for calls in lists
        if isinstance(calls, list)
        for call in cast("list[Any]", calls)
        if isinstance(call, Mapping)
    ]


def _inner_calls(calls: Sequence[Mapping[str, Any]]) -> str:
    if not calls:
        return ""
    views = "".join(_view(_of_block(call), unfold=False) for call in calls[:MAX_INNER_CALLS])
    left = len(calls) - MAX_INNER_CALLS
    more = f'<p class="more">{counted(left, "more call")}</p>' if left > 0 else ""
    failed = sum(bool(call.get("is_error")) for call in calls)
    size = counted(len(calls), "call") + (f", {failed:,} failed" if failed else "")
    return part(f"Called by the code: {size}", f'<div class="nested">{views}{more}</div>')


def _of_block(call: Mapping[str, Any]) -> _Shown:
    text, seconds, is_error = str(call.get("text") or ""), call.get("seconds"), bool(call.get("is_error"))
    return _Shown(
        tool=str(call.get("tool") or "?"),
        kind=str(call.get("kind") or ""),
        arguments=call.get("arguments"),
        body=_text_part(text, is_error),
        is_error=is_error,
        seconds=float(seconds) if isinstance(seconds, (int, float)) else 0.0,
        origin=str(call.get("origin") or ""),
    )
