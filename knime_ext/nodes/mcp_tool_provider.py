"""MCP Tool Provider: lists the tools of MCP servers as a table."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.nodes.category import category
from knime_ext.nodes.columns import tool_type
from knime_ext.nodes.failures import shown_to_the_user
from knime_ext.nodes.provider_settings import OtherServer, TimeLimits, ToolChoice
from knime_ext.nodes.server_address import check_address

__all__ = ["MCPToolProvider"]


@knext.node(
    name="MCP Tool Provider",
    node_type=knext.NodeType.SOURCE,
    icon_path="icons/mcp_tool_provider.png",
    category=category,
    keywords=["MCP", "Model Context Protocol", "Tools", "Server", "Agent", "GenAI"],
    id="MCPToolProvider",
)
@knext.output_table("Tools", "One row per tool, in the one column *Tool*.")
@knext.output_table(
    "Servers",
    "One row per server: whether it answered, the protocol revision, what it can do, how many of its tools were "
    "written, how long it took, what went wrong, and the text that pins its tools.",
)
class MCPToolProvider:
    """Lists the tools of MCP servers, one row per tool.

    The *Model Context Protocol* (MCP) is how many programs offer tools to chat models: search, calendars, databases,
    calculations. This node asks one or several MCP servers what they offer and writes every tool into a row: its name,
    its description and the arguments that it takes.

    **What to do with the rows.** They are ordinary table rows. Put them into one table with tools made of workflows
    with the **Concatenate** node, keep the ones you trust with a filter node, and connect the table to the **Agent
    Prompter**, whose chat model then calls them.

    **Which servers.** Type an address, or the name of a provider that was registered on this computer with
    `knime-mcp config mcp`. A provider may need a key or a sign-in, and may be a program on this computer. Rows hold the
    address or the provider's name, but never a password, a key or a command.

    **When the servers are contacted.** Only when this node is executed, and later by the agent for each call. Execute
    the node again to see tools that a server has added since.

    **If something is wrong.** If no server can be reached, or none answers in time, the node fails and the message says
    why. If one of several fails, the node warns, and the second output says what is wrong with which. If single tools
    are malformed, the node warns and lists the others. A server without any tools gives a warning.
    """

    server_url = knext.StringParameter(
        "Server",
        "Address of the MCP server, such as `https://example.com/mcp` or `http://localhost:8000/sse`, or the name of a "
        "registered provider. The node finds out by itself which of the two usual ways a server speaks (*streamable "
        "HTTP*, or *HTTP with server-sent events*). Do not put a user name, a password or a key into the address: it "
        "is stored in every row.",
        "",
        validator=check_address,
    )
    more_servers = knext.ParameterArray(
        OtherServer(),
        "More servers",
        "Servers whose tools go into the same table.",
        button_text="Add server",
        array_title="Server",
    )
    tools = ToolChoice()
    time_limits = TimeLimits()

    def configure(self, ctx: knext.ConfigurationContext) -> Any:
        """The columns; no server is contacted."""
        from knime_ext.nodes.server_table import server_schema
        from knime_ext.nodes.tool_selection import Pins

        if not self._servers():
            raise knext.InvalidParametersError("The address of the MCP server is missing; enter it in the dialog.")
        with shown_to_the_user():
            Pins.parse(self.tools.pins)
        return knext.Schema.from_columns([knext.Column(tool_type(), "Tool")]), server_schema()

    def execute(self, ctx: knext.ExecutionContext) -> Any:
        """Asks the servers and writes their tools."""
        from knime_ext.nodes.provider_run import list_tools

        with shown_to_the_user():
            return list_tools(ctx, self._servers(), self.tools, self.time_limits)

    def _servers(self) -> list[str]:
        named = [self.server_url, *(other.server for other in self.more_servers)]
        return list(dict.fromkeys(name.strip() for name in named if name.strip()))
