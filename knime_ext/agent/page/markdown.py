"""A model's text: the marks that models write become markup, everything else stays text.

Paragraphs, headings, lists, tables, blocks of code, **bold** and `code`. Links and images stay text: a page never
loads or leads to what a model or a tool names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

from knime_ext.agent.page.tables import FoundTable, table_view
from knime_ext.agent.page.texts import MAX_TEXT, shortened, visible

__all__ = ["has_table", "prose", "without_marks"]

FOLDED_AFTER = 2_400
"""Characters of a text after which the rest is folded."""

_MARK = re.compile(r"`([^`\n]+)`|\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*")
_HEADING = re.compile(r"#{1,6} +(\S.*)")
_ITEM = re.compile(r"( *)(?:[-*+•]|\d{1,3}[.)]) +(\S.*)")
_NUMBERED = re.compile(r" *\d")
_RULE = re.compile(r"\|?[ ]*:?-{2,}:?[ ]*(\|[ ]*:?-{2,}:?[ ]*)*\|?[ ]*")


@dataclass(slots=True)
class _Block:
    kind: str
    lines: list[str] = field(default_factory=list[str])


def prose(text: str, length: int = MAX_TEXT) -> str:
    """The text as HTML blocks; what is very long is cut, what is long is folded.

    Args:
        text: What the model said.
        length: Characters after which it is cut.
    """
    blocks = list(_blocks(visible(shortened(text.strip(), length)).split("\n")))
    open_blocks, folded = _divided(blocks)
    rest = "".join(map(_html, folded))
    more = f"Show the rest ({sum(len(line) for block in folded for line in block.lines):,} characters)"
    fold = f'<details class="fold"><summary>{more}</summary>{rest}</details>' if rest else ""
    return "".join(map(_html, open_blocks)) + fold


def _inline(text: str) -> str:
    """One line or paragraph with **bold** and `code`. The text has to be made visible before."""
    parts: list[str] = []
    end = 0
    for found in _MARK.finditer(text):
        code, bold = found.groups()
        parts.append(escape(text[end : found.start()], quote=False))
        # What is in a mark is read by itself, so that marks never overlap.
        parts.append(f"<strong>{_inline(bold)}</strong>" if code is None else f"<code>{escape(code)}</code>")
        end = found.end()
    return "".join(parts) + escape(text[end:], quote=False)


def without_marks(text: str) -> str:
    """The text for a place that is too small for markup."""
    return text.replace("**", "").replace("`", "")


def has_table(text: str) -> bool:
    """Whether a table drawn with `|` stands in the text."""
    return "|" in text and "--" in text and any(block.kind == "table" for block in _blocks(text.split("\n")))


def _divided(blocks: Sequence[_Block]) -> tuple[Sequence[_Block], Sequence[_Block]]:
    """What is shown at once, and what is folded."""
    sizes = [sum(map(len, block.lines)) for block in blocks]
    if sum(sizes) <= FOLDED_AFTER * 3 // 2:
        return blocks, ()
    seen = 0
    for number, size in enumerate(sizes):
        seen += size
        if seen > FOLDED_AFTER:
            return _cut(blocks, number, FOLDED_AFTER - seen + size)
    return blocks, ()


def _cut(blocks: Sequence[_Block], number: int, room: int) -> tuple[Sequence[_Block], Sequence[_Block]]:
    """Divides before a block, or within it if it is a paragraph that alone is too long."""
    block = blocks[number]
    if number > 0 and room < FOLDED_AFTER // 2 or block.kind != "text":
        at = max(number, 1)
        return blocks[:at], blocks[at:]
    text = "\n".join(block.lines)
    at = text.rfind(" ", room // 2, room) if " " in text[room // 2 : room] else room
    first, second = (_Block("text", part.split("\n")) for part in (text[:at], text[at:].lstrip(" ")))
    return [*blocks[:number], first], [second, *blocks[number + 1 :]]


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    block = _Block("text")
    index = 0
    while index < len(lines):
        line = lines[index]
        if line.lstrip().startswith("```"):
            yield block
            end = next((i for i in range(index + 1, len(lines)) if lines[i].strip() == "```"), len(lines))
            yield _Block("code", list(lines[index + 1 : end]))
            block, index = _Block("text"), end + 1
            continue
        kind = _kind(lines, index, block.kind)
        if kind != block.kind or kind == "heading" or not line.strip():
            yield block
            block = _Block("text" if not line.strip() else kind)
        if line.strip():
            block.lines.append(line)
        index += 1
    yield block


def _kind(lines: Sequence[str], index: int, before: str) -> str:
    line = lines[index]
    if "|" in line and (before == "table" or (index + 1 < len(lines) and _is_rule(lines[index + 1]))):
        return "table"
    if _HEADING.fullmatch(line):
        return "heading"
    if _ITEM.fullmatch(line) or (before == "list" and line.startswith("  ") and line.strip()):
        return "list"
    return "text"


def _is_rule(line: str) -> bool:
    return "|" in line and len(line) < 4_000 and _RULE.fullmatch(line.strip()) is not None


def _html(block: _Block) -> str:
    if not block.lines:
        return ""
    match block.kind:
        case "code":
            return f'<div class="code"><pre tabindex="0">{escape(chr(10).join(block.lines))}</pre></div>'
        case "heading":
            found = _HEADING.fullmatch(block.lines[0])
            return f'<p class="text heading" dir="auto">{_inline(found[1] if found else block.lines[0])}</p>'
        case "list":
            return _list(block.lines)
        case "table":
            return _table(block.lines)
        case _:
            return f'<p class="text" dir="auto">{_inline(chr(10).join(block.lines))}</p>'


def _list(lines: Sequence[str]) -> str:
    """One list; deeper levels are indented, they do not nest."""
    items: list[tuple[int, str]] = []
    for line in lines:
        found = _ITEM.fullmatch(line)
        if found:
            items.append((min(len(found[1]) // 2, 3), found[2]))
        elif items:
            items[-1] = (items[-1][0], f"{items[-1][1]}\n{line.strip()}")
    tag = "ol" if _NUMBERED.match(lines[0]) and all(level == 0 for level, _ in items) else "ul"
    body = "".join(f'<li class="level{level}" dir="auto">{_inline(text)}</li>' for level, text in items)
    return f'<{tag} class="list">{body}</{tag}>'


def _table(lines: Sequence[str]) -> str:
    rows = [_row(line) for line in lines if not _is_rule(line)]
    width = max(map(len, rows))
    padded = [[*row, *[""] * (width - len(row))] for row in rows]
    return table_view(FoundTable(columns=padded[0], rows=padded[1:], count=len(padded) - 1))


def _row(line: str) -> list[str]:
    cells = line.strip().removeprefix("|").removesuffix("|").split("|")
    return [without_marks(cell.strip()) for cell in cells]
