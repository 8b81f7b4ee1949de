"""LangChain tools from an agent definition: one client per enabled server."""

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from knime_ext.errors import ConfigurationError, MCPConnectionError
from knime_ext.mcp import (
    MCPClient,
    Server,
    StreamableHTTPServer,
    URLServer,
    create_mcp_tools,
    create_mcp_tools_for_server,
    create_mcp_tools_from_agent,
    read_agent_definition,
)
from tests.servers.openmetadata import TOOLS, OpenMetadataServer
from tests.servers.process import free_port

T = TypeVar("T")

YAML = """
resources:
  - $resourceType: escalation
    channels: []
  - name: Catalog
    slug: catalog
    folder_path: Shared/Data
    tools:
      - name: search_metadata
        description: Looks things up.
        input_schema: {type: object, properties: {query: {type: string}}, required: [query]}
  - name: Switched off
    slug: nowhere
    is_enabled: false
"""


def run(scenario: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(scenario, 30))


@pytest.fixture
def providers(catalog: OpenMetadataServer, toolbox: str) -> dict[str, Server]:
    return {
        "catalog": StreamableHTTPServer(catalog.url, headers={"Authorization": f"Bearer {catalog.token}"}),
        "toolbox": URLServer(toolbox),
    }


def test_a_definition_gives_tools_and_one_client_per_enabled_server(
    providers: dict[str, Server], catalog: OpenMetadataServer, tmp_path: Path
):
    file = tmp_path / "agent.yaml"
    file.write_text(YAML, encoding="utf-8")

    async def scenario() -> None:
        tools, clients = await create_mcp_tools_from_agent(file, providers=providers)
        assert [client.server.uri for client in clients] == [catalog.url]
        assert catalog.seen == []  # everything stands in the definition
        (tool,) = tools
        assert (tool.name, tool.description) == ("search_metadata", "Looks things up.")
        assert tool.metadata == {
            "tool_type": "mcp",
            "display_name": "search_metadata",
            "server": catalog.url,
            "provider": "catalog",
            "wire_name": "search_metadata",
            "annotations": {},
            "slug": "catalog",
            "folder_path": "Shared/Data",
        }
        assert "shop.sales.public.carriers" in await tool.ainvoke({"query": "carriers"})
        assert clients[0].is_client_initialized
        await clients[0].aclose()

    run(scenario())


def test_a_definition_may_be_written_in_camel_case_as_json_and_name_urls(toolbox: str, tmp_path: Path):
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    resource = {
        "$resourceType": "mcp",
        "name": "Toolbox",
        "slug": "tools",
        "folderPath": "solution",
        "isEnabled": None,
        "url": toolbox,
        "availableTools": [{"name": "greet", "description": "Hi", "inputSchema": schema, "outputSchema": {}}],
    }
    file = tmp_path / "agent.json"
    file.write_text(json.dumps({"name": "agent", "resources": [resource]}), encoding="utf-8")

    async def scenario() -> None:
        async with create_mcp_tools(file, providers={}) as tools:
            assert [(tool.name, tool.metadata and tool.metadata["folder_path"]) for tool in tools] == [
                ("greet", "solution")
            ]
            assert await tools[0].ainvoke({"name": "Ada"}) == "Hello, Ada."

    run(scenario())
    assert read_agent_definition([resource]) == read_agent_definition(resource) == read_agent_definition(file)


def test_what_the_definition_does_not_say_is_asked_of_the_server(
    providers: dict[str, Server], catalog: OpenMetadataServer
):
    resources = [
        {"name": "toolbox", "tools": [{"name": "greet", "description": "Says hello."}]},
        {"name": "All", "slug": "catalog"},
    ]

    async def scenario() -> None:
        async with create_mcp_tools(resources, providers=providers) as tools:
            assert [tool.name for tool in tools] == ["greet", *(tool["name"] for tool in TOOLS)]
            assert tools[0].description == "Says hello."
            assert list(tools[0].args) == ["name", "excited"]
            assert tools[1].description == TOOLS[0]["description"]

    run(scenario())


def test_equal_names_of_two_servers_get_distinct_names(providers: dict[str, Server], toolbox: str):
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    resources = [
        {"name": name, "server": toolbox, "tools": [{"name": "greet", "input_schema": schema}]} for name in ("A", "B")
    ]

    async def scenario() -> None:
        async with create_mcp_tools(resources, providers=providers) as tools:
            assert [tool.name for tool in tools] == ["greet", "greet_2"]
            assert await tools[1].ainvoke({"name": "Ada"}) == "Hello, Ada."

    run(scenario())


def test_tools_of_one_server_use_the_callers_client(toolbox: str):
    async def scenario() -> None:
        async with MCPClient(toolbox) as client:
            (tool,) = await create_mcp_tools_for_server({"name": "T", "tools": [{"name": "add"}]}, client)
            assert await tool.ainvoke({"a": 1, "b": 2}) == "3"
            assert await create_mcp_tools_for_server({"name": "T", "is_enabled": False}, client) == []

    run(scenario())


def test_a_server_that_has_to_be_asked_and_is_dead_leaves_no_client_open(toolbox: str):
    resources = [{"name": "T", "server": toolbox}, {"name": "D", "server": f"http://127.0.0.1:{free_port()}/mcp"}]
    with pytest.raises(MCPConnectionError):
        run(create_mcp_tools_from_agent(resources, providers={}))


@pytest.mark.parametrize(
    ("definition", "fault"),
    [
        ({"resources": [{"slug": "x"}]}, r"the agent definition, resources\[0\].name: field required"),
        ({"resources": "none"}, "has no list of 'resources'"),
        ({}, "has no list of 'resources'"),
        ([7], r"resources\[0\]"),
        ([{"name": "a", "tools": [{"name": "t"}, {"description": "d"}]}], r"resources\[0\].tools\[1\].name"),
        ([{"name": "Crm", "slug": "crm"}], "server resource 'Crm': no provider 'crm' is registered"),
        ([{"name": "toolbox", "tools": [{"name": "nope"}]}], "server resource 'toolbox' has no tool 'nope'"),
        ("nothing.yaml", "cannot read agent definition 'nothing.yaml'"),
    ],
)
def test_a_wrong_definition_is_refused_with_its_place(providers: dict[str, Server], definition: Any, fault: str):
    with pytest.raises(ConfigurationError, match=fault):
        run(create_mcp_tools_from_agent(definition, providers=providers))


def test_a_file_that_is_no_json_or_yaml_is_refused(tmp_path: Path):
    for name, text in {"a.json": "{", "a.yaml": "a: [", "b.yaml": "\x00"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(ConfigurationError, match=rf"{name}' is neither JSON nor YAML"):
            read_agent_definition(tmp_path / name)
