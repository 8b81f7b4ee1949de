from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from knime.types.tool import MCPTool
from knime_ext.agent import Agent, AgentRun, Budget, Trace, render_trace, to_langchain_tools
from knime_ext.agent.recorder import MAX_BLOCK_BASE64
from knime_ext.agent.trace import Timing, TraceCall, TraceMessage, TraceTable
from knime_ext.testing import ScriptedChatModel, call
from knime_ext.tools import ToolResult
from tests.agent.orders import OrdersHost, orders_data, workflow_tool

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class RichHost(OrdersHost):
    result = ToolResult.of_text("ok")

    async def _acall_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> ToolResult:
        return self.result


def run_with(result: ToolResult, **more: Any) -> AgentRun:
    """A run that ranks customers and draws a chart in its first turn, and then answers."""
    host, data = RichHost(), orders_data()
    host.result = result
    rows = [workflow_tool("customer_revenue"), MCPTool("Draw a chart", "Draws", {}, "http://h/", "chart")]
    both = AIMessage(
        content="I rank and draw.",
        tool_calls=[
            {"name": "customer_revenue", "args": {"data_inputs": {"orders": 0}}, "id": "a"},
            {"name": "Draw_a_chart", "args": {"kind": "<bar>"}, "id": "b"},
        ],
        usage_metadata={"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
        additional_kwargs={"reasoning_content": "First the ranking."},
    )
    model = ScriptedChatModel(replies=[both, "Northwind Traders."])
    tools = to_langchain_tools(rows, host, data=data)
    return Agent(model, tools, data=data, system_message="Be careful.", **more).run("Who is best?")


IMAGE = ToolResult(
    content=({"type": "text", "text": "a chart"}, {"type": "image", "mimeType": "image/png", "data": PIXEL})
)


def test_a_trace_tells_every_message_with_the_names_that_people_gave() -> None:
    trace = run_with(IMAGE).trace
    assert [(message.role, message.turn) for message in trace.messages] == [
        ("system", 0),
        ("user", 0),
        ("user", 0),
        ("assistant", 1),
        ("tool", 1),
        ("tool", 1),
        ("assistant", 2),
    ]
    asked, ranked, drawn = trace.messages[3:6]
    assert asked.tool_calls == (
        TraceCall(
            id="a",
            tool="customer_revenue",
            name="customer_revenue",
            kind="workflow",
            arguments={"data_inputs": {"orders": 0}},
        ),
        TraceCall(id="b", tool="Draw a chart", name="Draw_a_chart", kind="mcp", arguments={"kind": "<bar>"}),
    )
    assert asked.reasoning == "First the ranking."
    assert ranked.tables == (TraceTable(id="1", name="ranking", columns={"name": "string", "value": "string"}, rows=8),)
    assert (drawn.tool, drawn.tool_call_id, drawn.blocks) == ("Draw a chart", "b", (IMAGE.content[1],))
    assert (trace.turns, trace.tool_calls, trace.tokens.total, trace.stop_reason) == (1, 2, 15, "answered")


def test_a_trace_is_json_and_its_times_stand_apart() -> None:
    first, second = run_with(IMAGE).trace, run_with(IMAGE).trace
    assert json.dumps(first.to_dict(timings=False)) == json.dumps(second.to_dict(timings=False))
    full = json.loads(json.dumps(first.to_dict()))
    assert set(full) - set(first.to_dict(timings=False)) == {"timing"}
    assert full["timing"]["started_at"]
    assert all(message["timing"]["seconds"] >= 0 for message in full["messages"])


def test_a_trace_of_a_failed_run_tells_why() -> None:
    model = ScriptedChatModel(replies=[call("nope")])
    trace = Agent(model, budget=Budget(turns=0)).attempt("go").trace
    assert trace.stop_reason == "failed"
    assert trace.error is not None and "budget of 0 turns" in trace.error
    assert trace.messages[-1].is_error


def test_a_huge_image_is_named_but_not_kept() -> None:
    huge = {"type": "image", "mimeType": "image/png", "data": "A" * (MAX_BLOCK_BASE64 + 4)}
    block = run_with(ToolResult(content=(huge,))).trace.messages[5].blocks[0]
    assert block == {"type": "image", "mimeType": "image/png", "data": "", "omitted_bytes": 3_000_003}


class Reader(HTMLParser):
    """Collects what a browser would see of a page."""

    VOID = frozenset(("meta", "img", "rect", "br"))

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data if self.open[-1:] != ["style"] else ""


def test_the_page_shows_question_answer_calls_results_tables_and_images() -> None:
    page = render_trace(run_with(IMAGE).trace, "Agent <Prompter>")
    seen = Reader(page)
    assert seen.open == []
    for words in (
        "Agent <Prompter>",
        "Who is best?",
        "Northwind Traders.",
        "Draw a chart",
        '{"kind": "<bar>"}',
        "ranking",
    ):
        assert words in seen.text
    assert "id 1, 8 rows, 2 columns" in seen.text
    assert "Be careful." in seen.text
    assert "First the ranking." in seen.text
    images = [attributes["src"] for tag, attributes in seen.tags if tag == "img"]
    assert images == [f"data:image/png;base64,{PIXEL}"]


def test_the_page_needs_nothing_from_elsewhere_and_forbids_it() -> None:
    page = render_trace(run_with(IMAGE).trace)
    seen = Reader(page)
    policy = next(a["content"] for tag, a in seen.tags if tag == "meta" and a.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not {"script", "link", "iframe", "object", "form", "a"} & {tag for tag, _ in seen.tags}
    assert not [a for _, a in seen.tags for name in a if name.startswith("on") or name in ("style", "href")]
    assert "http" not in re.sub(r'http-equiv="', "", page)


@given(st.text(), st.text(), st.text())
def test_nothing_from_outside_becomes_markup(hostile: str, name: str, uri: str) -> None:
    evil = f"<script>x</script>{hostile}\"'><img src=x onerror=y>"
    trace = Trace(
        model=evil,
        question=evil,
        turns=1,
        stop_reason=evil,
        error=evil,
        started_at=evil,
        messages=[
            TraceMessage(role="system", content=evil),
            TraceMessage(role="user", content=evil),
            TraceMessage(
                role="assistant",
                content=f"**{evil}** `{evil}`",
                reasoning=evil,
                turn=1,
                tool_calls=[
                    TraceCall(id="1", tool=evil + name, name=name, kind=evil, arguments={evil: [evil, 1, None]})
                ],
            ),
            TraceMessage(
                role="tool",
                content=evil,
                turn=1,
                tool_call_id="1",
                tool=evil,
                tables=[TraceTable(id=evil, name=evil, columns={evil: evil}, rows=1)],
                blocks=[
                    {"type": "image", "mimeType": evil, "data": "AAAA"},
                    {"type": "image", "mimeType": "image/png", "data": evil},
                    {"type": "resource_link", "uri": evil + uri},
                    {"type": evil, evil: evil},
                ],
                timing=Timing(start=0.1, seconds=0.2),
            ),
        ],
    )
    seen = Reader(render_trace(trace, evil))
    assert "script" not in {tag for tag, _ in seen.tags}
    assert not [attributes for tag, attributes in seen.tags if tag == "img"]
    assert not [name for _, attributes in seen.tags for name in attributes if name.startswith("on")]


def test_a_very_long_result_is_cut_with_a_note() -> None:
    page = render_trace(run_with(ToolResult.of_text("x" * 100_000)).trace)
    assert len(page) < 80_000
    assert "(80,000 more characters)" in page


def test_calls_are_folded_when_there_are_many() -> None:
    many = [TraceCall(id=str(number), tool="t", name="t") for number in range(7)]
    trace = Trace(
        model="m",
        question="q",
        turns=1,
        stop_reason="answered",
        messages=[TraceMessage(role="assistant", content="", turn=1, tool_calls=many)],
    )
    assert '<details class="call">' in render_trace(trace)
    assert '<details class="call" open>' not in render_trace(trace)
