from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage

from knime.types.tool import MCPTool
from knime_ext.agent import Agent, AgentRun, Budget, to_langchain_tools
from knime_ext.agent.recorder import MAX_BLOCK_BASE64
from knime_ext.agent.trace import TraceCall, TraceTable
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
