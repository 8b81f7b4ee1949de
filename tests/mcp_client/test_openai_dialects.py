"""Schemas in a vendor's dialect, and the arguments of the model's calls back in what the tool wants."""

import asyncio
import json
from typing import Any

import pytest

from knime_ext.errors import ConfigurationError
from knime_ext.mcp import MCPClient, MCPRegistry, ToolConfig, URLServer
from tests.mcp_client.completions import asking
from tests.servers.legacy import JSON, LegacyServer, serving, text_result

TOOL: dict[str, Any] = {
    "name": "plan",
    "description": "Plans.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "day": {"type": "string", "minLength": 3},
            "people": {"type": "integer", "enum": [1, 2]},
            "extras": {"type": "object"},
        },
        "required": ["day"],
    },
}


async def repeat(params: JSON) -> JSON:
    return text_result(json.dumps(params["arguments"], sort_keys=True))


def parameters(tools: list[dict[str, Any]]) -> dict[str, Any]:
    return tools[0]["function"]["parameters"]


def test_strict_schemas_require_every_argument_and_the_executor_leaves_out_what_the_model_made_null():
    with serving(LegacyServer(tools=[TOOL], on_call=repeat)) as server, MCPClient(server.url) as client:
        tools = client.as_openai_tools(dialect="openai-strict")
        assert tools[0]["function"]["strict"] is True
        assert parameters(tools)["required"] == ["day", "people", "extras"]
        assert parameters(tools)["additionalProperties"] is False
        assert asyncio.run(client.aas_openai_tools(dialect="openai-strict")) == tools
        assert parameters(client.as_openai_tools()) == TOOL["inputSchema"]

        call = {"day": "Monday", "people": None, "extras": '{"lunch": true}'}
        execute = client.create_tool_executor(dialect="openai-strict")
        assert execute("plan", json.dumps(call)) == {"day": "Monday", "extras": {"lunch": True}}
        awaited = client.create_async_tool_executor(dialect="openai-strict")
        assert asyncio.run(run(awaited, {"day": "Monday", "people": 2})) == {"day": "Monday", "people": 2}


async def run(execute: Any, arguments: dict[str, Any]) -> Any:
    return await execute("plan", arguments)


def test_enums_of_numbers_go_to_gemini_as_texts_and_come_back_as_numbers():
    with serving(LegacyServer(tools=[TOOL], on_call=repeat)) as server, MCPClient(server.url) as client:
        schema = parameters(client.as_openai_tools(dialect="gemini"))
        assert schema["properties"]["people"]["enum"] == ["1", "2"]
        execute = client.create_tool_executor(dialect="gemini")
        assert execute("plan", {"day": "Monday", "people": "2"}) == {"day": "Monday", "people": 2}


def test_a_facade_reads_replies_in_the_dialect_in_which_it_gave_the_schemas():
    with serving(LegacyServer(tools=[TOOL], on_call=repeat)) as server:
        config = ToolConfig(tool_alias="plans", providers=["one"])
        with MCPRegistry({"one": URLServer(server.url)}, [config]) as registry:
            facade = registry.get_mcp("plans")
            reply = asking(("plan", {"day": "Monday", "people": None, "extras": None}))
            assert parameters(facade.get_tool_schemas("openai-strict"))["required"] == ["day", "people", "extras"]
            assert facade.process_completion_response(reply)[1]["content"] == '{"day": "Monday"}'
            assert parameters(asyncio.run(facade.aget_tool_schemas())) == TOOL["inputSchema"]
            assert "'people'" in facade.process_completion_response(reply)[1]["content"]


def test_a_dialect_that_nobody_speaks_is_refused():
    with serving(LegacyServer(tools=[TOOL])) as server, MCPClient(server.url) as client:
        with pytest.raises(ConfigurationError, match="no dialect of schemas called 'strict'; write one of 'openai-s"):
            client.as_openai_tools(dialect="strict")
        assert "no dialect" in client.create_tool_executor(dialect="strict")("plan", {})["error"]
