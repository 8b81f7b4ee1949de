"""The timeline of a trace page: for each turn, when the model and when the tools worked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from knime_ext.agent.trace import Timing, Trace, TraceMessage

__all__ = ["duration", "timeline"]

_LANE = 11
_GAP = 3
_MIN_WIDTH = 0.35
_LABELS = {"model": "Model", "workflow": "Workflows", "mcp": "MCP tools", "other": "Other tools", "bad": "Failed calls"}


@dataclass(frozen=True, slots=True)
class _Bar:
    kind: str
    label: str
    timing: Timing


def duration(seconds: float) -> str:
    """A time for people: 0.4 ms, 12 ms, 3.4 s, 2 min 05 s."""
    if seconds < 0.01:
        return f"{seconds * 1000:.1f} ms"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"


def timeline(trace: Trace) -> str:
    """The section with the timeline; empty if the model was never asked."""
    turns = sorted({message.turn for message in trace.messages if message.turn > 0})
    if not turns:
        return ""
    rows = [(turn, _bars(trace, turn)) for turn in turns]
    total = max((bar.timing.start + bar.timing.seconds for _, bars in rows for bar in bars), default=0.0) or 1e-9
    kinds = [kind for kind in _LABELS if any(bar.kind == kind for _, bars in rows for bar in bars)]
    items = "".join(_row(turn, bars, total, is_last=turn == turns[-1]) for turn, bars in rows if bars)
    legend = "".join(f'<span><i class="dot-{kind}"></i>{_LABELS[kind]}</span>' for kind in kinds)
    return (
        '<section>\n<h2>Timeline</h2>\n<div class="card timeline">'
        f'<ol>{items}</ol><p class="legend">{legend}</p></div>\n</section>\n'
    )


def _bars(trace: Trace, turn: int) -> list[_Bar]:
    kinds = {call.id: call.kind for message in trace.messages for call in message.tool_calls}
    spoken = (message for message in trace.messages if message.turn == turn and message.role in ("assistant", "tool"))
    return [_Bar(_kind(message, kinds), message.tool or "Model", message.timing) for message in spoken]


def _kind(message: TraceMessage, kinds: dict[str, str]) -> str:
    if message.role == "assistant":
        return "model"
    kind = kinds.get(message.tool_call_id or "", "")
    return "bad" if message.is_error else kind if kind in ("workflow", "mcp") else "other"


def _row(turn: int, bars: Sequence[_Bar], total: float, *, is_last: bool) -> str:
    model = [bar for bar in bars if bar.kind == "model"]
    lanes = [model, *([bar] for bar in bars if bar.kind != "model")] if len(bars) - len(model) > 1 else [list(bars)]
    height = len(lanes) * (_LANE + _GAP) - _GAP
    shapes = "".join(_lane(lane, number, total) for number, lane in enumerate(lanes))
    begin = min(bar.timing.start for bar in bars)
    end = max(bar.timing.start + bar.timing.seconds for bar in bars)
    label = "Answer" if is_last and len(bars) == len(model) else f"Turn {turn}"
    return (
        f'<li><span class="label">{label}</span><svg height="{height}" role="img" aria-label="{label}">{shapes}</svg>'
        f'<span class="time">{duration(end - begin)}</span></li>'
    )


def _lane(bars: Sequence[_Bar], number: int, total: float) -> str:
    top = number * (_LANE + _GAP)
    shapes = [f'<rect class="lane" x="0" y="{top}" width="100%" height="{_LANE}" rx="3"/>']
    for bar in bars:
        left = min(100 * bar.timing.start / total, 100 - _MIN_WIDTH)
        width = max(100 * bar.timing.seconds / total, _MIN_WIDTH)
        title = escape(f"{bar.label}: {duration(bar.timing.seconds)}")
        shapes.append(
            f'<rect class="bar-{bar.kind}" x="{left:.2f}%" y="{top}" width="{width:.2f}%" height="{_LANE}" rx="3">'
            f"<title>{title}</title></rect>"
        )
    return "".join(shapes)
