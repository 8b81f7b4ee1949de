"""Tools and a short way to run code, for tests of code mode."""

from __future__ import annotations

import threading
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, tool

from knime_ext.agent.code.code_tool import CodeTool, code_tool
from knime_ext.agent.code.limits import CodeLimits
from knime_ext.tools import ToolResult

LIMITS = CodeLimits(seconds=5, total_seconds=60, memory=32 * 1024 * 1024, tool_calls=200, recursion=100)


@tool
async def price_of(product: str, currency: str = "EUR") -> dict[str, Any]:
    """Price of a product."""
    if product == "nothing":
        raise ValueError("there is no such product")
    return {"product": product, "price": len(product), "currency": currency}


@tool
def half(n: int) -> float:
    """Half of a number."""
    return n / 2


class Meeting:
    """A tool whose calls wait until as many as expected are there: it works only side by side."""

    def __init__(self, expected: int) -> None:
        self._barrier = threading.Barrier(expected, timeout=10)

    def tool(self) -> BaseTool:
        @tool
        def meet(n: int) -> int:
            """Waits for the others."""
            self._barrier.wait()
            return n

        return meet


def runner(*tools: BaseTool, limits: CodeLimits = LIMITS) -> CodeTool:
    return code_tool(tools or (price_of, half), limits)


def answer(tool: BaseTool, code: str) -> ToolMessage:
    """The message that a model would get."""
    return tool.invoke({"type": "tool_call", "name": tool.name, "args": {"code": code}, "id": "1"})


def artifact(message: ToolMessage) -> ToolResult:
    assert isinstance(message.artifact, ToolResult)
    return message.artifact


def inner_calls(message: ToolMessage) -> list[dict[str, Any]]:
    return [call for block in artifact(message).content if block["type"] == "calls" for call in block["calls"]]
