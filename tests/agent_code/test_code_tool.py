"""Code as a tool: what the model gets, what stays, what is counted and stopped."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from typing import Any

import psutil
import pytest
from langchain_core.tools import BaseTool, StructuredTool, tool
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from knime.types.tool import MCPTool
from knime_ext.agent import Agent, Allowance, Budget, to_langchain_tools
from knime_ext.agent.code.limits import CodeLimits
from knime_ext.agent.langchain_tools import RowTool
from knime_ext.agent.pace import Pace
from knime_ext.errors import InvalidArguments
from knime_ext.testing import ScriptedChatModel, call
from knime_ext.tools import ToolResult
from tests.agent.openai_server import chosen, completion, openai_service, results_in
from tests.agent_code.tools import LIMITS, Meeting, answer, artifact, half, inner_calls, runner


def code(text: str) -> Any:
    return call("run_python", {"code": text})


def test_the_model_reads_what_is_printed_and_the_value_of_the_last_line() -> None:
    message = answer(runner(), "found = price_of(product='Filter')\nprint('found it')\nfound['price'] + half(n=3)")
    assert message.content == "found it\nResult: 7.5"
    assert message.status == "success"
    assert [(one["tool"], one["arguments"], one["text"]) for one in inner_calls(message)] == [
        ("price_of", {"product": "Filter"}, '{"product": "Filter", "price": 6, "currency": "EUR"}'),
        ("half", {"n": 3}, "1.5"),
    ]


def test_variables_functions_and_imports_stay_for_the_next_piece() -> None:
    python = runner()
    answer(python, "import json\nnumbers = [1, 2]\nasync def twice(n):\n    return 4 * await half(n=n)")
    assert answer(python, "json.dumps([await twice(n) for n in numbers])").content == "Result: [2.0, 4.0]"


def test_an_error_keeps_what_came_before_and_says_where_it_happened() -> None:
    python = runner()
    message = answer(python, "kept = 5\nprint('before')\n1 / 0")
    assert message.status == "error"
    assert message.text.startswith("before\nTraceback") and "line 3" in message.text
    assert message.text.endswith("ZeroDivisionError: division by zero")
    assert answer(python, "kept").content == "Result: 5"


def test_a_tool_that_fails_is_an_exception_inside() -> None:
    caught = "try:\n    price_of(product='nothing')\nexcept RuntimeError as error:\n    print(error)"
    message = answer(runner(), caught)
    assert message.content == "the tool 'price_of' failed: ValueError: there is no such product"
    assert [one["is_error"] for one in inner_calls(message)] == [True]
    assert "RuntimeError: the tool 'price_of' failed" in answer(runner(), "price_of(product='nothing')").content


def test_a_call_that_does_not_fit_says_how_to_call() -> None:
    for wrong in ("price_of()", "price_of(item='x')", "price_of('a', 'b', 'c')", "price_of('a', product='b')"):
        assert "price_of(*, product: str, currency: str = 'EUR')" in answer(runner(), wrong).content
    assert answer(runner(), "price_of('ab')['price']").content == "Result: 2"


@pytest.mark.parametrize(
    "text",
    [
        "import asyncio\nsum(await asyncio.gather(*[meet(n=n) for n in range(3)]))",
        "import asyncio\njobs = []\nfor n in range(3):\n    jobs.append(meet(n=n))\nsum([await job for job in jobs])",
        "import asyncio\nasync def one(n):\n  return await meet(n=n)\nsum(await asyncio.gather(*map(one, [0, 1, 2])))",
        "import asyncio\na, b = meet(n=1), meet(n=2)\nsum(await asyncio.gather(a, b, meet(n=0)))",
    ],
)
def test_awaited_calls_run_side_by_side(text: str) -> None:
    assert answer(runner(Meeting(3).tool()), text).content == "Result: 3"


def test_a_function_of_an_earlier_piece_awaits_its_calls_too() -> None:
    python = runner(Meeting(2).tool())
    answer(python, "import asyncio\nasync def both():\n    return await asyncio.gather(meet(n=1), meet(n=2))")
    answer(python, "f(")
    assert answer(python, "sum(await both())").content == "Result: 3"


def test_not_more_calls_than_allowed_run_at_the_same_time() -> None:
    running, most, lock = 0, 0, threading.Lock()

    @tool
    async def job(n: int) -> int:
        """Counts who is there."""
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        await asyncio.sleep(0)
        with lock:
            running -= 1
        return n

    limits = CodeLimits(parallel_calls=3)
    text = "import asyncio\nlen(await asyncio.gather(*[job(n=n) for n in range(30)]))"
    assert answer(runner(job, limits=limits), text).content == "Result: 30"
    assert most <= 3


def test_two_pieces_of_code_at_once_run_one_after_the_other() -> None:
    python = runner()

    async def both() -> list[str]:
        pieces = [python.ainvoke({"code": "seen = [price_of(product='x')]"}), python.ainvoke({"code": "1"})]
        return await asyncio.gather(*pieces)

    answer(python, "total = 0")
    assert asyncio.run(both())[1] == "Result: 1"
    assert answer(python, "len(seen) + total").content == "Result: 1"


def test_tables_and_media_of_calls_stay_in_the_artifact() -> None:
    blocks = [
        {"type": "text", "text": "two things"},
        {"type": "table", "id": 3, "name": "ranking", "columns": {"a": "Int"}, "rows": 2},
        {"type": "image", "mimeType": "image/png", "data": "aGk="},
    ]

    def rank(**_: Any) -> tuple[str, ToolResult]:
        return "two things", ToolResult(content=blocks)

    ranking = StructuredTool.from_function(
        rank, name="rank", description="Ranks.", args_schema={"type": "object"}, response_format="content_and_artifact"
    )
    message = answer(runner(ranking), "rank()['tables'][0]['id']")
    assert message.content == "Result: 3"
    assert [block["type"] for block in artifact(message).content] == ["text", "calls", "table", "image"]


LOOP = "prices = [price_of(product='p' * n)['price'] for n in range(1, 101)]\nsum(prices)"


def test_a_loop_over_a_hundred_calls_costs_one_turn_of_the_model() -> None:
    said = chosen(lambda body: completion(f"The sum is {results_in(body)[-1]}"))
    with openai_service([completion(calls=[("run_python", {"code": LOOP})]), said]) as service:
        model = ChatOpenAI(model="m", base_url=service.url, api_key=SecretStr("k"), max_retries=0)
        run = Agent(model, [runner()]).run("How much is everything?")
    assert run.answer == "The sum is Result: 5050"
    assert (run.turns, service.count) == (1, 2)
    [result] = [message for message in run.trace.messages if message.role == "tool"]
    [calls] = [block["calls"] for block in result.blocks if block["type"] == "calls"]
    assert len(calls) == 100
    assert calls[99]["arguments"] == {"product": "p" * 100}
    sent = service.requests[0]
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["run_python"]
    assert len(sent["tools"][0]["function"]["description"]) <= 1024
    assert "def price_of(*, product: str, currency: str = 'EUR') -> Any:" in sent["messages"][0]["content"]


def test_each_run_has_variables_of_its_own_that_last_from_turn_to_turn() -> None:
    replies = [code("try:\n    kept += 1\nexcept NameError:\n    kept = 1"), code("kept"), "done"]
    agent = Agent(ScriptedChatModel(replies=[*replies, *replies]), [runner()])
    for _ in range(2):
        texts = [message.text for message in agent.run("Count.").messages if message.type == "tool"]
        assert texts[1] == "Result: 1"


def test_equal_runs_have_equal_traces() -> None:
    text = "import random\nimport asyncio\nprint(random.random())\nawait asyncio.gather(*[half(n=n) for n in range(9)])"
    traces: list[Any] = []
    for _ in range(2):
        agent = Agent(ScriptedChatModel(replies=[code(text), "done"]), [runner()])
        traces.append(agent.run("Go.").trace.to_dict(timings=False))
    assert traces[0] == traces[1]


def test_calls_of_code_count_against_the_budget_of_the_run() -> None:
    text = (
        "done = 0\nfor n in range(10):\n    try:\n        half(n=n)\n        done += 1\n    except RuntimeError as e:\n"
    )
    text += "        print(e)\n        break\ndone"
    agent = Agent(ScriptedChatModel(replies=[code(text), "ok"]), [runner()], budget=Budget(calls=4))
    [result] = [message for message in agent.run("Go.").messages if message.type == "tool"]
    assert result.text == "not called: the budget of 4 tool calls is used up.\nResult: 3"


def test_calls_of_code_count_against_the_allowance_of_all_runs() -> None:
    allowance = Allowance(calls=5)
    agent = Agent(ScriptedChatModel(replies=[code(LOOP), "ok"]), [runner()], allowance=allowance)
    [result] = [message for message in agent.run("Go.").messages if message.type == "tool"]
    assert "the budget of 5 tool calls for all runs together is used up" in result.text
    assert allowance.spent.calls == 5


def test_a_cancelled_run_stops_code_and_tool_at_once() -> None:
    began, ended = threading.Event(), threading.Event()

    @tool
    async def wait() -> str:
        """Waits."""
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    async def cancelled(tool: BaseTool, text: str, when: threading.Event) -> None:
        task = asyncio.ensure_future(tool.ainvoke({"code": text}))
        assert await asyncio.to_thread(when.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    python = runner(wait, half, limits=CodeLimits(seconds=60))
    answer(python, "kept = 1")
    asyncio.run(cancelled(python, "kept = 2\nwait()", began))
    assert ended.is_set()

    started = threading.Event()

    @tool
    async def now() -> str:
        """Says that the code runs."""
        started.set()
        return "now"

    looping = runner(now, limits=CodeLimits(seconds=60))
    asyncio.run(cancelled(looping, "now()\nwhile True:\n    pass", started))
    assert answer(looping, "1 + 1").content == "Result: 2"
    assert answer(python, "kept").content == "Result: 1"


def test_no_process_is_left_when_no_code_runs() -> None:
    answer(runner(), "1")
    assert [child for child in psutil.Process().children() if "monty" in child.name()] == []


def test_many_more_sandboxes_than_workers_run_side_by_side() -> None:
    async def all_at_once() -> list[str]:
        many = [runner(limits=LIMITS).for_run() for _ in range(40)]
        await asyncio.gather(*(one.ainvoke({"code": "kept = half(n=5)"}) for one in many))
        return await asyncio.gather(*(one.ainvoke({"code": "kept"}) for one in many))

    assert asyncio.run(all_at_once()) == ["Result: 2.5"] * 40


def test_tools_see_the_context_of_the_run_that_the_code_belongs_to() -> None:
    row: ContextVar[int] = ContextVar("row")

    @tool
    async def which(seen: int = 0) -> int:
        """Which row is being worked on."""
        return row.get()

    @tool
    def which_too() -> int:
        """The same, blocking."""
        return row.get()

    async def one(number: int) -> str:
        row.set(number)
        text = "import asyncio\n[which(), which_too(), *await asyncio.gather(which(seen=1), which_too())]"
        return await runner(which, which_too).for_run().ainvoke({"code": text})

    async def rows() -> list[str]:
        return await asyncio.gather(*(one(number) for number in range(3)))

    assert asyncio.run(rows()) == [f"Result: [{n}, {n}, {n}, {n}]" for n in range(3)]


def test_reading_on_in_long_results_is_no_function_and_long_results_come_whole() -> None:
    row = MCPTool(
        name="long",
        description="",
        parameter_schema={"type": "object", "properties": {}},
        server_uri="https://x.test/m",
    )

    class Host:
        def _execute_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> str:
            return "y" * 300_000

        def _execute_tool(self, tool: Any, parameters: Any, inputs: Any, execution_hints: Any) -> Any:
            raise NotImplementedError

    tools = to_langchain_tools([row], Host(), max_result_chars=None)
    assert answer(runner(*tools), "len(long())").content == "Result: 300000"
    shortened = to_langchain_tools([row], Host())
    assert "read_more" in [one.name for one in shortened]
    assert "read_more" not in runner(*shortened).instructions


def test_code_in_a_fence_is_taken_and_anything_else_is_refused_with_a_reason() -> None:
    assert answer(runner(), "```python\nx = 1\nx + 1\n```").content == "Result: 2"
    with pytest.raises(InvalidArguments, match="'code'"):
        runner().invoke({"script": "1"})


def test_results_of_many_calls_are_bounded_together_and_media_lose_their_data() -> None:
    image = {"type": "image", "mimeType": "image/png", "data": "a" * 6_000_000}

    def draw(_: Any) -> tuple[str, ToolResult]:
        return "drawn", ToolResult(content=[{"type": "text", "text": "drawn"}, image])

    drawing = RowTool(
        name="draw",
        description="Draws.",
        args_schema={"type": "object", "properties": {}},
        func=draw,
        response_format="content_and_artifact",
    )
    message = answer(runner(drawing), "len([draw() for _ in range(5)])")
    kept = [len(block["data"]) for block in artifact(message).content if block["type"] == "image"]
    assert kept == [6_000_000] * 3 + [0, 0]

    @tool
    def long() -> str:
        """Much."""
        return "y" * 90

    text = "for _ in range(20):\n    long()"
    message = answer(runner(long, limits=CodeLimits(value_chars=100)), text)
    assert "the results of all calls of this code have more than 1000 characters" in message.text
    assert len(inner_calls(message)) == 11


def test_the_time_of_a_call_is_that_of_each_call_that_code_makes() -> None:
    @tool
    async def wait() -> str:
        """Never comes back."""
        await asyncio.Event().wait()
        return ""

    attempt = "    try:\n        wait()\n    except RuntimeError as e:\n        print('within 0.1 seconds' in str(e))"
    replies = [code(f"for _ in range(3):\n{attempt}"), "done"]
    agent = Agent(ScriptedChatModel(replies=replies), [runner(wait)], budget=Budget(seconds_per_call=0.1))
    [result] = [message for message in agent.run("Go.").messages if message.type == "tool"]
    assert result.text == "True\nTrue\nTrue"


def test_calls_of_code_keep_the_pace_of_the_table() -> None:
    class Counted(Pace):
        def __init__(self) -> None:
            self.names: list[str] = []

        @asynccontextmanager
        async def _seen(self, name: str) -> AsyncGenerator[None]:
            self.names.append(name)
            yield

        def tool_call(self, tool: BaseTool | None) -> AbstractAsyncContextManager[None]:
            return self._seen("" if tool is None else tool.name)

    pace = Counted()
    replies = [code("half(n=1) + half(n=2)"), "done"]
    Agent(ScriptedChatModel(replies=replies), [runner()], pace=pace).run("Go.")
    assert pace.names == ["run_python", "half", "half"]
