"""A host runs tools of both kinds, also where it is KNIME, which runs workflows only."""
# pyright: reportPrivateUsage=false
# What a host offers beyond KNIME's public interface begins with an underscore, as KNIME's own does.

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knime.types.tool import MCPTool
from knime_ext.errors import EgressDenied, MCPToolChanged, ToolFailed
from knime_ext.extension import MCPToolProvider
from knime_ext.mcp import MCPToolCaller, StdioServer, StreamableHTTPServer, tools_from_listing
from knime_ext.mcp.listed import forget_listed
from knime_ext.nodes.tool_host import ToolHost
from knime_ext.runtime.knext.contexts import ExecutionContext
from knime_ext.runtime.knext.settings import set_parameters
from knime_ext.tools import ToolResult
from tests.nodes.agent_bench import workflow_tool
from tests.servers.legacy import ECHO, JSON, LegacyServer, serving, text_result


class KnimeContext:
    """KNIME's context as far as tools go."""

    def __init__(self, run: Callable[[], None] = lambda: None) -> None:
        self.progress: list[tuple[float, str | None]] = []
        self.warnings: list[str] = []
        self.run = run

    def set_warning(self, message: str) -> None:
        self.warnings.append(message)

    def set_progress(self, progress: float, message: str | None = None) -> None:
        self.progress.append((progress, message))

    def _execute_tool(self, tool: Any, parameters: Any, inputs: Any, execution_hints: Any) -> Any:
        self.run()
        return f"ran {tool.name}", [], []


class EmbeddedContext(KnimeContext):
    """The embedded runtime's context, without the form that keeps every content block."""

    def _execute_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> str:
        return f"called {tool.name} in {threading.current_thread().name}"


class RichContext(EmbeddedContext):
    """The embedded runtime's context, whole."""

    async def _acall_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> ToolResult:
        return ToolResult(structured={"called": tool.name})


def echo(url: str) -> MCPTool:
    return MCPTool(name="echo", description="", parameter_schema={}, server_uri=url)


def test_in_knime_calls_of_one_node_share_one_session_that_ends_with_the_node() -> None:
    with serving(LegacyServer()) as server:
        with ToolHost(KnimeContext()) as host:
            assert server.seen == []
            assert host._execute_mcp_tool(echo(server.url), {"text": "a"}) == "a"
            assert asyncio.run(host._acall_mcp_tool(echo(server.url), {"text": "b"})).text == "b"
            assert server.handshakes == 1
        assert server.sessions == set()


def test_in_knime_a_tool_that_fails_raises_with_its_reason() -> None:
    async def fail(params: JSON) -> JSON:
        return text_result("no such account") | {"isError": True}

    with serving(LegacyServer(on_call=fail)) as server, ToolHost(KnimeContext()) as host:
        with pytest.raises(ToolFailed, match="no such account"):
            host._execute_mcp_tool(echo(server.url), {})
        assert asyncio.run(host._acall_mcp_tool(echo(server.url), {})).is_error


def test_in_knime_workflows_run_one_at_a_time() -> None:
    running = threading.Semaphore(1)

    def run() -> None:
        assert running.acquire(blocking=False), "two workflows run at a time"
        sum(range(200_000))  # long enough for another thread to come in
        running.release()

    results: list[str] = []
    with ToolHost(KnimeContext(run)) as host:

        def call() -> None:
            results.append(host._execute_tool(workflow_tool(), {}, [], {})[0])

        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert results == ["ran double"] * 8


def test_the_embedded_runtime_is_asked_for_both_kinds() -> None:
    with ToolHost(EmbeddedContext()) as host:
        assert host._execute_tool(workflow_tool(), {}, [], {})[0] == "ran double"
        assert host._execute_mcp_tool(echo("http://localhost:1/"), {}).startswith("called echo in MainThread")
        # A blocking call does not hold up the event loop.
        text = asyncio.run(host._acall_mcp_tool(echo("http://localhost:1/"), {})).text
    assert text.startswith("called echo in ")
    assert not text.endswith("MainThread")


def test_a_host_that_keeps_every_content_block_is_asked_that_way() -> None:
    with ToolHost(RichContext()) as host:
        result = asyncio.run(host._acall_mcp_tool(echo("http://localhost:1/"), {}))
    assert result.structured == {"called": "echo"}


