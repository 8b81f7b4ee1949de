"""A trace as one HTML page that needs nothing else: no network, no script, no fonts.

Whatever comes from a model, a tool or a table is escaped; the page's security policy forbids everything but its own
style sheet and images that are in the page.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from knime_ext.agent.data import read_data_lines
from knime_ext.agent.trace import Trace, TraceCall, TraceMessage, TraceTable
from knime_ext.agent.trace_style import STYLE
from knime_ext.agent.trace_timeline import duration, timeline

__all__ = ["render_trace"]

MAX_TEXT = 20_000
"""Characters of one text that are shown."""

ONE_LINE = 72
"""Characters of JSON that are shown on one line."""

OPEN_CALLS = 6
"""Calls are unfolded in runs with at most so many."""

_STOPS = {
    "answered": ("Answered", ""),
    "turn_limit": ("Turn limit reached", " bad"),
    "cancelled": ("Cancelled", " bad"),
    "failed": ("Failed", " bad"),
}

_JSON_TOKEN = re.compile(r'("(?:\\.|[^"\\])*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\btrue\b|\bfalse\b|\bnull\b)')
_BOLD = re.compile(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*")
_CODE = re.compile(r"`([^`\n<>]+)`")
_IMAGE_TYPE = re.compile(r"^image/[a-z0-9.+-]+$")
_BASE64 = re.compile(r"^[A-Za-z0-9+/=\s]+$")


def render_trace(trace: Trace, title: str = "Agent run") -> str:
    """Renders the page.

    Args:
        trace: What happened.
        title: Heading of the page, such as the node's name.
    """
    style_hash = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{style_hash}'; img-src data:; base-uri 'none'; form-action 'none'"
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{_head(trace, title)}{timeline(trace)}{_talk(trace)}"
        "<footer>Times are wall-clock times of this run.</footer>\n</main>\n</body>\n</html>\n"
    )


def _head(trace: Trace, title: str) -> str:
    label, kind = _STOPS.get(trace.stop_reason, (trace.stop_reason, " bad"))
    notice = f'<p class="notice">{escape(trace.error)}</p>\n' if trace.error else ""
    tokens = trace.tokens
    shown_tokens = (
        f"{tokens.total:,} <small>{tokens.input:,} in, {tokens.output:,} out</small>" if tokens.total else "–"
    )
    facts = [
        ("Model", escape(trace.model)),
        ("Turns", str(trace.turns)),
        ("Tool calls", str(trace.tool_calls)),
        ("Tokens", shown_tokens),
        ("Time", duration(trace.seconds)),
        ("Started", _started(trace.started_at)),
    ]
    cells = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    return (
        f'<header>\n<p class="eyebrow"><span class="title">{escape(title)}</span>'
        f'<span class="badge{kind}">{escape(label)}</span></p>\n'
        f"<h1>{escape(_shortened(trace.question, 600))}</h1>\n{_lead(trace)}"
        f'<dl class="facts">{cells}</dl>\n{notice}</header>\n'
    )


def _started(moment: str) -> str:
    day, _, time = escape(moment[:19]).partition("T")
    return f"{day} <small>{time} UTC</small>" if moment else "–"


def _final(trace: Trace) -> TraceMessage | None:
    """The message with the answer."""
    said = [message for message in trace.messages if message.role == "assistant" and not message.tool_calls]
    return said[-1] if said and said[-1].content.strip() else None


def _lead(trace: Trace) -> str:
    """The answer below the question, for readers in a hurry."""
    final = _final(trace)
    return f'<p class="lead">{_prose(final.content, 1200)}</p>\n' if final else ""


def _talk(trace: Trace) -> str:
    answers = {message.tool_call_id: message for message in trace.messages if message.role == "tool"}
    unfold = trace.tool_calls <= OPEN_CALLS
    final = _final(trace)
    parts: list[str] = []
    for message in trace.messages:
        match message.role:
            case "assistant":
                parts.append(_assistant(message, answers, unfold=unfold, is_answer=message is final))
            case "user":
                parts.append(_user(message))
            case "system":
                body = f'<div class="body text quiet">{_text(message.content)}</div>'
                parts.append(f'<li class="card message from-system">{_aside("Instructions to the model", body)}</li>')
            case "tool":
                continue  # shown inside its call
    return f'<section>\n<h2>Conversation</h2>\n<ol class="talk">{"".join(parts)}</ol>\n</section>\n'


def _aside(summary: str, body: str, *, unfold: bool = False) -> str:
    return f'<details class="aside"{" open" if unfold else ""}><summary>{summary}</summary>{body}</details>'


def _user(message: TraceMessage) -> str:
    text, items = read_data_lines(message.content)
    if items:
        tables = "".join(_table_card(item.name, f"id {item.id}", item.columns, item.description) for item in items)
        names = escape(", ".join(item.name for item in items))
        said = f'<p class="text quiet body">{_text(text)}</p>' if text else ""
        body = f'{said}<div class="tables">{tables}</div>'
        summary = f'<span class="who">Data for tools</span><span class="quiet">{names}</span>'
        return f'<li class="card message">{_aside(summary, body)}</li>'
    body = f'<p class="text">{_text(message.content)}</p>{_blocks(message.blocks)}'
    return f'<li class="card message from-user"><header><span class="who">Question</span></header>{body}</li>'


def _assistant(
    message: TraceMessage, answers: Mapping[str | None, TraceMessage], *, unfold: bool, is_answer: bool
) -> str:
    who = "Answer" if is_answer else "Model"
    reasoning = ""
    if message.reasoning:
        reasoning = _aside("Reasoning", f'<div class="body text quiet">{_text(message.reasoning)}</div>')
    tone = "" if is_answer else " quiet"
    text = f'<p class="text{tone}">{_prose(message.content, MAX_TEXT)}</p>' if message.content.strip() else ""
    calls = "".join(_call(call, answers.get(call.id), unfold=unfold) for call in message.tool_calls)
    return (
        f'<li class="card message from-assistant"><header>'
        f'<span class="who">{who}</span><span class="when">{duration(message.timing.seconds)}</span></header>'
        f"{reasoning}{text}{calls}</li>"
    )


def _call(call: TraceCall, answer: TraceMessage | None, *, unfold: bool) -> str:
    failed = answer is not None and answer.is_error
    preview = json.dumps(call.arguments, ensure_ascii=False, default=str) if call.arguments else ""
    kind = {"workflow": "dot-workflow", "mcp": "dot-mcp"}.get(call.kind, "")
    label = {"workflow": "Workflow", "mcp": "MCP tool"}.get(call.kind, "Tool")
    time = duration(answer.timing.seconds) if answer and answer.timing.seconds else ""
    return (
        f'<details class="call"{" open" if unfold or failed else ""}><summary>'
        f'<span class="kind {kind}"></span><span class="tool">{escape(call.tool)}</span>'
        f'<span class="preview">{escape(preview[:200])}</span>'
        f'<span class="tag{" bad" if failed else ""}">{"failed" if failed else label}</span>'
        f'<span class="time">{time}</span></summary>'
        f'<div class="inside">{_part("Arguments", _json(call.arguments))}{_result(answer)}</div></details>'
    )


def _part(heading: str, body: str, kind: str = "") -> str:
    return f"<div{f' class={kind}' if kind else ''}><h3>{heading}</h3>{body}</div>"


def _result(answer: TraceMessage | None) -> str:
    if answer is None:
        return _part("Result", '<p class="quiet">none</p>')
    text, _ = read_data_lines(answer.content)
    heading, kind = ("Error", "error") if answer.is_error else ("Result", "")
    shown = _part(heading, _value_text(text), kind) if text else ""
    tables = "".join(_handed_over(table) for table in answer.tables)
    return (
        shown
        + _blocks(answer.blocks)
        + (_part("Data handed over", f'<div class="tables">{tables}</div>') if tables else "")
    )


def _handed_over(table: TraceTable) -> str:
    rows = f"{table.rows:,} row{'' if table.rows == 1 else 's'}"
    return _table_card(table.name, f"id {table.id}, {rows}, {len(table.columns)} columns", table.columns)


def _table_card(name: str, size: str, columns: Mapping[str, str], about: str = "") -> str:
    chips = "".join(f"<li>{escape(column)}<em>{escape(kind)}</em></li>" for column, kind in columns.items())
    described = f'<p class="quiet">{escape(about)}</p>' if about else ""
    return (
        f'<div class="table"><span class="name">{escape(name)}</span> <span class="size">{escape(size)}</span>'
        f'{described}<ul class="chips">{chips}</ul></div>'
    )


def _blocks(blocks: Sequence[Mapping[str, Any]]) -> str:
    return "".join(map(_block, blocks))


def _block(block: Mapping[str, Any]) -> str:
    """A content block that is no text; what cannot be shown is named."""
    kind, mime, data = str(block.get("type")), str(block.get("mimeType", "")), block.get("data")
    if kind == "image" and isinstance(data, str) and _IMAGE_TYPE.match(mime) and _BASE64.match(data):
        source = f"data:{mime};base64,{''.join(data.split())}"
        return f'<figure><img alt="Image from the tool" src="{escape(source)}"></figure>'
    if kind in ("image", "audio"):
        size = block.get("omitted_bytes") or len(str(data or "")) * 3 // 4
        return _part(kind.capitalize(), f'<p class="quiet">{escape(mime or "unknown type")}, {size:,} bytes</p>')
    if kind == "resource_link":
        return _part("Link", f"<pre>{_text(str(block.get('uri', '')))}</pre>")
    return _part("Resource" if kind == "resource" else escape(kind), _json(dict(block)))


def _text(text: str) -> str:
    return escape(_shortened(text, MAX_TEXT))


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}… ({len(text) - length:,} more characters)"


def _prose(text: str, length: int) -> str:
    """A model's text with the two marks that nearly all of them use: **bold** and `code`."""
    escaped = escape(_shortened(text.strip(), length), quote=False)
    return _CODE.sub(r"<code>\1</code>", _BOLD.sub(r"<strong>\1</strong>", escaped))


def _value_text(text: str) -> str:
    """A result as a block: laid out if it is JSON."""
    try:
        value = json.loads(text) if text.lstrip()[:1] in ("{", "[") else None
    except (ValueError, RecursionError):
        value = None
    return f"<pre>{_text(text)}</pre>" if value is None else _json(value)


def _json(value: Any) -> str:
    line = json.dumps(value, ensure_ascii=False, default=str)
    text = line if len(line) <= ONE_LINE else json.dumps(value, ensure_ascii=False, indent=2, default=str)
    text = _shortened(text, MAX_TEXT)
    return f"<pre>{''.join(_coloured(text))}</pre>"


def _coloured(text: str) -> Iterable[str]:
    end = 0
    for found in _JSON_TOKEN.finditer(text):
        yield escape(text[end : found.start()])
        string, colon, literal = found.groups()
        if string is None:
            yield f'<span class="n">{escape(literal)}</span>'
        else:
            yield f'<span class="{"k" if colon else "s"}">{escape(string)}</span>{colon or ""}'
        end = found.end()
    yield escape(text[end:])
