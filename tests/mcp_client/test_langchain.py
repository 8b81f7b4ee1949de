"""A server's tools in LangChain: blocking and awaited, with their origin, failures as ToolException."""

import asyncio

import pytest
from langchain_core.tools import BaseTool, ToolException

from knime_ext.mcp import MCPClient, StreamableHTTPServer
from knime_ext.tools import ToolResult
from tests.servers.legacy import ECHO, LegacyServer, serving, text_result
from tests.servers.openmetadata import OpenMetadataServer


def test_langchain_tools_know_where_they_come_from(catalog: OpenMetadataServer):
    server = StreamableHTTPServer(catalog.url, headers={"Authorization": f"Bearer {catalog.token}"})
    with MCPClient("catalog", providers={"catalog": server}) as client:
        (tool,) = client.as_langchain_tools(include=["search_*"])
        assert isinstance(tool, BaseTool)
        assert tool.metadata == {
            "tool_type": "mcp",
            "display_name": "search_metadata",
            "server": catalog.url,
            "provider": "catalog",
            "wire_name": "search_metadata",
            "annotations": {},
        }
        assert tool.args["query"] == {"type": "string", "description": "Words to look for."}


def test_a_langchain_tool_can_be_invoked_and_awaited_also_inside_a_running_loop(toolbox: str):
    async def scenario(tool: BaseTool) -> list[str]:
        return [await tool.ainvoke({"name": "a"}), tool.invoke({"name": "b"})]

    with MCPClient(toolbox) as client:
        (tool,) = client.as_langchain_tools("greet")
        assert tool.invoke({"name": "Ada"}) == "Hello, Ada."
        assert asyncio.run(scenario(tool)) == ["Hello, a.", "Hello, b."]


def test_a_langchain_tool_call_gives_a_message_with_the_whole_result(toolbox: str):
    with MCPClient(toolbox) as client:
        (tool,) = client.as_langchain_tools("picture")
        message = tool.invoke({"type": "tool_call", "id": "1", "name": "picture", "args": {}})
    assert message.content.startswith("[image: image/png, ")
    assert isinstance(message.artifact, ToolResult)
    assert message.artifact.content[0]["mimeType"] == "image/png"


def test_a_failed_tool_raises_a_tool_exception(catalog: OpenMetadataServer):
    with MCPClient(catalog.url, token=catalog.token) as client:
        tools = {tool.name: tool for tool in client.as_langchain_tools()}
        with pytest.raises(ToolException, match="exists already"):
            tools["create_glossary"].invoke({"name": "a", "description": "b"})
        with pytest.raises(ToolException, match="must have 'query'"):
            tools["search_metadata"].invoke({"limit": 1})
        with pytest.raises(ToolException, match="exists already"):
            asyncio.run(tools["create_glossary"].ainvoke({"name": "a", "description": "b"}))
        calls_before = catalog.seen.count("tools/call")
        with pytest.raises(ToolException, match="must be of type integer"):
            tools["search_metadata"].invoke({"query": "x", "limit": "many"})
        assert catalog.seen.count("tools/call") == calls_before


def test_arguments_may_have_the_names_of_langchains_own():
    async def mirror(params: dict[str, object]) -> dict[str, object]:
        return text_result(str(params["arguments"]))

    schema = {"type": "object", "properties": {"config": {"type": "string"}, "callbacks": {"type": "integer"}}}
    tool = {"name": "awkward", "inputSchema": schema}
    with serving(LegacyServer(tools=[tool], on_call=mirror)) as server, MCPClient(server.url) as client:
        (made,) = client.as_langchain_tools()
        assert made.invoke({"config": "a", "callbacks": 1}) == "{'config': 'a', 'callbacks': 1}"


def test_names_and_texts_are_fit_for_a_model_and_calls_use_the_servers_own():
    seen: list[str] = []

    async def note(params: dict[str, object]) -> dict[str, object]:
        seen.append(str(params["name"]))
        return text_result("do\u200bne")

    tools = [
        {**ECHO, "name": "wetter.köln/heute", "description": "Das\u202e Wetter"},
        {**ECHO, "name": "wetter_koln_heute"},
    ]
    with serving(LegacyServer(tools=tools, on_call=note)) as server, MCPClient(server.url) as client:
        first, second = client.as_langchain_tools()
        assert (first.name, first.description) == ("wetter_koln_heute_2", "Das Wetter")
        assert second.name == "wetter_koln_heute"
        assert first.invoke({"text": "x"}) == "done"
        (alone,) = client.as_langchain_tools(include="wetter.*")
        assert alone.name == first.name
        assert client.create_tool_executor()(first.name, {"text": "x"}) == {"result": "do\u200bne"}
    assert seen == ["wetter.köln/heute", "wetter.köln/heute"]


def test_tools_reopen_their_client(toolbox: str):
    with MCPClient(toolbox) as client:
        (tool,) = client.as_langchain_tools("greet")
    assert not client.is_client_initialized
    with client:
        assert tool.invoke({"name": "again"}) == "Hello, again."
