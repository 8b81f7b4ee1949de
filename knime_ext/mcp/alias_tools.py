"""The tools behind an alias of the operator's tool configurations, as rows."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from knime.types.tool import MCPTool
from knime_ext.errors import ConfigurationError, MCPError
from knime_ext.mcp.listing import Listing
from knime_ext.mcp.pool import SessionPool
from knime_ext.mcp.rows import tools_from_listing
from knime_ext.mcp.server_choice import ProviderMap, ServerChoice, choose_server
from knime_ext.mcp.tool_config import ToolConfig
from knime_ext.mcp.tool_config_file import load_tool_configs
from knime_ext.mcp.toolset import list_servers
from knime_ext.tools import ToolSelection

__all__ = ["AliasTools", "tools_of_alias"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasTools:
    """What an alias stands for.

    Attributes:
        config: The configuration, with its limits.
        tools: The allowed tools of its providers, in their order.
        problems: Why tools of a provider are missing, by its name.
    """

    config: ToolConfig
    tools: Sequence[MCPTool]
    problems: Mapping[str, str]


async def tools_of_alias(
    alias: str, *, configs: Mapping[str, ToolConfig] | None = None, providers: ProviderMap | None = None
) -> AliasTools:
    """Asks the providers of a tool configuration for their tools.

    Args:
        alias: Its `tool_alias`.
        configs: Configurations by alias; None for the operator's own.
        providers: Registered servers by name; None for the operator's own.

    Raises:
        ConfigurationError: No configuration has that alias, a provider cannot be used, or no tool is allowed.
        MCPError: No provider answered.
    """
    config = _config(alias, load_tool_configs() if configs is None else configs)
    choices = [choose_server(name, providers) for name in config.providers]
    async with SessionPool({str(choice.provider): choice.server for choice in choices}) as pool:
        listings = await list_servers([choice.server for choice in choices], pool)
    found = list(zip(choices, listings, strict=True))
    problems = {str(choice.provider): listing.error for choice, listing in found if listing.error is not None}
    if len(problems) == len(found):
        raise MCPError("; ".join(problems.values()))
    tools = [tool for choice, listing in found for tool in _allowed(choice, listing, config)]
    if not tools:
        raise ConfigurationError(f"the tool configuration {alias!r} allows no tool that there is; correct its tools.")
    return AliasTools(config=config, tools=tools, problems=problems)


def _allowed(choice: ServerChoice, listing: Listing, config: ToolConfig) -> list[MCPTool]:
    selection = ToolSelection.of(config.allow_tools)
    tools = tools_from_listing(listing, provider=choice.provider)
    return [tool for tool in tools if selection.takes(tool.tool_name)]


def _config(alias: str, configs: Mapping[str, ToolConfig]) -> ToolConfig:
    if alias in configs:
        return configs[alias]
    near = difflib.get_close_matches(alias, configs, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(map(repr, configs)) or 'none'}"
    raise ConfigurationError(f"no tool configuration is called {alias!r}; {hint}")
