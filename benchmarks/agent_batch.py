"""A table of prompts: our rate, the rate that the delays allow, and that of a hand-written loop. `make benchmark`.

Each row has two turns with two parallel tool calls each, then an answer. The model takes 50 ms, a tool 10 ms, 32 rows
are worked on at a time. The hand-written loop uses the OpenAI SDK and the MCP SDK alone, without journal, traces,
limits, checks of arguments or anything else.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time

import pyarrow as pa

ROWS, TURNS, AT_ONCE, MODEL_MS, TOOL_MS, RUNS = 200, 2, 32, 50.0, 10.0, 3


@contextmanager
def _server() -> Generator[str]:
    script = Path(__file__).with_name("lean_server.py")
    words = [sys.executable, str(script), str(MODEL_MS), str(TOOL_MS), str(TURNS)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


def _ours(url: str) -> Callable[[], None]:
    from pydantic import SecretStr

    from knime_ext.agent import BatchPrompter, ChatModelConfig, create_chat_model, prompt_table
    from knime_ext.agent.batch.row_scope import RowData, row_tools
    from knime_ext.mcp import MCPToolCaller, server_from_uri, tools_from_listing
    from knime_ext.runtime import tool_context

    with MCPToolCaller() as caller:
        rows = tools_from_listing(caller.list_tools([server_from_uri(f"{url}/mcp")])[0])
    config = ChatModelConfig(model="tiny", base_url=f"{url}/v1", api_key=SecretStr("key"))
    table = pa.table({"n": list(range(ROWS))})

    def run() -> None:
        data = RowData()
        with tool_context() as context, tempfile.TemporaryDirectory() as folder:
            tools = row_tools(rows, context, data=data)
            prompter = BatchPrompter(create_chat_model(config), tools, prompt="What about thing {{ n }}?", data=data)
            answers = prompt_table(prompter, table, Path(folder) / "journal", concurrency=AT_ONCE)
        assert answers["answer"].to_pylist() == [f"answer after {TURNS} turns"] * ROWS
        assert sum(answers["answer__tool_calls"].to_pylist()) == 2 * TURNS * ROWS

    return run


def _by_hand(url: str) -> Callable[[], None]:
    import openai
    from mcp import Client

    async def row(number: int, model: openai.AsyncOpenAI, client: Client, tools: list[dict[str, object]]) -> str:
        messages: list[dict[str, object]] = [{"role": "user", "content": f"What about thing {number}?"}]
        while True:
            reply = await model.chat.completions.create(model="tiny", messages=messages, tools=tools)  # type: ignore[arg-type]
            message = reply.choices[0].message
            if not message.tool_calls:
                return message.content or ""
            messages.append(message.model_dump(exclude_none=True))
            results = await asyncio.gather(
                *(
                    client.call_tool(call.function.name, json.loads(call.function.arguments))
                    for call in message.tool_calls
                )
            )
            for call, result in zip(message.tool_calls, results, strict=True):
                text = "".join(block.text for block in result.content)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": text})

    async def table() -> None:
        slots = asyncio.Semaphore(AT_ONCE)
        async with Client(f"{url}/mcp") as client, openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="key") as model:
            listed = (await client.list_tools()).tools
            tools: list[dict[str, object]] = [
                {
                    "type": "function",
                    "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
                }
                for tool in listed
            ]

            async def limited(number: int) -> str:
                async with slots:
                    return await row(number, model, client, tools)

            answers = await asyncio.gather(*(limited(number) for number in range(ROWS)))
        assert answers == [f"answer after {TURNS} turns"] * ROWS

    return lambda: asyncio.run(table())


def _measured(run: Callable[[], None]) -> tuple[float, float]:
    """Rows per second, and milliseconds of this process's CPU per row."""
    began, cpu = perf_counter(), process_time()
    run()
    return ROWS / (perf_counter() - began), (process_time() - cpu) * 1000 / ROWS


def main() -> None:
    """Prints the best of three runs of each, taken in turns."""
    with _server() as url:
        runs = {"knime_ext": _ours(url), "by hand": _by_hand(url)}
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
        for _ in range(RUNS):
            for name, run in runs.items():
                found[name].append(_measured(run))
    seconds = ((TURNS + 1) * MODEL_MS + TURNS * TOOL_MS) / 1000
    print(f"table of {ROWS} prompts, {TURNS} turns of 2 parallel calls, {AT_ONCE} at a time")
    print(f"  the delays allow   {AT_ONCE / seconds:6.1f} rows/s")
    for name, measures in found.items():
        rate, cpu = max(rate for rate, _ in measures), min(cpu for _, cpu in measures)
        print(f"  {name:<18} {rate:6.1f} rows/s, {cpu:5.2f} ms CPU per prompt")


if __name__ == "__main__":
    main()
