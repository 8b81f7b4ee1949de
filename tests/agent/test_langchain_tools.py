from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import BaseTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool

from knime.types.tool import MCPTool, Tool, ToolPort, WorkflowTool
from knime_ext.agent import DataRepository, to_langchain_tools, tool_definitions
from knime_ext.errors import ConfigurationError, MCPTimeout, ToolFailed
from knime_ext.tools import ToolResult
from tests.agent.orders import Table

Executed = tuple[str, dict[str, Any], list[Any], dict[str, str]]


@dataclass
class Host:
    """A host with nothing but the two methods that KNIME's context has or gets."""

    outputs: list[Any] = field(default_factory=list[Any])
    executed: list[Executed] = field(default_factory=list[Executed])
    called: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list[tuple[str, str, dict[str, Any]]])
    fails: Exception | None = None

    def _execute_tool(
        self, tool: WorkflowTool, parameters: dict[str, Any], inputs: list[Any], execution_hints: dict[str, str]
    ) -> tuple[str, list[Any], list[str]]:
        self.executed.append((tool.name, parameters, inputs, execution_hints))
        if self.fails:
            raise self.fails
        return f"{tool.description} ran", self.outputs, []

    def _execute_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> str:
        self.called.append((tool.server_uri, tool.tool_name, parameters))
        if self.fails:
            raise self.fails
        return f"{tool.tool_name} at {tool.server_uri}"


class RichHost(Host):
    """A host that also keeps every content block."""

    result = ToolResult.of_text("plain")

    async def _acall_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> ToolResult:
        await asyncio.sleep(0)
        return self.result


def workflow(name: str = "rank", parameters: dict[str, Any] | None = None, **ports: list[ToolPort]) -> WorkflowTool:
    return WorkflowTool(
        name,
        f"workflow {name}",
        parameters or {},
        -1,
        ports.get("inputs"),
        ports.get("outputs"),
        _filestore_keys="v1:k",
    )


def port(name: str, about: str = "", spec: str = "") -> ToolPort:
    return ToolPort(name, about, "Table", spec)


def mcp(
    name: str = "echo", server: str = "http://a.example/sse", schema: dict[str, Any] | None = None, **more: Any
) -> MCPTool:
    return MCPTool(
        name, f"tool {name}", {"type": "object", "properties": {}} if schema is None else schema, server, **more
    )


def text_of(tool: BaseTool, arguments: dict[str, Any]) -> str:
    return tool.invoke(arguments)


NESTED: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "BookArguments",
    "description": "Everything about the trip",
    "type": "object",
    "properties": {
        "title": {"type": "string", "title": "Title"},
        "who": {"$ref": "#/$defs/Person"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "default": []},
        "urgent": {"type": "boolean"},
        "config": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["title", "who"],
    "$defs": {
        "Person": {"type": "object", "properties": {"name": {"type": "string"}, "boss": {"$ref": "#/$defs/Person"}}}
    },
    "additionalProperties": False,
}


def test_mixed_rows_go_by_their_type_to_the_workflow_executor_or_to_their_server() -> None:
    host = Host()
    *tools, _ = to_langchain_tools(
        [workflow(), mcp(tool_name="wire")], host, execution_hints={"execution-mode": "DEBUG"}
    )
    assert [text_of(tool, {}) for tool in tools] == ["workflow rank ran", "wire at http://a.example/sse"]
    assert host.executed == [("rank", {}, [], {"execution-mode": "DEBUG", "with-view-nodes": "false"})]
    assert host.called == [("http://a.example/sse", "wire", {})]


def test_equal_names_from_two_servers_and_a_workflow_stay_apart_and_reach_the_right_place() -> None:
    host = Host()
    rows = [mcp("echo", "http://a.example:81/sse"), workflow("echo"), mcp("echo", "http://b.example/sse")]
    *tools, _ = to_langchain_tools(rows, host)
    assert [tool.name for tool in tools] == ["echo", "echo_2", "echo_3"]
    assert [text_of(tool, {}) for tool in tools] == [
        "echo at http://a.example:81/sse",
        "workflow echo ran",
        "echo at http://b.example/sse",
    ]
    assert [
        "a.example:81" in tools[0].description,
        "workflow" in tools[1].description,
        "b.example" in tools[2].description,
    ] == [True] * 3


