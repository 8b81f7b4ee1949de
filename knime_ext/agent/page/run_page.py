"""The page of one run: question and answer, a timeline, and the conversation as a chat."""

from __future__ import annotations

from knime_ext.agent.page.bounded import bounded
from knime_ext.agent.page.conversation import conversation, final_answer
from knime_ext.agent.page.markdown import prose
from knime_ext.agent.page.outcomes import outcome
from knime_ext.agent.page.shell import html_page
from knime_ext.agent.page.texts import duration, shown
from knime_ext.agent.page.timeline import spent, timeline
from knime_ext.agent.trace import Trace

__all__ = ["render_trace", "run_body"]

MAX_QUESTION = 600
MAX_LEAD = 1200
"""Characters of question and answer at the top; the conversation has them whole."""

_TOOLBAR = (
    '<div class="toolbar" role="search" hidden><span class="found" role="status"></span>'
    '<input type="search" class="find" placeholder="Search (/)" aria-label="Search in the conversation">'
    '<select class="only" aria-label="What is shown"><option value="">Everything</option>'
    '<option value="calls">Tool calls</option><option value="errors">Errors</option></select>'
    '<button type="button" class="fold-all">Unfold all</button></div>'
)


def render_trace(trace: Trace, title: str = "Agent run") -> str:
    """Renders one run as a page that needs no network, and no script to be read.

    Args:
        trace: What happened.
        title: Heading of the page, such as the node's name.
    """
    body = (run_body(bounded(trace), title), "<footer>Times are wall-clock times of this run.</footer>\n")
    return html_page(title, body, styles=("page.css",), scripts=("page.js",), kind="run")


def run_body(trace: Trace, title: str, *, level: int = 1) -> str:
    """Everything about one run, for a page of its own or a part of another one.

    Args:
        trace: What happened.
        title: What stands above the question.
        level: Level of the first heading.
    """
    sub = f"h{level + 1}"
    main = "main" if level == 1 else "div"
    drawn = timeline(trace)
    times = f'<section aria-label="Timeline">\n<{sub}>Timeline</{sub}>\n{drawn}\n</section>\n' if drawn else ""
    talk = (
        f'<section class="conversation" aria-label="Conversation">\n<div class="bar"><{sub}>Conversation</{sub}>'
        f"{_TOOLBAR}</div>\n{conversation(trace)}\n</section>\n"
    )
    return f"{_head(trace, title, level)}<{main}>\n{times}{talk}</{main}>\n"


def _head(trace: Trace, title: str, level: int) -> str:
    final = final_answer(trace)
    end = outcome(trace.stop_reason, error=trace.error, answered=final is not None)
    notice = f'<p class="notice" role="note" dir="auto">{shown(trace.error)}</p>\n' if trace.error else ""
    lead = f'<div class="lead">{prose(final.content, MAX_LEAD)}</div>\n' if final else ""
    facts = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in _facts(trace))
    return (
        f'<header class="top">\n<p class="eyebrow"><span class="title">{shown(title, 300)}</span>'
        f'<span class="badge {end.tone}">{shown(end.label, 100)}</span></p>\n'
        f'<h{level} class="question" dir="auto">{shown(trace.question, MAX_QUESTION)}</h{level}>\n'
        f'{lead}{notice}<dl class="facts">{facts}</dl>\n</header>\n'
    )


def _facts(trace: Trace) -> list[tuple[str, str]]:
    tokens = trace.tokens
    model, tools = spent(trace)
    day, _, time = shown(trace.started_at[:19]).partition("T")
    parts = f" <small>model {duration(model)}, tools {duration(tools)}</small>" if model and tools else ""
    counts = f" <small>{tokens.input:,} in, {tokens.output:,} out</small>"
    return [
        ("Model", shown(trace.model, 200) or "–"),
        ("Turns", f"{trace.turns:,}"),
        ("Tool calls", f"{trace.tool_calls:,}"),
        ("Tokens", f"{tokens.total:,}{counts}" if tokens.total else "–"),
        ("Time", f"{duration(trace.seconds)}{parts}"),
        ("Started", f"{day} <small>{time} UTC</small>" if trace.started_at else "–"),
    ]
