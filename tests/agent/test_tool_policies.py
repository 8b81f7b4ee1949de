"""Rows as tools under policies: which calls go out, and how much of a result reaches the model."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import BaseTool, ToolException

from knime.types.tool import MCPTool, ToolPort, WorkflowTool
from knime_ext.agent import to_langchain_tools, tool_definitions
from knime_ext.mcp import ResultFiles
from knime_ext.tools import ApprovalPolicy, ToolDefinition, ToolResult
from knime_ext.tools.shortening import MemoryShelf
from tests.agent.orders import Table

LONG = "".join(f"line {number}\n" for number in range(4_000)) + "the end"
MARK = re.compile(r"call (?P<tool>\w+) with handle '(?P<handle>[^']+)' and offset (?P<offset>\d+)\.\]$")


class Host:
    """A host whose tools say one thing."""

    def __init__(self, result: ToolResult | Exception, tables: int = 0) -> None:
        self.result = result
        self.tables = [Table(["x"])] * tables
        self.calls: list[str] = []

    def _execute_tool(
        self, tool: WorkflowTool, parameters: dict[str, Any], inputs: list[Any], execution_hints: dict[str, str]
    ) -> tuple[str, list[Any], list[str]]:
        self.calls.append(tool.name)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result.text, self.tables, []

    def _execute_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> str:
        self.calls.append(tool.tool_name)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result.text


class RichHost(Host):
    async def _acall_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> ToolResult:
        self.calls.append(tool.tool_name)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def mcp(name: str, **annotations: Any) -> MCPTool:
    return MCPTool(name, f"tool {name}", {"type": "object"}, "http://a.example/mcp", annotations=annotations or None)


def workflow(name: str, outputs: int = 0) -> WorkflowTool:
    ports = [ToolPort(f"out {number}", "", "Table") for number in range(outputs)]
    return WorkflowTool(name, f"workflow {name}", {}, -1, None, ports or None, _filestore_keys="v1:k")


def outcome(tool: BaseTool, *, awaited: bool, arguments: Mapping[str, Any] | None = None) -> str:
    """What the model reads, also where the call failed."""
    try:
        given = dict(arguments or {})
        return asyncio.run(tool.ainvoke(given)) if awaited else tool.invoke(given)
    except ToolException as error:
        return f"refused: {error}"


def read_on(tools: list[BaseTool], text: str) -> str:
    """The whole text that was shortened, as a model would read it."""
    parts: list[str] = []
    while mark := MARK.search(text):
        parts.append(text.rpartition("\n\n[")[0])
        reader = next(tool for tool in tools if tool.name == mark["tool"])
        text = reader.invoke({"handle": mark["handle"], "offset": int(mark["offset"])})
    return "".join([*parts, text.rpartition("\n\n[")[0]])


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("row", [mcp("long"), workflow("long")], ids=["mcp", "workflow"])
def test_a_long_result_of_either_kind_is_shortened_and_can_be_read_to_its_end(
    row: MCPTool | WorkflowTool, awaited: bool, tmp_path: Path
) -> None:
    shelf = ResultFiles(tmp_path / "results")
    tools: list[BaseTool] = [*to_langchain_tools([row], RichHost(ToolResult.of_text(LONG)), shelf=shelf)]
    text = outcome(tools[0], awaited=awaited)
    assert len(text) < 20_200
    assert read_on(tools, text) == LONG
    assert next(shelf.folder.iterdir()).read_text("utf-8") == LONG


def test_ten_megabytes_never_reach_the_model_and_are_in_no_artifact() -> None:
    host = RichHost(ToolResult(content=[{"type": "text", "text": "x" * 10_000_000}, {"type": "image", "data": "aGk="}]))
    tool, _ = to_langchain_tools([mcp("big")], host)
    message = asyncio.run(tool.ainvoke({"type": "tool_call", "name": "big", "id": "1", "args": {}}))
    assert len(message.content) < 20_200
    kinds = {block["type"]: len(str(block)) for block in message.artifact.content}
    assert kinds["text"] < 20_300
    assert "image" in kinds


def test_a_long_failure_is_shortened_too() -> None:
    tools: list[BaseTool] = [*to_langchain_tools([mcp("bad")], Host(RuntimeError(LONG)), max_result_chars=100)]
    text = outcome(tools[0], awaited=True).removeprefix("refused: ")
    assert len(text) < 300
    assert read_on(tools, text) == LONG


def test_the_tables_of_a_workflow_are_told_whatever_the_length_of_its_message() -> None:
    tool, _ = to_langchain_tools([workflow("rank", 2)], Host(ToolResult.of_text(LONG), tables=2), max_result_chars=100)
    text = outcome(tool, awaited=False)
    assert len(text) < 600
    assert "out 0" in text
    assert "out 1" in text


def test_a_model_is_offered_to_read_on_only_once_there_is_something_to_read() -> None:
    tools = to_langchain_tools([mcp("read_more")], Host(ToolResult.of_text(LONG)))
    assert [tool.name for tool in tools] == ["read_more", "read_more_2"]
    assert [tool["function"]["name"] for tool in tool_definitions(tools)] == ["read_more"]
    outcome(tools[0], awaited=False)
    assert [tool["function"]["name"] for tool in tool_definitions(tools)] == ["read_more", "read_more_2"]


def test_made_up_handles_and_offsets_beyond_the_end_are_refused_with_a_reason() -> None:
    _, reader = to_langchain_tools([mcp("x")], Host(ToolResult.of_text("x")))
    assert "no result has the handle" in outcome(reader, awaited=True, arguments={"handle": "../x", "offset": 0})
    assert "offset" in outcome(reader, awaited=False, arguments={"handle": "x"})


def test_without_a_limit_results_pass_whole_and_there_is_nothing_to_read_on_with() -> None:
    [tool] = to_langchain_tools([mcp("x")], Host(ToolResult.of_text(LONG)), max_result_chars=None)
    assert outcome(tool, awaited=False) == LONG


def test_results_in_memory_give_way_to_newer_ones() -> None:
    shelf = MemoryShelf(most_chars=25)
    handles = [shelf.put(letter * 10) for letter in "abcab"]
    assert [shelf.size(handle) for handle in handles] == [10, 10, None, 10, 10]
    assert shelf.read(handles[0], 5, 10) == "aaaaa"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=8), st.integers(1, 20))
def test_whatever_is_kept_in_memory_reads_as_it_was_put(texts: list[str], limit: int) -> None:
    shelf = MemoryShelf()
    for text, handle in [(text, shelf.put(text)) for text in texts]:
        assert "".join(shelf.read(handle, start, limit) for start in range(0, len(text), limit)) == text
        assert shelf.size(handle) == len(text)


@pytest.mark.parametrize("awaited", [False, True])
def test_a_policy_denies_asks_and_allows_by_pattern(awaited: bool) -> None:
    host, asked = Host(ToolResult.of_text("done")), list[tuple[str, Mapping[str, Any]]]()

    async def approve(tool: ToolDefinition, arguments: Mapping[str, Any]) -> bool:
        asked.append((tool.name, arguments))
        return tool.name == "rank"

    rows = [mcp("read", readOnlyHint=True), mcp("drop_all"), mcp("write"), workflow("rank")]
    policy = ApprovalPolicy(rules={"drop_*": "deny"})
    tools = to_langchain_tools(rows, host, approval=policy, approve=approve)
    assert [tool.name for tool in tools] == ["read", "write", "rank", "read_more"]
    said = [outcome(tool, awaited=awaited) for tool in tools[:3]]
    assert said[0] == said[2] == "done"
    assert "not approved" in said[1]
    assert [name for name, _ in asked] == ["write", "rank"]
    assert host.calls == ["read", "rank"]


@pytest.mark.parametrize("awaited", [False, True])
def test_where_nobody_can_be_asked_the_model_is_told_so_and_nothing_is_called(awaited: bool) -> None:
    host = Host(ToolResult.of_text("done"))
    tool, _ = to_langchain_tools([mcp("write")], host, approval=ApprovalPolicy())
    assert "nobody can be asked here" in outcome(tool, awaited=awaited)
    assert host.calls == []


def test_a_rule_may_name_the_row_or_what_its_server_calls_the_tool() -> None:
    row = MCPTool("Löschen", "", {"type": "object"}, "http://a.example/mcp", tool_name="delete")
    for pattern in ("Löschen", "delete"):
        assert to_langchain_tools([row], Host(ToolResult()), approval=ApprovalPolicy(rules={pattern: "deny"})) == []
