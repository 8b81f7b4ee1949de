"""The timeline of a run: for each turn, when the model and when the tools worked, and what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from knime_ext.agent.page.texts import duration, shown
from knime_ext.agent.trace import Timing, Tokens, Trace, TraceMessage

__all__ = ["spent", "timeline"]

_LANE = 11
_GAP = 3
_MAX_LANES = 12
_MIN_WIDTH = 0.35
_LABELS = {"model": "Model", "workflow": "Workflows", "mcp": "MCP tools", "other": "Other tools", "bad": "Failed calls"}


@dataclass(frozen=True, slots=True)
class _Bar:
    kind: str
    label: str
    timing: Timing

    @property
    def end(self) -> float:
        return self.timing.start + self.timing.seconds


@dataclass(frozen=True, slots=True)
class _Turn:
    number: int
    bars: Sequence[_Bar]
    tokens: Tokens
    is_answer: bool


def spent(trace: Trace) -> tuple[float, float]:
    """Seconds in which the model worked, and in which at least one tool did."""
    model = sum(
        message.timing.seconds for message in trace.messages if message.role == "assistant" and message.turn > 0
    )
    spans = sorted(
        (message.timing.start, message.timing.start + message.timing.seconds)
        for message in trace.messages
        if message.role == "tool" and message.turn > 0
    )
    tools, until = 0.0, 0.0
    for start, end in spans:
        tools += max(0.0, end - max(start, until))
        until = max(until, end)
    return model, tools


def timeline(trace: Trace) -> str:
    """The timeline; empty if the model was never asked or nobody took the time."""
    turns = [turn for turn in _turns(trace) if turn.bars]
    total = max((bar.end for turn in turns for bar in turn.bars), default=0.0)
    if total <= 0:
        return ""
    kinds = [kind for kind in _LABELS if any(bar.kind == kind for turn in turns for bar in turn.bars)]
    with_tokens = any(turn.tokens.total for turn in turns)
    items = "".join(_row(turn, total, with_tokens=with_tokens) for turn in turns)
    legend = "".join(f'<span><i class="dot-{kind}"></i>{_LABELS[kind]}</span>' for kind in kinds)
    return (
        f'<div class="card timeline{" with-tokens" if with_tokens else ""}"><ol>{items}</ol>'
        f'<p class="legend">{legend}<span class="axis">0 to {duration(total)}</span></p></div>'
    )


def _turns(trace: Trace) -> list[_Turn]:
    kinds = {call.id: call.kind for message in trace.messages for call in message.tool_calls}
    said: dict[int, list[TraceMessage]] = {}
    for message in trace.messages:
        if message.turn > 0 and message.role in ("assistant", "tool"):
            said.setdefault(message.turn, []).append(message)
    return [
        _Turn(
            turn,
            [_Bar(_kind(message, kinds), message.tool or "Model", message.timing) for message in messages],
            sum((message.tokens for message in messages), Tokens()),
            not any(message.role == "tool" or message.tool_calls for message in messages),
        )
        for turn, messages in sorted(said.items())
    ]


def _kind(message: TraceMessage, kinds: dict[str, str]) -> str:
    if message.role == "assistant":
        return "model"
    kind = kinds.get(message.tool_call_id or "", "")
    return "bad" if message.is_error else kind if kind in ("workflow", "mcp") else "other"


def _row(turn: _Turn, total: float, *, with_tokens: bool) -> str:
    lanes = _lanes(turn.bars)
    height = len(lanes) * (_LANE + _GAP) - _GAP
    shapes = "".join(_lane(lane, number, total) for number, lane in enumerate(lanes))
    label = "Answer" if turn.is_answer else f"Turn {turn.number}"
    told = shown(f"{label}: " + ", ".join(f"{bar.label} {duration(bar.timing.seconds)}" for bar in turn.bars), 500)
    seconds = max(bar.end for bar in turn.bars) - min(bar.timing.start for bar in turn.bars)
    tokens = f'<span class="tokens">{_tokens(turn.tokens)}</span>' if with_tokens else ""
    return (
        f'<li><a class="label" href="#turn-{turn.number}">{label}</a>'
        f'<svg height="{height}" role="img" aria-label="{told}">{shapes}</svg>'
        f'<span class="time">{duration(seconds)}</span>{tokens}</li>'
    )


def _tokens(tokens: Tokens) -> str:
    if not tokens.total:
        return ""
    return f'<span title="{tokens.input:,} in, {tokens.output:,} out">{tokens.total:,} tokens</span>'


def _lanes(bars: Sequence[_Bar]) -> list[list[_Bar]]:
    """One lane if nothing ran side by side; else the model's, and one for each call up to a limit."""
    model = [bar for bar in bars if bar.kind == "model"]
    calls = [bar for bar in bars if bar.kind != "model"]
    if len(calls) < 2:
        return [list(bars)]
    lanes = [model, *([bar] for bar in calls[:_MAX_LANES])]
    for number, bar in enumerate(calls[_MAX_LANES:]):
        lanes[1 + number % _MAX_LANES].append(bar)
    return [lane for lane in lanes if lane]


def _lane(bars: Sequence[_Bar], number: int, total: float) -> str:
    top = number * (_LANE + _GAP)
    shapes = [f'<rect class="lane" x="0" y="{top}" width="100%" height="{_LANE}" rx="3"/>']
    for bar in bars:
        left = min(100 * bar.timing.start / total, 100 - _MIN_WIDTH)
        width = max(100 * bar.timing.seconds / total, _MIN_WIDTH)
        title = shown(f"{bar.label}: {duration(bar.timing.seconds)}", 300)
        shapes.append(
            f'<rect class="bar-{bar.kind}" x="{left:.2f}%" y="{top}" width="{width:.2f}%" height="{_LANE}" rx="3">'
            f"<title>{title}</title></rect>"
        )
    return "".join(shapes)
