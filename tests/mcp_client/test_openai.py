"""A server's tools in OpenAI's form, and an executor for the calls that come back."""

import asyncio
from typing import Any

from knime_ext.mcp import MCPClient
from tests.servers.legacy import LegacyServer, serving
from tests.servers.openmetadata import TOOLS, OpenMetadataServer
from tests.servers.process import free_port


def test_tools_are_function_schemas(catalog: OpenMetadataServer):
    with MCPClient(catalog.url, token=catalog.token) as client:
        assert client.as_openai_tools(include="search_*") == [
            {
                "type": "function",
                "function": {
                    "name": "search_metadata",
                    "description": TOOLS[0]["description"],
                    "parameters": TOOLS[0]["inputSchema"],
                },
            }
        ]


def test_schemas_keep_every_keyword_and_a_tool_without_arguments_gets_an_empty_object():
    schema = {"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}, "type": "object"}
    tools = [{"name": "a", "inputSchema": schema}, {"name": "b", "inputSchema": {"type": "object"}}]
    with serving(LegacyServer(tools=tools)) as server, MCPClient(server.url) as client:
        first, second = client.as_openai_tools()
    assert first["function"]["parameters"] == schema
    assert second["function"]["parameters"] == {"type": "object", "properties": {}}


def test_an_executor_takes_objects_and_json_texts(toolbox: str):
    with MCPClient(toolbox) as client:
        execute = client.create_tool_executor()
        assert execute("add", {"a": 1, "b": 2}) == {"result": 3}
        assert execute("greet", '{"name": "Ada"}') == {"result": "Hello, Ada."}
        assert execute("mirror", {"point": {"x": 1, "y": 2}}) == {"x": -1, "y": -2}
        assert execute("cancellations", "").keys() == execute("cancellations", None).keys() == {"result"}


def test_an_executor_never_raises_for_a_call(catalog: OpenMetadataServer):
    with MCPClient(catalog.url, token=catalog.token) as client:
        execute = client.create_tool_executor()
        assert execute("create_glossary", {"name": "a", "description": "b"}) == {
            "error": "A glossary of that name exists already"
        }
        assert "Did you mean 'patch_entity'" in execute("patch_entities", {})["error"]
        assert "not valid JSON" in execute("search_metadata", '{"query": ')["error"]
        assert "must be a JSON object" in execute("search_metadata", "[1]")["error"]
    with MCPClient(f"http://127.0.0.1:{free_port()}/mcp") as client:
        assert "cannot reach server" in client.create_tool_executor()("x", {})["error"]
        assert "cannot reach server" in asyncio.run(_awaited(client))["error"]


async def _awaited(client: MCPClient) -> dict[str, Any]:
    return await client.create_async_tool_executor()("x", {})


def test_an_executor_finds_tools_that_came_later():
    tools: list[dict[str, object]] = [{"name": "old", "inputSchema": {"type": "object"}}]
    with serving(LegacyServer(tools=tools)) as server, MCPClient(server.url) as client:
        execute = client.create_tool_executor()
        assert execute("old", {"text": "1"}) == {"result": "1"}
        tools.append({"name": "new", "inputSchema": {"type": "object"}})
        assert execute("new", {"text": "2"}) == {"result": "2"}
