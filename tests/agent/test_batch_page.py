from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from knime_ext.agent import BatchPageRow, Trace, render_batch
from knime_ext.agent.page.batch_page import MAX_MEDIA
from knime_ext.agent.trace import Tokens, TraceCall, TraceMessage
from tests.agent.page_reader import Element, Page


def trace(question: str, answer: str = "Fine.", **more: Any) -> Trace:
    calls = [TraceCall(id="1", tool="orders", name="orders", arguments={"country": "DE"})]
    messages = [
        TraceMessage(role="user", content=question),
        TraceMessage(role="assistant", content="", turn=1, tool_calls=calls, tokens=Tokens(input=90, output=10)),
        TraceMessage(role="tool", content="8 orders", turn=1, tool_call_id="1", tool="orders"),
        TraceMessage(role="assistant", content=answer, turn=2),
    ]
    facts: dict[str, Any] = {"model": "m", "messages": messages, "turns": 1, "stop_reason": "answered"}
    return Trace(question=question, **(facts | more))


def row(number: int, **more: Any) -> BatchPageRow:
    facts: dict[str, Any] = {
        "label": f"Row{number}",
        "prompt": f"Question {number}?",
        "answer": "**Fine.**",
        "turns": 1,
        "tool_calls": 1,
        "tokens": 1000 + number,
        "seconds": number / 2,
        "trace": trace(f"Question {number}?"),
    }
    return BatchPageRow(**(facts | more))


def failed(number: int) -> BatchPageRow:
    return row(number, answer="", stop_reason="failed", error="the model did not answer", trace=None)


def read(rows: list[BatchPageRow], **more: Any) -> Element:
    return Page(render_batch(iter(rows), "Agent Batch Prompter", **more)).root


def cells(page: Element) -> list[list[str]]:
    return page.one("table", "batch-table").rows


def conversation(page: Element, number: int) -> Element:
    """What the page's script makes of a row when it is opened."""
    (held,) = (script for script in page.all("script") if script.attributes.get("id") == f"run-{number}")
    return Page("".join(str(child) for child in held.children)).root


def test_every_row_stands_in_a_table_with_its_figures_and_its_conversation() -> None:
    page = read([row(1), failed(2), row(3, stop_reason="turn_limit")])
    assert cells(page) == [
        ["Row", "Status", "Prompt", "Answer", "Turns", "Calls", "Tokens", "Seconds", "Error"],
        ["Row1", "Answered", "Question 1?", "Fine.", "1", "1", "1,001", "0.5", ""],
        ["Row2", "Failed", "Question 2?", "", "1", "1", "1,002", "1.0", "the model did not answer"],
        ["Row3", "Turn limit reached", "Question 3?", "Fine.", "1", "1", "1,003", "1.5", ""],
    ]
    assert [item.attributes["data-v"] for item in page.all("tr", "row")[1].all("td", "num")] == [
        "1",
        "1",
        "1002",
        "1.0",
    ]
    assert [item.classes[1] for item in page.all("tr", "row")] == ["good-row", "bad-row", "warn-row"]
    assert [item.attributes["data-run"] for item in page.all("tr", "row")] == ["run-1", "run-2", "run-3"]
    first = conversation(page, 1)
    assert first.one("h2").text == "Question 1?"
    assert first.one("details", "call").one(kind="tool").text == "orders"
    assert "8 orders" in first.text


def test_the_top_has_totals_and_the_statuses_can_be_chosen() -> None:
    page = read([row(1), row(2), row(3), failed(4)])
    facts = {item.one("dt").text: item.one("dd").text for item in page.one(kind="facts").all("div")}
    assert facts == {
        "Rows": "4",
        "Answered": "3 75.0% of all",
        "Failed": "1",
        "Limit reached": "0",
        "Tool calls": "4",
        "Tokens": "4,010 1,002 per row",
        "Time of a row": "1.2 s median; longest 2.0 s",
    }
    chips = page.one(kind="chips-bar").all("button")
    assert [(chip.text, chip.attributes["data-status"]) for chip in chips] == [
        ("Answered 3", "Answered"),
        ("Failed 1", "Failed"),
    ]


