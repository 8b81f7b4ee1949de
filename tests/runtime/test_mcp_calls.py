import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from knime.types.tool import MCPTool
from knime_ext.errors import MCPConnectionError, ToolFailed
from knime_ext.runtime.result import RunFailed, RunResult
from tests.runtime.small_nodes import REGISTRY, calling, run, workflow
from tests.servers.process import free_port, mcpserver


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with mcpserver("streamable-http") as address:
        yield address


def tool(url: str, name: str) -> MCPTool:
    return MCPTool(name=name, description="", parameter_schema={"type": "object"}, server_uri=url)


def running(work: Callable[[Any], Any], **options: Any) -> RunResult:
    """Runs a workflow of one node that does the work with its context."""
    return run(workflow({"call": "Call"}), registry=REGISTRY.extended_by(calling(work)), **options)


def test_a_node_calls_a_tool_of_a_server_in_every_way(url: str):
    said: list[Any] = []

    def work(ctx: Any) -> None:
        said.append(ctx._execute_mcp_tool(tool(url, "greet"), {"name": "李"}))
        said.append(ctx._execute_tool(tool(url, "add"), {"a": 1, "b": 2}, [], {}))
        result = asyncio.run(ctx._acall_mcp_tool(tool(url, "picture"), {}))
        said.append(result.content[0]["type"])

    running(work)
    assert said == ["Hello, 李.", ("3", [], []), "image"]


def test_calls_of_many_threads_go_side_by_side(url: str):
    sums: list[str] = []

    def work(ctx: Any) -> None:
        def add(number: int) -> str:
            return ctx._execute_mcp_tool(tool(url, "add"), {"a": number, "b": number})

        with ThreadPoolExecutor(8) as threads:
            sums.extend(threads.map(add, range(8)))

    running(work)
    assert sums == [str(2 * number) for number in range(8)]


def test_a_tools_own_failure_is_a_failure_of_the_call(url: str):
    with pytest.raises(RunFailed) as error:
        running(lambda ctx: ctx._execute_mcp_tool(tool(url, "fail"), {"reason": "out of stock"}))
    assert isinstance(error.value.__cause__, ToolFailed)
    with pytest.raises(RunFailed, match="node 'call' failed: RuntimeError: tool 'fail' failed: Error executing tool"):
        running(lambda ctx: ctx._execute_tool(tool(url, "fail"), {"reason": "out of stock"}, [], {}))


def test_a_server_that_is_not_there_fails_the_node():
    with pytest.raises(RunFailed) as error:
        running(lambda ctx: ctx._execute_mcp_tool(tool(f"http://127.0.0.1:{free_port()}/mcp", "add"), {}))
    assert isinstance(error.value.__cause__, MCPConnectionError)


def test_canceling_the_run_cancels_a_call_on_its_server(url: str):
    cancel = threading.Event()
    ways: list[Callable[[Any], Any]] = [
        lambda ctx: ctx._execute_mcp_tool(tool(url, "wait"), {"name": "sync"}),
        lambda ctx: asyncio.run(ctx._acall_mcp_tool(tool(url, "wait"), {"name": "async"})),
    ]
    for way in ways:
        cancel.clear()
        threading.Timer(0.3, cancel.set).start()
        assert running(way, cancel=cancel).nodes["call"].state == "canceled"
    said: list[str] = []
    running(lambda ctx: said.append(ctx._execute_mcp_tool(tool(url, "cancellations"), {})))
    assert "sync" in said[0] and "async" in said[0]


def test_nothing_is_left_of_a_run_that_called_tools(url: str, tmp_path: Path):
    running(lambda ctx: ctx._execute_mcp_tool(tool(url, "add"), {"a": 1, "b": 2}))
    process = psutil.Process()
    before = (threading.active_count(), process.num_fds(), len(process.net_connections()))
    running(lambda ctx: ctx._execute_mcp_tool(tool(url, "add"), {"a": 1, "b": 2}), out=tmp_path)
    assert (threading.active_count(), process.num_fds(), len(process.net_connections())) == before


def test_a_run_without_calls_opens_no_bridge():
    names: list[str] = []
    running(lambda ctx: names.extend(thread.name for thread in threading.enumerate()))
    assert not [name for name in names if "bridge" in name]
