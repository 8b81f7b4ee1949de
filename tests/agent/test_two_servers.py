"""Two real servers and a workflow whose tools have one name, in one table, each called where it lives."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from langchain_core.tools import BaseTool

from knime.types.tool import Tool
from knime_ext.agent import Agent, OfflineChatModel, to_langchain_tools
from knime_ext.mcp import MCPToolCaller, server_from_uri, tools_from_listing
from knime_ext.runtime import FileStore, NodeRegistry, tool_context, workflow_to_tool
from knime_ext.tools import decode_tools, encode_tools
from tests.servers.process import running

EXAMPLES = Path(__file__).parents[2] / "examples"
SERVERS = ("orders-agent/server.py", "two-servers/units_server.py")

WORKFLOW = {
    "format": 1,
    "name": "days_between",
    "description": "Says how the house counts days.",
    "nodes": [
        {
            "id": "text",
            "factory": "TableCreator",
            "settings": {
                "columns": [{"name": "message", "type": "STRING"}],
                "rows": '[["The house counts from Monday."]]',
            },
        },
        {"id": "say", "factory": "ToolMessageOutput"},
    ],
    "connections": [{"from": ["text", 0], "to": ["say", 0]}],
}


def days_between(url: str) -> list[Tool]:
    """The one tool of that name that a server lists, under its plain name and not its title."""
    with MCPToolCaller() as caller:
        [listing] = caller.list_tools([server_from_uri(url)])
    tools = tools_from_listing(listing)
    return [replace(tool, name=tool.tool_name) for tool in tools if tool.tool_name == "days_between"]


def parts(tools: list[BaseTool]) -> list[dict[str, str]]:
    """Arguments for each tool: days for the servers' tools, nothing for the workflow."""
    days = {"start": "2026-02-02", "end": "2026-02-09"}
    return [days if (tool.metadata or {})["tool_type"] == "mcp" else {} for tool in tools]


@pytest.mark.parametrize("awaited", [False, True])
def test_equal_names_of_two_servers_and_a_workflow_are_distinct_callable_tools(tmp_path: Path, awaited: bool) -> None:
    document = tmp_path / "days.json"
    document.write_text(json.dumps(WORKFLOW), encoding="utf-8")
    filestore = FileStore(folder=tmp_path / "store")
    with ExitStack() as stack:
        command = [[sys.executable, str(EXAMPLES / script), "--port", "0"] for script in SERVERS]
        urls = [stack.enter_context(running(line, r"listening on (\S+)"))[1][1] for line in command]
        workflow = workflow_to_tool(document, registry=NodeRegistry.load(), filestore=filestore)
        columns = [encode_tools(days_between(url)) for url in urls] + [encode_tools([workflow])]
        rows = [tool for tool in decode_tools(pa.chunked_array(columns)) if tool is not None]
        context = stack.enter_context(tool_context(filestore=filestore))
        tools: list[BaseTool] = [*to_langchain_tools(rows, context, max_result_chars=None)]
        if awaited:
            said = [asyncio.run(tool.ainvoke(arguments)) for tool, arguments in zip(tools, parts(tools), strict=True)]
        else:
            said = [tool.invoke(arguments) for tool, arguments in zip(tools, parts(tools), strict=True)]
        assert [tool.name for tool in tools] == ["days_between", "days_between_2", "days_between_3"]
        assert json.loads(said[0]) == {"days": 7, "weeks": 1.0}
        assert json.loads(said[1]) == {"working_days": 5}
        assert said[2] == "The house counts from Monday."
        run = Agent(OfflineChatModel(), tools[:2]).run("How many working days lie between 2026-02-02 and 2026-02-09?")
        assert run.tool_calls >= 1
        assert "working days" in run.answer