def test_what_tells_equal_names_apart_holds_neither_password_nor_path() -> None:
    tools = to_langchain_tools(
        [mcp("echo", "http://h.example/private/token-1"), mcp("echo", "http://i.example/")], Host()
    )
    assert "token-1" not in tools[0].description


def test_the_metadata_tells_where_a_tool_comes_from() -> None:
    row = mcp("Echo it", tool_name="echo", provider="team", annotations={"readOnlyHint": True})
    metadata = [tool.metadata for tool in to_langchain_tools([row, workflow("Wörk")], Host())][:2]
    assert metadata == [
        {
            "tool_type": "mcp",
            "display_name": "Echo it",
            "server": "http://a.example/sse",
            "provider": "team",
            "wire_name": "echo",
            "annotations": {"readOnlyHint": True},
            "origin": "server team",
        },
        {
            "tool_type": "workflow",
            "display_name": "Wörk",
            "server": None,
            "provider": None,
            "wire_name": "Wörk",
            "annotations": {},
            "origin": "workflow",
        },
    ]


def test_the_whole_schema_of_a_server_reaches_the_model_unchanged() -> None:
    tools = to_langchain_tools([mcp("book", schema=NESTED)], Host())
    assert tool_definitions(tools) == [
        {"type": "function", "function": {"name": "book", "description": "tool book", "parameters": NESTED}}
    ]


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_arguments_is_offered_and_works(schema: dict[str, Any]) -> None:
    [tool, _] = to_langchain_tools([mcp(schema=schema)], Host())
    assert tool_definitions([tool])[0]["function"]["parameters"] == {"type": "object", "properties": {}}
    assert text_of(tool, {}) == "echo at http://a.example/sse"


def test_langchains_own_conversion_works_too() -> None:
    plain = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    [tool, _] = to_langchain_tools([mcp("find", schema=plain)], Host())
    assert convert_to_openai_tool(tool)["function"] == {"name": "find", "description": "tool find", "parameters": plain}


def test_arguments_called_like_langchains_own_arrive() -> None:
    names = ["config", "run_manager", "callbacks", "self", "args", "kwargs", "type", "name"]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    host = Host()
    [tool, _] = to_langchain_tools([mcp(schema=schema)], host)
    tool.invoke({"type": "tool_call", "id": "1", "name": "echo", "args": {name: name for name in names}})
    assert host.called[0][2] == {name: name for name in names}


def test_simple_types_only_offers_texts_and_numbers_and_still_calls_with_the_real_types() -> None:
    host = Host()
    [tool, _] = to_langchain_tools([mcp("book", schema=NESTED)], host, simple_types_only=True)
    offered = tool_definitions([tool])[0]["function"]["parameters"]["properties"]
    assert {part["type"] for part in offered.values()} == {"string"}
    assert set(offered) == {"title", "who"}
    tool.invoke({"title": "Trip", "who": '{"name": "Ann"}'})
    assert host.called[0][2] == {"title": "Trip", "who": {"name": "Ann"}}


def test_simple_types_only_flattens_the_arguments_of_a_workflow() -> None:
    host, data = Host(), DataRepository()
    data.add("orders", "", Table(["a"]))
    parameters = {
        "top": {"type": "integer", "default": 3},
        "deep": {"type": "boolean", "default": True},
        "in": {"type": "string"},
    }
    row = workflow(parameters=parameters, inputs=[port("orders"), port("in")])
    [tool, _] = to_langchain_tools([row], host, data=data, simple_types_only=True)
    schema = tool_definitions([tool])[0]["function"]["parameters"]
    assert {name: part["type"] for name, part in schema["properties"].items()} == {
        "top": "integer",
        "in": "string",
        "orders": "integer",
        "in_data": "integer",
    }
    assert schema["required"] == ["in", "orders", "in_data"]
    tool.invoke({"top": 5, "in": "x", "orders": 0, "in_data": 0})
    table = data.table(0)
    assert host.executed[0][:3] == ("rank", {"top": 5, "deep": True, "in": "x"}, [table, table])


