"""What only scripts do on the pages, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from knime_ext.agent import Trace, render_batch, render_trace
from knime_ext.agent.trace import Timing, TraceCall, TraceMessage
from tests.agent.browser import BROWSER, Tab, browser_tab
from tests.agent.test_batch_page import failed, row, trace

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on this computer")


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browser_tab(tmp_path_factory.mktemp("browser")) as tab:
        yield tab


def opened(tab: Tab, html: str, folder: Path) -> Tab:
    page = folder / "page.html"
    page.write_text(html, encoding="utf-8")
    tab.complaints.clear()
    tab.requests.clear()
    tab.open(page.as_uri())
    return tab


def wait_for(tab: Tab, expression: str, wanted: Any) -> None:
    until = monotonic() + 20
    while (value := tab.run(expression)) != wanted:
        assert monotonic() < until, (expression, value)


def search(tab: Tab, field: str, words: str) -> None:
    tab.run(f"document.querySelector('{field}').value = {words!r}")
    tab.run(f"document.querySelector('{field}').dispatchEvent(new Event('input'))")


def run_of_calls() -> Trace:
    calls = [TraceCall(id=str(n), tool=f"tool_{n}", name=f"tool_{n}", arguments={"n": n}) for n in range(8)]
    results = [
        TraceMessage(
            role="tool",
            content=f"result {n}",
            turn=1,
            tool_call_id=str(n),
            tool=f"tool_{n}",
            is_error=n == 3,
            timing=Timing(start=1.0, seconds=0.5),
        )
        for n in range(8)
    ]
    return Trace(
        model="m",
        question="Who?",
        turns=1,
        stop_reason="answered",
        messages=[
            TraceMessage(role="user", content="Who? <script>window.hacked = 1</script>"),
            TraceMessage(role="assistant", content="", turn=1, tool_calls=calls, timing=Timing(seconds=1.0)),
            *results,
            TraceMessage(role="assistant", content="It is **Ada**.", turn=2),
        ],
    )


SHOWN = "[...document.querySelectorAll('.talk > .message:not(.away)')].length"
OPEN = "[...document.querySelectorAll('.call')].filter(call => call.open).length"


def test_a_conversation_is_searched_narrowed_folded_and_walked_by_keys(tab: Tab, tmp_path: Path) -> None:
    opened(tab, render_trace(run_of_calls()), tmp_path)
    assert (tab.run(OPEN), tab.run(SHOWN)) == (1, 3)
    tab.press("/")
    assert tab.run("document.activeElement.className") == "find"
    search(tab, ".find", "RESULT 5")
    wait_for(tab, "document.querySelector('.found').textContent", "1 in 1 message")
    assert (tab.run(OPEN), tab.run(SHOWN)) == (2, 1)
    tab.press("Escape")
    wait_for(tab, SHOWN, 3)
    tab.run("document.querySelector('.only').value = 'errors'")
    tab.run("document.querySelector('.only').dispatchEvent(new Event('change'))")
    assert tab.run("[...document.querySelectorAll('.call:not(.away) .tool')].map(e => e.textContent)") == ["tool_3"]
    tab.run("document.querySelector('.only').value = ''")
    tab.run("document.querySelector('.only').dispatchEvent(new Event('change'))")
    tab.run("document.querySelector('.fold-all').click()")
    assert tab.run(OPEN) == 8
    tab.run("document.activeElement.blur()")
    tab.press("j")
    tab.press("j")
    assert tab.run("document.activeElement.id") == "turn-1"
    tab.run("document.querySelector('.timeline a').click()")
    assert tab.run("document.activeElement.id") == "turn-1"
    assert tab.run("document.querySelectorAll('.code').length") == tab.run("document.querySelectorAll('.copy').length")
    assert tab.run("window.hacked") is None
    assert tab.complaints == []
    assert [address for address in tab.requests if not address.startswith(("file:", "data:"))] == []


def test_rows_of_a_batch_are_sorted_filtered_searched_and_opened(tab: Tab, tmp_path: Path) -> None:
    rows = [failed(n) if n == 4 else row(n, trace=trace(f"Question {n}?", f"Secret {n * 11}.")) for n in range(1, 8)]
    refused = [TraceMessage(role="tool", content="no", turn=1, tool_call_id="1", is_error=True)]
    rows[4] = row(5, trace=trace("Question 5?", messages=refused))
    opened(tab, render_batch(rows), tmp_path)
    labels = "[...document.querySelectorAll('tr.row:not(.away) th')].map(e => e.textContent)"
    everything = [f"Row{n}" for n in range(1, 8)]
    assert tab.run(labels) == everything
    tab.run("[...document.querySelectorAll('.sort')].find(b => b.textContent === 'Tokens').click()")
    assert tab.run(labels) == everything[::-1]
    assert tab.run("document.querySelectorAll('th')[6].ariaSort") == "descending"
    search(tab, ".find-rows", "secret 22.")
    wait_for(tab, labels, ["Row2"])
    search(tab, ".find-rows", "")
    wait_for(tab, "document.querySelector('.count').textContent", "7 of 7 rows")
    tab.run("document.querySelector('.chip.bad').click()")
    assert tab.run(labels) == ["Row4"]
    tab.run("document.querySelector('.chip.bad').click()")
    tab.run("document.querySelector('[data-failed-calls].chip').click()")
    assert tab.run(labels) == ["Row5"]
    tab.run("document.querySelector('[data-failed-calls].chip').click()")
    tab.run("document.querySelector('tr.row .open').click()")
    assert tab.run("document.querySelector('dialog h2').textContent") == "Question 7?"
    assert tab.run("document.querySelector('dialog .place').textContent") == "1 of 7"
    tab.press("ArrowRight")
    assert tab.run("document.querySelector('dialog h2').textContent") == "Question 6?"
    tab.press("Escape")
    wait_for(tab, "document.querySelector('dialog').open", False)
    wait_for(tab, "document.activeElement.textContent", "Row6")
    assert tab.complaints == []


def test_a_page_works_in_a_frame_like_that_of_a_host(tab: Tab, tmp_path: Path) -> None:
    page = escape(render_trace(run_of_calls()))
    frame = f'<!DOCTYPE html><iframe sandbox="allow-scripts allow-same-origin" srcdoc="{page}" height="500"></iframe>'
    opened(tab, frame, tmp_path)
    inner = "frames[0].document"
    wait_for(tab, f"{inner}.querySelector('.toolbar').hidden", False)
    tab.run(f"{inner}.querySelector('.timeline a').click()")
    assert tab.run(f"{inner}.activeElement.id") == "turn-1"
    assert tab.run("frames.length") == 1
    assert tab.complaints == []


def test_a_script_that_got_in_would_not_run(tab: Tab, tmp_path: Path) -> None:
    page = render_trace(run_of_calls()).replace(
        "Who?</h1>", "</h1><script>window.hacked = 1</script><img src=x onerror='hacked=1'>"
    )
    opened(tab, page, tmp_path)
    assert tab.run("window.hacked") is None
    assert any("Content Security Policy" in complaint for complaint in tab.complaints)