def test_an_answer_that_came_without_its_tools_is_told_from_others() -> None:
    calls = [TraceMessage(role="tool", content="no", turn=1, tool_call_id=str(n), is_error=True) for n in range(2)]
    asked = trace("Who?", messages=calls)
    page = read([row(1), row(2, tool_calls=3, trace=asked), row(3, tool_calls=3, trace=asked.to_dict())])
    assert [line[5] for line in cells(page)[1:]] == ["1", "3 2 failed", "3 2 failed"]
    assert ["data-failed-calls" in item.attributes for item in page.all("tr", "row")] == [False, True, True]
    assert page.one(kind="chips-bar").text == "Answered 3With failed calls 2"
    assert "7 4 failed" in page.one(kind="facts").text


def test_a_row_without_a_trace_shows_what_it_has() -> None:
    page = conversation(read([failed(1)]), 1)
    assert page.one(kind="notice").text == "the model did not answer"
    assert "Question 1?" in page.one("li", "from-user").text


def test_a_trace_may_be_what_to_dict_made_of_it() -> None:
    asked = trace("Who?")
    from_dict, from_trace = (read([row(1, trace=given)]) for given in (asked.to_dict(), asked))
    assert conversation(from_dict, 1).text == conversation(from_trace, 1).text


def test_beyond_the_limit_only_failures_are_listed_and_the_page_says_so() -> None:
    rows = [failed(number) if number in (2, 7, 9) else row(number) for number in range(1, 11)]
    page = read(rows, listed=4)
    assert [line[0] for line in cells(page)[1:]] == ["Row1", "Row2", "Row3", "Row4", "Row7", "Row9"]
    notice = "Listed are the first 4 rows and 2 failed rows after them; 4 rows are only counted."
    assert notice in [item.text for item in page.all(kind="notice")]
    assert page.one(kind="facts").all("dd")[0].text == "10"
    bad = [failed(number) for number in range(1, 20)]
    assert len(cells(read(bad, listed=3))) == 1 + 3 + 3


def test_an_empty_table_is_a_page_too() -> None:
    assert len(cells(read([]))) == 1


def test_large_media_are_named_and_not_kept() -> None:
    image = {"type": "image", "mimeType": "image/png", "data": "A" * (MAX_MEDIA + 4)}
    asked = trace("Draw", messages=[TraceMessage(role="user", content="Draw", blocks=[image])])
    page = render_batch([row(1, trace=asked)])
    assert len(page) < 60_000
    assert "image/png, 225,003 bytes, too large for this page" in page


def test_without_scripts_the_rows_can_be_read_and_no_dead_control_is_seen() -> None:
    page = read([row(1)])
    assert "hidden" in page.one(kind="rows-bar").attributes
    assert "open" not in page.one("dialog").attributes
    hidden = page.one(kind="rows-bar").all() + page.one("dialog").all()
    assert [item for item in page.all() if item.tag in ("button", "input") and item not in hidden] == []
    assert page.one("noscript").text.startswith("With scripts")


def test_twenty_thousand_rows_are_taken_one_by_one() -> None:
    alive: list[int] = []

    def rows() -> Iterator[BatchPageRow]:
        for number in range(20_000):
            if number in (5_000, 19_999):
                alive.append(tracemalloc.get_traced_memory()[0])
            yield row(number, trace=None)

    tracemalloc.start()
    try:
        page = render_batch(rows(), listed=50)
    finally:
        tracemalloc.stop()
    assert "19,950 rows are only counted" in page
    assert len(page) < 300_000
    assert alive[1] - alive[0] < 1_500_000  # the seconds of each row, for the median


HOSTILE = st.text(st.characters(), max_size=30) | st.sampled_from(
    ["</script><script>x</script>", "<!--", "-->", "<![CDATA["]
)


@given(HOSTILE)
def test_nothing_from_outside_becomes_markup(hostile: str) -> None:
    evil = f"<script>x</script>{hostile}\"'><img src=x onerror=y></script><!-- <script>"
    asked = trace(evil, evil, model=evil, stop_reason=evil, error=evil)
    html = render_batch(
        [BatchPageRow(label=evil, prompt=evil, answer=evil, stop_reason=evil, error=evil, trace=asked)], evil
    )
    html.encode("utf-8")
    page = Page(html).root
    assert [script.attributes for script in page.all("script")] == [{"type": "text/html", "id": "run-1"}, {}]
    for part in (page, conversation(page, 1)):
        assert not [item for item in part.all() if item.tag in ("img", "audio")]
        assert not [name for item in part.all() for name in item.attributes if name.startswith("on") or name == "style"]
    assert conversation(page, 1).all("script") == []