def test_a_workflow_says_what_tables_it_takes_and_gives() -> None:
    spec = '{"name": "t", "columns": [{"name": "customer", "type": "String"}, {"name": "price", "type": "Double"}]}'
    row = workflow(inputs=[port("orders", "All orders", spec)], outputs=[port("ranking", "Best first")])
    [tool, _] = to_langchain_tools([row], Host())
    assert tool.description == (
        "workflow rank\n\nData inputs:\n- orders: All orders [columns: customer (String), price (Double)]"
        "\n\nData outputs:\n- ranking: Best first"
    )


def test_tables_go_in_by_id_and_come_out_under_new_ids_that_the_model_is_told() -> None:
    data, orders, ranking = DataRepository(), Table(["customer"]), Table(["customer", "revenue"], 8)
    data.add("orders", "All orders", orders)
    host = Host(outputs=[ranking])
    row = workflow(
        parameters={"top": {"type": "integer", "default": 3}},
        inputs=[port("orders")],
        outputs=[port("ranking", "Best first")],
    )
    [tool, _] = to_langchain_tools([row], host, data=data)
    message = tool.invoke({"type": "tool_call", "id": "1", "name": "rank", "args": {"data_inputs": {"orders": 0}}})
    assert host.executed[0][:3] == ("rank", {"top": 3}, [orders])
    assert message.content == (
        "workflow rank ran\n\nNew data, to be handed to tools by its id:\n"
        '{"id": 1, "name": "ranking", "description": "Best first", '
        '"columns": {"customer": "string", "revenue": "string"}}'
    )
    assert data.table(1) is ranking
    assert message.artifact.content[1] == {
        "type": "table",
        "id": "1",
        "name": "ranking",
        "description": "Best first",
        "columns": {"customer": "string", "revenue": "string"},
        "rows": 8,
    }


def test_an_unknown_data_id_lists_the_known_ones_and_runs_nothing() -> None:
    data, host = DataRepository(), Host()
    data.add("orders", "", Table(["a"]))
    [tool, _] = to_langchain_tools([workflow(inputs=[port("orders")])], host, data=data)
    with pytest.raises(ToolException, match="known ids are 0"):
        tool.invoke({"data_inputs": {"orders": 9}})
    assert host.executed == []


def test_a_failed_workflow_adds_no_table_and_tells_the_model_why() -> None:
    data = DataRepository()
    [tool, _] = to_langchain_tools(
        [workflow(outputs=[port("out")])], Host(fails=RuntimeError("the CSV file is missing")), data=data
    )
    with pytest.raises(ToolException, match="the CSV file is missing"):
        tool.invoke({})
    assert len(data) == 0


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ToolFailed("no such city: Atlantis"), "no such city: Atlantis"),
        (MCPTimeout("'http://a' gave no answer within 60 s"), "within 60 s"),
        (KeyError(), "the tool 'echo' failed with KeyError"),
    ],
)
def test_every_failure_of_a_call_is_a_tool_exception_with_its_reason(error: Exception, words: str) -> None:
    [tool, _] = to_langchain_tools([mcp()], Host(fails=error))
    for attempt in (lambda: tool.invoke({}), lambda: asyncio.run(tool.ainvoke({}))):
        with pytest.raises(ToolException, match=words):
            attempt()


def test_wrong_arguments_are_refused_before_the_call_with_what_to_change() -> None:
    host = Host()
    [tool, _] = to_langchain_tools([mcp("book", schema=NESTED)], host)
    with pytest.raises(ToolException, match=r"'urgent' must be of type boolean.*must have 'who'"):
        tool.invoke({"title": "x", "urgent": "very"})
    assert host.called == []