def test_each_call_shows_as_progress() -> None:
    context = EmbeddedContext()
    with ToolHost(context) as host:
        host._execute_tool(workflow_tool(), {}, [], {})
        host._execute_mcp_tool(echo("http://localhost:1/"), {})
    assert [message for _, message in context.progress] == ["call 1: double", "call 2: echo"]
    fractions = [fraction for fraction, _ in context.progress]
    assert fractions == sorted(fractions)
    assert fractions[-1] < 1


def listed_echo(server: LegacyServer) -> MCPTool:
    with MCPToolCaller() as caller:
        [listing] = caller.list_tools([StreamableHTTPServer(server.url)])
    [tool] = tools_from_listing(listing)
    return tool


def test_a_tool_that_has_changed_is_not_called_unless_the_node_says_otherwise() -> None:
    with serving(LegacyServer()) as server:
        tool = listed_echo(server)
        server.tools = [ECHO | {"description": "Sends the text to somebody else."}]
        context = KnimeContext()
        with ToolHost(context) as strict:
            with pytest.raises(MCPToolChanged):
                strict._execute_mcp_tool(tool, {"text": "a"})
            with pytest.raises(MCPToolChanged):
                asyncio.run(strict._acall_mcp_tool(tool, {"text": "a"}))
        assert (server.calls(), context.warnings) == (0, [])
        with ToolHost(context, changed="WARN") as warning:
            assert warning._execute_mcp_tool(tool, {"text": "b"}) == "b"
            assert asyncio.run(warning._acall_mcp_tool(tool, {"text": "c"})).text == "c"
        assert all("has changed since it was listed (description)" in text for text in context.warnings)
        context.warnings.clear()
        with ToolHost(context, changed="ACCEPT") as accepting:
            assert accepting._execute_mcp_tool(tool, {"text": "d"}) == "d"
        assert context.warnings == []


def test_progress_of_a_call_moves_the_bar_between_this_call_and_the_next() -> None:
    program = str(Path(__file__).parents[1] / "servers" / "mcpserver.py")
    providers = {"toolbox": StdioServer("toolbox", sys.executable, (program, "stdio"))}
    context = KnimeContext()
    tool = MCPTool(name="count_to", description="", parameter_schema={}, server_uri="stdio:toolbox")
    with MCPToolCaller(providers) as caller:

        class Context(KnimeContext):
            async def _acall_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> ToolResult:
                return await caller.acall(tool, parameters)

        context = Context()
        with ToolHost(context) as host:
            assert asyncio.run(host._acall_mcp_tool(tool, {"number": 4})).text == "counted to 4"
    fractions = [fraction for fraction, _ in context.progress]
    assert len(fractions) == 5
    assert fractions == sorted(fractions)
    assert 1 / 3 < fractions[-1] < 2 / 4


def test_questions_of_servers_are_answered_with_defaults_or_declined_as_the_node_says() -> None:
    program = str(Path(__file__).parents[1] / "servers" / "curious.py")
    providers = {"curious": StdioServer("curious", sys.executable, (program,))}
    tool = MCPTool(name="elicit", description="", parameter_schema={}, server_uri="stdio:curious")
    schema = {"type": "object", "properties": {"name": {"type": "string", "default": "Ann"}}}
    question = {"message": "Who?", "requestedSchema": schema}
    with MCPToolCaller(providers) as caller:

        class Context(KnimeContext):
            def _execute_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> str:
                return caller.text(tool, parameters)

        with ToolHost(Context()) as host:
            assert json.loads(host._execute_mcp_tool(tool, question))["content"] == {"name": "Ann"}
        with ToolHost(Context(), questions="DECLINE") as host:
            assert json.loads(host._execute_mcp_tool(tool, question)) == {"action": "decline"}


def test_in_knime_what_one_process_has_listed_another_may_call_and_nothing_else(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KNIME_MCP_ALLOW")
    with serving(LegacyServer()) as server:
        node = MCPToolProvider()
        set_parameters(node, {"server_url": server.url})
        node.execute(ExecutionContext())
        forget_listed()  # the next node runs in a process of its own
        with ToolHost(KnimeContext()) as host:
            assert host._execute_mcp_tool(echo(server.url), {"text": "a"}) == "a"
            with pytest.raises(EgressDenied):
                host._execute_mcp_tool(echo(server.url.replace("/mcp", "/other")), {"text": "a"})
    saved = (home / "listed-servers").read_text("utf-8")
    assert "127.0.0.1" not in saved
    assert (home / "listed-servers").stat().st_mode & 0o777 == 0o600
