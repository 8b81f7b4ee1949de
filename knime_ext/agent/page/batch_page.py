"""The page of a whole table of runs: rows that can be sorted and filtered, and behind each its conversation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median

from knime_ext.agent.page.batch_row import BatchPageRow
from knime_ext.agent.page.bounded import Room, bounded
from knime_ext.agent.page.markdown import without_marks
from knime_ext.agent.page.outcomes import Outcome
from knime_ext.agent.page.run_page import run_body
from knime_ext.agent.page.shell import html_page
from knime_ext.agent.page.texts import counted, duration, shown

__all__ = ["MAX_LISTED", "BatchPageRow", "render_batch"]

MAX_LISTED = 1_000
"""Rows from the beginning that are listed; of the others, failures are, up to as many again."""

MAX_DETAILS = 40_000_000
"""Characters of all conversations together; rows after that are listed without theirs."""

MAX_MEDIA = 300_000
"""Characters of base64 of one image or sound; larger ones are named, not shown."""

MAX_TEXTS = 400_000
"""Characters of the texts of one conversation, after which the others are cut short."""

MAX_CELL = 400

_COLUMNS = (
    ("Row", "text"),
    ("Status", "text"),
    ("Prompt", "text"),
    ("Answer", "text"),
    ("Turns", "number"),
    ("Calls", "number"),
    ("Tokens", "number"),
    ("Seconds", "number"),
    ("Error", "text"),
)


@dataclass(slots=True)
class _Totals:
    rows: int = 0
    listed: int = 0
    failures_listed: int = 0
    without_details: int = 0
    tool_calls: int = 0
    failed_calls: int = 0
    rows_with_failed_calls: int = 0
    tokens: int = 0
    seconds: list[float] = field(default_factory=list[float])
    outcomes: dict[Outcome, int] = field(default_factory=dict[Outcome, int])

    def add(self, row: BatchPageRow) -> None:
        self.rows += 1
        self.tool_calls += row.tool_calls
        self.failed_calls += row.failed_calls
        self.rows_with_failed_calls += row.failed_calls > 0
        self.tokens += row.tokens
        self.seconds.append(row.seconds)
        self.outcomes[row.outcome] = self.outcomes.get(row.outcome, 0) + 1

    def of_tone(self, tone: str) -> int:
        return sum(count for end, count in self.outcomes.items() if end.tone == tone)


def render_batch(rows: Iterable[BatchPageRow], title: str = "Agent batch", *, listed: int = MAX_LISTED) -> str:
    """Renders a table of runs as one page.

    The rows are taken one by one and not kept; of their conversations, only the HTML is.

    Args:
        rows: The rows, in order.
        title: Heading of the page, such as the node's name.
        listed: Rows that are listed from the beginning. Later rows are counted, and listed only if they failed (at
            most as many again); the page says so.
    """
    totals = _Totals()
    table: list[str] = []
    size = 0
    for row in rows:
        totals.add(row)
        if not _is_listed(row, totals, listed):
            continue
        totals.listed += 1
        details = _details(row) if size < MAX_DETAILS else ""
        totals.without_details += not details
        size += len(details)
        table.append(_row(row, totals.rows, has_details=bool(details)))
        if details:
            # No script: text that the page's script turns into a conversation when it is asked for.
            table.append(f'<script type="text/html" id="run-{totals.rows}">{details}</script>')
    body = (_head(totals, title), _table_head(totals), *table, _TABLE_END, _DIALOG)
    return html_page(title, body, styles=("page.css", "batch.css"), scripts=("page.js", "batch.js"), kind="batch")


def _is_listed(row: BatchPageRow, totals: _Totals, listed: int) -> bool:
    if totals.rows <= listed:
        return True
    if row.outcome.tone != "bad" or totals.failures_listed >= listed:
        return False
    totals.failures_listed += 1
    return True


def _details(row: BatchPageRow) -> str:
    html = run_body(bounded(row.run(), Room(item=MAX_MEDIA, media=4 * MAX_MEDIA, text=MAX_TEXTS)), row.label, level=2)
    # Foreign text is escaped, so neither is ever there; a mistake must not end the element that holds this.
    return html.replace("</script", "&lt;/script").replace("<!--", "&lt;!--")


def _row(row: BatchPageRow, number: int, *, has_details: bool) -> str:
    end = row.outcome
    marks = (f' data-run="run-{number}"' if has_details else "") + (" data-failed-calls" if row.failed_calls else "")
    figures = "".join(
        f'<td class="num" data-v="{value!r}">{text}</td>'
        for value, text in (
            (row.turns, f"{row.turns:,}"),
            (row.tool_calls, f"{row.tool_calls:,}{_failed_calls(row.failed_calls)}"),
            (row.tokens, f"{row.tokens:,}" if row.tokens else "–"),
            (float(row.seconds), f"{row.seconds:,.1f}" if row.seconds else "–"),
        )
    )
    return (
        f'<tr class="row {end.tone}-row"{marks}><th scope="row" data-v="{number}">{shown(row.label, 100)}</th>'
        f'<td><span class="badge {end.tone}">{shown(end.label, 60)}</span></td>'
        f"{_text(row.prompt)}{_text(row.answer)}{figures}{_text(row.error or '', 'error-cell')}</tr>\n"
    )


def _failed_calls(count: int) -> str:
    return f' <small class="failures">{count:,} failed</small>' if count else ""


def _text(text: str, kind: str = "") -> str:
    words = shown(without_marks(text.strip()), MAX_CELL)
    return f'<td class="{kind or "words"}"><div class="clamp" dir="auto">{words}</div></td>'


def _head(totals: _Totals, title: str) -> str:
    facts = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in _facts(totals))
    heading = f'<h1 class="question">{shown(title, 300)}</h1>'
    return f'<header class="top">\n{heading}\n<dl class="facts">{facts}</dl>\n</header>\n'


def _facts(totals: _Totals) -> list[tuple[str, str]]:
    seconds = totals.seconds or [0.0]
    share = f" <small>{totals.of_tone('good') / totals.rows:.1%} of all</small>" if totals.rows else ""
    per_row = f" <small>{totals.tokens / totals.rows:,.0f} per row</small>" if totals.tokens else ""
    failed = totals.of_tone("bad")
    return [
        ("Rows", f"{totals.rows:,}"),
        ("Answered", f"{totals.of_tone('good'):,}{share}"),
        ("Failed", f'<span class="{"failures" if failed else ""}">{failed:,}</span>'),
        ("Limit reached", f"{totals.of_tone('warn'):,}"),
        ("Tool calls", f"{totals.tool_calls:,}{_failed_calls(totals.failed_calls)}"),
        ("Tokens", f"{totals.tokens:,}{per_row}" if totals.tokens else "–"),
        ("Time of a row", f"{duration(median(seconds))} <small>median; longest {duration(max(seconds))}</small>"),
    ]


def _table_head(totals: _Totals) -> str:
    heads = "".join(f'<th scope="col" aria-sort="none" data-sort="{kind}">{name}</th>' for name, kind in _COLUMNS)
    failed = "" if totals.of_tone("bad") or totals.of_tone("warn") else " no-errors"
    return (
        '<main>\n<noscript><p class="notice warn">With scripts, this table can be sorted and filtered, and every row '
        f"shows its conversation.</p></noscript>\n{_notices(totals)}{_toolbar(totals)}"
        f'<div class="runs" role="region" aria-label="Rows" tabindex="0"><table class="batch-table{failed}">'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n"
    )


def _notices(totals: _Totals) -> str:
    notices: list[str] = []
    left = totals.rows - totals.listed
    if left:
        first = totals.listed - totals.failures_listed
        also = f" and {counted(totals.failures_listed, 'failed row')} after them" if totals.failures_listed else ""
        notices.append(f"Listed are the first {counted(first, 'row')}{also}; {counted(left, 'row')} are only counted.")
    if totals.without_details:
        notices.append(
            "This page would be too large with every conversation: "
            f"{counted(totals.without_details, 'row')} at the end have none here."
        )
    return "".join(f'<p class="notice warn" role="note">{notice}</p>\n' for notice in notices)


def _toolbar(totals: _Totals) -> str:
    order = sorted(totals.outcomes.items(), key=lambda item: -item[1])
    chips = "".join(
        f'<button type="button" class="chip {end.tone}" aria-pressed="false" data-status="{shown(end.label, 60)}">'
        f"{shown(end.label, 60)} <b>{count:,}</b></button>"
        for end, count in order
    )
    if totals.rows_with_failed_calls:
        chips += (
            '<button type="button" class="chip plain" aria-pressed="false" data-failed-calls>'
            f"With failed calls <b>{totals.rows_with_failed_calls:,}</b></button>"
        )
    return (
        '<div class="bar rows-bar" role="search" hidden><div class="toolbar">'
        '<input type="search" class="find-rows" placeholder="Search prompts, answers, conversations (/)" '
        'aria-label="Search the rows"><span class="count" role="status"></span></div>'
        f'<div class="chips-bar">{chips}</div></div>\n'
    )


_TABLE_END = "</tbody></table></div>\n</main>\n"
_DIALOG = (
    '<dialog class="run-dialog" aria-label="Conversation of a row"><div class="dialog-bar">'
    '<button type="button" class="previous">‹ Previous</button><button type="button" class="next">Next ›</button>'
    '<span class="place" role="status"></span><button type="button" class="close">Close</button></div>'
    '<div class="dialog-body" tabindex="0" autofocus></div></dialog>\n'
)