def test_a_rich_host_gives_every_block_and_marks_failures() -> None:
    host = RichHost()
    image = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    host.result = ToolResult(content=({"type": "text", "text": "a chart"}, image), structured={"n": 1})
    [tool, _] = to_langchain_tools([mcp()], host)
    message = asyncio.run(tool.ainvoke({"type": "tool_call", "id": "1", "name": "echo", "args": {}}))
    assert message.artifact is host.result
    assert message.content == "a chart\n[image: image/png, 3 bytes]"
    host.result = ToolResult.of_text("quota used up", is_error=True)
    with pytest.raises(ToolException, match="quota used up"):
        asyncio.run(tool.ainvoke({}))


def invoke_blocking(tool: BaseTool) -> str:
    return tool.invoke({})


def invoke_awaited(tool: BaseTool) -> str:
    return asyncio.run(tool.ainvoke({}))


def invoke_blocking_inside_a_loop(tool: BaseTool) -> str:
    async def inside() -> str:
        return tool.invoke({})

    return asyncio.run(inside())


@pytest.mark.parametrize("invoke", [invoke_blocking, invoke_awaited, invoke_blocking_inside_a_loop])
@pytest.mark.parametrize("row", [mcp(), workflow()], ids=["mcp", "workflow"])
def test_a_tool_works_blocking_awaited_and_inside_a_running_loop(invoke: Callable[[BaseTool], str], row: Tool) -> None:
    [tool, _] = to_langchain_tools([row], Host())
    assert invoke(tool) in ("echo at http://a.example/sse", "workflow rank ran")


def test_calls_run_side_by_side_awaited_and_from_threads() -> None:
    meeting = threading.Barrier(4, timeout=10)

    class Meets(Host):
        def _execute_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> str:
            meeting.wait()
            return str(parameters["n"])

    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    [tool, _] = to_langchain_tools([mcp(schema=schema)], Meets())

    async def together() -> list[str]:
        return await asyncio.gather(*(tool.ainvoke({"n": number}) for number in range(4)))

    assert asyncio.run(together()) == ["0", "1", "2", "3"]

    def blocking(number: int) -> str:
        return tool.invoke({"n": number})

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(blocking, range(4))) == ["0", "1", "2", "3"]


def test_a_cancelled_call_lets_its_caller_go_at_once() -> None:
    release, entered = threading.Event(), threading.Event()

    class Hangs(Host):
        def _execute_tool(self, tool: WorkflowTool, parameters: Any, inputs: Any, execution_hints: Any) -> Any:
            entered.set()
            release.wait(20)
            return "late", [Table(["a"])], []

    data = DataRepository()
    [tool, _] = to_langchain_tools([workflow(outputs=[port("out")])], Hangs(), data=data)

    async def cancelled() -> None:
        call = asyncio.ensure_future(tool.ainvoke({}))
        assert await asyncio.to_thread(entered.wait, 10)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(call, 5)

    asyncio.run(cancelled())
    release.set()
    assert len(data) == 0


def test_what_is_no_tool_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="neither a workflow tool nor an MCP tool"):
        to_langchain_tools([Tool("x", "", {})], Host())


@given(st.lists(st.text(max_size=80), max_size=12))
def test_any_names_give_distinct_callable_tools_that_reach_their_row(names: list[str]) -> None:
    host = Host()
    rows = [mcp(name, f"http://s{index}.example/", tool_name=f"wire{index}") for index, name in enumerate(names)]
    tools = to_langchain_tools(rows, host)
    assert len({tool.name for tool in tools}) == len(tools)
    for tool in tools[: len(names)]:
        tool.invoke({})
    assert [(server, wire) for server, wire, _ in host.called] == [
        (f"http://s{index}.example/", f"wire{index}") for index in range(len(names))
    ]
