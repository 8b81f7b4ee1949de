"""LangChain tools from an agent definition: one client per server that the agent uses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from langchain_core.tools import BaseTool

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.agent_definition import (
    AgentServer,
    AgentTool,
    DefinitionSource,
    read_agent_definition,
)
from knime_ext.mcp.client import MCPClient
from knime_ext.mcp.langchain_tools import langchain_tool
from knime_ext.mcp.offered_tools import OfferedTools
from knime_ext.mcp.server_choice import ProviderMap
from knime_ext.mcp.tool_info import ToolInfo
from knime_ext.tools import ToolDefinition

__all__ = ["create_mcp_tools", "create_mcp_tools_for_server", "create_mcp_tools_from_agent"]


async def create_mcp_tools_from_agent(
    definition: DefinitionSource, *, providers: ProviderMap | None = None
) -> tuple[list[BaseTool], list[MCPClient]]:
    """The tools of an agent.

    A server is only contacted for what the definition does not say: its list of tools, or a schema.

    Args:
        definition: The definition, its resources, or the path of its file.
        providers: Registered servers by name; those of the operator if not given.

    Returns:
        The tools, their names unique, and one client per enabled server, in the order of the definition. The caller
        closes the clients. Besides what all tools of servers have, `metadata` holds `slug` and `folder_path`.

    Raises:
        ConfigurationError: The definition is wrong, or a server cannot be used.
        MCPError: A server that has to be asked failed. No client is left open.
    """
    servers = read_agent_definition(definition).servers
    clients = [_client(server, providers) for server in servers]
    try:
        tools = await asyncio.gather(*map(_definitions, servers, clients))
    except BaseException:
        await _close(clients)
        raise
    return _made(servers, clients, tools), clients


async def create_mcp_tools_for_server(config: AgentServer | Mapping[str, Any], client: MCPClient) -> list[BaseTool]:
    """The tools of one server resource over a client that the caller has.

    Raises:
        ConfigurationError: The resource is wrong, or names a tool that the server does not have.
        MCPError: The server had to be asked and failed.
    """
    servers = read_agent_definition(config).servers
    return _made(servers, [client] * len(servers), [await _definitions(server, client) for server in servers])


@asynccontextmanager
async def create_mcp_tools(
    config: DefinitionSource, *, providers: ProviderMap | None = None
) -> AsyncGenerator[list[BaseTool]]:
    """The tools of an agent, or of one server resource, for the length of an `async with` block.

    Arguments and errors are those of `create_mcp_tools_from_agent`; the clients are closed at the end of the block.
    """
    tools, clients = await create_mcp_tools_from_agent(config, providers=providers)
    try:
        yield tools
    finally:
        await _close(clients)


def _client(server: AgentServer, providers: ProviderMap | None) -> MCPClient:
    try:
        return MCPClient(server.address, providers=providers)
    except ConfigurationError as error:
        raise ConfigurationError(f"server resource {server.name!r}: {error}") from None


async def _close(clients: Sequence[MCPClient]) -> None:
    await asyncio.gather(*(client.aclose() for client in clients), return_exceptions=True)


def _made(
    servers: Sequence[AgentServer], clients: Sequence[MCPClient], tools: Sequence[Sequence[ToolDefinition]]
) -> list[BaseTool]:
    calls = [client.tool_calls(_labels(server)) for server, client in zip(servers, clients, strict=True)]
    origins = [one for one, definitions in zip(calls, tools, strict=True) for _ in definitions]
    offered = OfferedTools([definition for definitions in tools for definition in definitions])
    return [langchain_tool(tool, origin) for tool, origin in zip(offered, origins, strict=True)]


def _labels(server: AgentServer) -> dict[str, Any]:
    labels = {"slug": server.slug, "folder_path": server.folder_path}
    return {name: value for name, value in labels.items() if value is not None}


async def _definitions(server: AgentServer, client: MCPClient) -> list[ToolDefinition]:
    wanted = server.tools
    if wanted is not None and all(tool.input_schema is not None for tool in wanted):
        return [_definition(tool, None, client) for tool in wanted]
    listed = {tool.name: tool for tool in await client.alist_tools()}
    if wanted is None:
        return [_definition(AgentTool(name=name), tool, client) for name, tool in listed.items()]
    missing = [tool.name for tool in wanted if tool.input_schema is None and tool.name not in listed]
    if missing:
        raise ConfigurationError(
            f"server resource {server.name!r} has no tool {missing[0]!r} (its tools: {', '.join(listed) or 'none'}); "
            "correct the name or give the tool an 'input_schema'"
        )
    return [_definition(tool, listed.get(tool.name), client) for tool in wanted]


def _definition(tool: AgentTool, listed: ToolInfo | None, client: MCPClient) -> ToolDefinition:
    """What the definition says, completed by what the server says."""
    known = ToolInfo(name=tool.name, schema={"type": "object"}, title=tool.name) if listed is None else listed
    return ToolDefinition(
        name=tool.name,
        wire_name=tool.name,
        description=known.description if tool.description is None else tool.description,
        parameters=known.schema if tool.input_schema is None else tool.input_schema,
        output_schema=known.output_schema if tool.output_schema is None else tool.output_schema,
        display_name=known.title,
        annotations=known.annotations,
        origin=client.server.uri,
    )
