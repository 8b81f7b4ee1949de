"""Tools of servers, toolsets, rows and LangChain as functions of Python."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_type_hints

import pytest
from langchain_core.tools import StructuredTool

from knime.types.tool import WorkflowTool
from knime_ext.agent import DataRepository, MCPToolRegistry
from knime_ext.errors import ConfigurationError, ToolFailed, UnknownTool
from knime_ext.mcp import MCPClient, StreamableHTTPServer, Timeouts
from knime_ext.runtime import FileStore, NodeRegistry, tool_context, workflow_to_tool
from knime_ext.testing import RecordingToolset
from knime_ext.tools import ToolDefinition, ToolResult, Toolset
from tests.agent_code.tools import half, price_of
from tests.servers.process import free_port

ROOT = Path(__file__).parents[2]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for.\n\nIn any language."},
        "limit": {"type": "integer", "default": 10},
        "from": {"type": "string"},
        "user-id": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "order": {"enum": ["new", "old"], "default": "new"},
        "places": {"type": "array", "items": {"$ref": "#/$defs/Place"}},
        "self": {"type": "boolean"},
    },
    "required": ["query"],
    "$defs": {"Place": {"type": "object", "properties": {"city": {"type": "string"}}}},
}


class Search(Toolset):
    """One tool with every kind of parameter, which gives back what it got."""

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        return [ToolDefinition(name="search-web", description="Searches.", parameters=SCHEMA)]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        if arguments["query"] == "fail":
            return ToolResult.of_text("nothing found", is_error=True)
        return ToolResult(structured=dict(arguments))


def test_a_function_has_name_documentation_signature_and_annotations_of_its_schema() -> None:
    with MCPToolRegistry([Search()]) as registry:
        search = registry.get_tool("search_web")
    assert callable(search)
    assert search.__name__ == "search_web"
    assert search.__doc__ == "Searches.\n\nArgs:\n    query: What to look for. In any language."
    assert search.signature.text == (
        "search_web(*, query: str, limit: int = 10, from_: str | None = None, user_id: int | None = None, "
        "order: Literal['new', 'old'] = 'new', places: list[dict] | None = None, self: bool | None = None)"
    )
    parameters = inspect.signature(search).parameters
    assert {parameter.kind for parameter in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}
    assert (parameters["query"].default, parameters["limit"].default) == (inspect.Parameter.empty, 10)
    assert parameters["user_id"].annotation == int | None
    assert get_type_hints(search)["order"] == Literal["new", "old"]


def test_arguments_travel_under_the_names_of_the_schema() -> None:
    with MCPToolRegistry([Search()]) as registry:
        search = registry.get_tool("search-web")
        assert search(query="x", from_="here", user_id=3, self=True) == {
            "query": "x",
            "from": "here",
            "user-id": 3,
            "self": True,
        }
        assert search("x", 5, **{"user-id": 4}) == {"query": "x", "limit": 5, "user-id": 4}
        assert search(query="x", user_id=None) == {"query": "x"}
        assert asyncio.run(search.acall(query="y")) == {"query": "y"}


def test_what_does_not_fit_or_fails_is_an_error_with_a_reason() -> None:
    with MCPToolRegistry([Search()]) as registry:
        search = registry.get_tool("search_web")
        with pytest.raises(TypeError, match=r"has no parameter 'qeury'; call it as search_web\("):
            search(qeury="x")
        with pytest.raises(ToolFailed, match="'limit'"):
            search(query="x", limit="many")
        with pytest.raises(ToolFailed, match="^nothing found$"):
            search(query="fail")
        with pytest.raises(UnknownTool, match="Did you mean 'search_web'"):
            registry.get_tool("search_wep")


def test_sources_of_every_kind_stand_side_by_side(toolbox_url: str, tmp_path: Path) -> None:
    document = ROOT / "examples/orders-agent/tools/customer_revenue.json"
    row = workflow_to_tool(document, registry=NodeRegistry.load(), filestore=FileStore(folder=tmp_path))
    with tool_context() as context:
        sources = [MCPClient(toolbox_url), Search(), price_of, [half, row]]
        with MCPToolRegistry(sources, context=context, data=DataRepository()) as registry:
            names = registry.list_tools()
            assert {"add", "greet", "search_web", "price_of", "half", "customer_revenue"} <= set(names)
            assert list(registry.get_all_tools()) == names == [one.name for one in registry.definitions()]
            assert registry.get_tool("add")(a=1, b=2) == 3
            assert registry.get_tool("mirror")(point={"x": 1, "y": -2}) == {"x": -1, "y": 2}
            assert registry.get_tool("picture")().startswith("[image: image/png, ")
            assert registry.get_tool("half")(n=3) == 1.5
            assert registry.problems == ()


def test_a_row_needs_something_that_runs_it() -> None:
    row = WorkflowTool(name="report", description="", parameter_schema={})
    with pytest.raises(ConfigurationError, match=r"the tool row 'report' needs .* context=tool_context\(\)"):
        MCPToolRegistry([row])
    with pytest.raises(ConfigurationError, match="'int' is no source of tools"):
        MCPToolRegistry([1])  # pyright: ignore[reportArgumentType]


def test_equal_names_and_names_that_python_has_get_names_of_their_own() -> None:
    names = ["search", "search", "print", "class", "json", "2nd", "größe", "tools"]
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    tools = [
        StructuredTool.from_function(lambda: None, name=name, description="", args_schema=schema) for name in names
    ]
    registry = MCPToolRegistry([tools])
    assert registry.list_tools() == ["search", "search_2", "print_", "class_", "json_", "_2nd", "gr__e", "tools_"]


def test_a_dead_server_hides_no_other_and_is_asked_again_on_refresh(toolbox_url: str) -> None:
    dead = MCPClient(StreamableHTTPServer(f"http://127.0.0.1:{free_port()}/mcp", timeouts=Timeouts(connect=2)))
    with MCPToolRegistry([dead, MCPClient(toolbox_url)]) as registry:
        assert "add" in registry.list_tools()
        assert len(registry.problems) == 1
        with pytest.raises(UnknownTool, match="no tool 'other'.*127.0.0.1"):
            registry.get_tool("other")


def test_a_closed_registry_has_closed_its_clients_and_opens_them_again(toolbox_url: str) -> None:
    client = MCPClient(toolbox_url)
    registry = MCPToolRegistry([client])
    assert registry.get_tool("add")(a=1, b=1) == 2
    registry.close()
    assert not client.is_client_initialized
    assert registry.get_tool("add")(a=2, b=2) == 4
    registry.close()


def test_calls_of_a_toolset_are_its_own_calls() -> None:
    toolset = RecordingToolset(["note"])
    with MCPToolRegistry([toolset]) as registry:
        registry.get_tool("note")()
    assert toolset.calls == [("note", {})]
