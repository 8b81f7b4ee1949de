"""JSON values for people: laid out, coloured, long lines of text apart."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, cast

from knime_ext.agent.page.texts import MAX_TEXT, shortened, shown, visible

__all__ = ["arguments_view", "json_block", "laid_out", "one_line", "text_block"]

ONE_LINE = 72
"""Characters of JSON that stand on one line."""

MAX_LAID_OUT = 100_000
"""Longer JSON is not laid out, because only its beginning is shown."""

_DEPTH = 40
_TOKEN = re.compile(r'("(?:\\.|[^"\\])*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\btrue\b|\bfalse\b|\bnull\b)')


def one_line(value: Any) -> str:
    """The value as JSON on one line; what is no JSON is shown as Python names it."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return f"[{type(value).__name__} that cannot be shown]"


def text_block(text: str) -> str:
    """A text as a block that can be scrolled and copied."""
    return f'<div class="code"><pre tabindex="0" dir="auto">{shown(text)}</pre></div>'


def laid_out(value: Any) -> str:
    """A value as JSON with line ends and indents, unless it is very long."""
    line = one_line(value)
    return line if len(line) > MAX_LAID_OUT else _laid_out(value, line, 0)


def json_block(value: Any) -> str:
    """A value as a block of coloured JSON."""
    text = shortened(laid_out(value), MAX_TEXT)
    return f'<div class="code"><pre tabindex="0">{"".join(_coloured(text))}</pre></div>'


def arguments_view(arguments: Any) -> str:
    """The arguments of a call; texts of several lines, such as code, stand below as they are."""
    if not isinstance(arguments, Mapping):
        return text_block(arguments) if isinstance(arguments, str) else json_block(arguments)
    given = cast("Mapping[str, Any]", arguments)
    long = {name: value for name, value in given.items() if isinstance(value, str) and "\n" in value.strip()}
    rest = {name: value for name, value in given.items() if name not in long}
    blocks = [json_block(rest)] if rest or not long else []
    blocks += [f'<p class="caption">{shown(name, 200)}</p>{text_block(value)}' for name, value in long.items()]
    return "".join(blocks)


def _laid_out(value: Any, line: str, depth: int) -> str:
    """JSON with line ends and indents, except where everything fits on one line."""
    if len(line) <= ONE_LINE or depth > _DEPTH or not isinstance(value, (Mapping, list, tuple)):
        return line
    inner = "  " * (depth + 1)
    if isinstance(value, Mapping):
        items = [_member(name, part, depth) for name, part in cast("Mapping[Any, Any]", value).items()]
        brackets = "{}"
    else:
        parts = cast("Sequence[Any]", value)
        items = [_laid_out(part, one_line(part), depth + 1) for part in parts]
        brackets = "[]"
    return f"{brackets[0]}\n{inner}" + f",\n{inner}".join(items) + f"\n{'  ' * depth}{brackets[1]}"


def _member(name: Any, value: Any, depth: int) -> str:
    return f"{one_line(str(name))}: {_laid_out(value, one_line(value), depth + 1)}"


def _coloured(text: str) -> Iterable[str]:
    end = 0
    for found in _TOKEN.finditer(text):
        yield shown(text[end : found.start()])
        string, colon, literal = found.groups()
        if string is None:
            yield f'<span class="n">{escape(literal)}</span>'
        else:
            yield f'<span class="{"k" if colon else "s"}">{escape(visible(string))}</span>{colon or ""}'
        end = found.end()
    yield escape(visible(text[end:]))
