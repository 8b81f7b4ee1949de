"""MCP Tool Provider: lists the tools of one MCP server as a table."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.nodes.category import category
from knime_ext.nodes.columns import tool_type
from knime_ext.nodes.failures import shown_to_the_user
from knime_ext.nodes.server_address import check_address

__all__ = ["MCPToolProvider"]


@knext.parameter_group(label="Time limits", is_advanced=True)
class TimeLimits:
    """How long to wait for the server."""

    connect = knext.DoubleParameter(
        "Connect (seconds)", "Longest time for reaching the server and greeting it.", 10.0, min_value=0.1
    )
    listing = knext.DoubleParameter(
        "List (seconds)", "Longest time for receiving the whole list of tools.", 30.0, min_value=0.1
    )


@knext.node(
    name="MCP Tool Provider",
    node_type=knext.NodeType.SOURCE,
    icon_path="icons/mcp_tool_provider.png",
    category=category,
    keywords=["MCP", "Model Context Protocol", "Tools", "Server", "Agent", "GenAI"],
    id="MCPToolProvider",
)
@knext.output_table("Tools", "One row per tool of the server, in the one column *Tool*.")
class MCPToolProvider:
    """Lists the tools of an MCP server, one row per tool.

    The *Model Context Protocol* (MCP) is how many programs offer tools to chat models: search, calendars, databases,
    calculations. This node asks one MCP server what it offers and writes every tool into a row: its name, its
    description and the arguments that it takes.

    **What to do with the rows.** They are ordinary table rows. Put tools of several servers and tools made of
    workflows into one table with the **Concatenate** node, keep the ones you trust with a filter node, and connect
    the table to the **Agent Prompter**, whose chat model then calls them.

    **When the server is contacted.** Only when this node is executed, and later by the agent for each call. Execute
    the node again to see tools that the server has added since.

    **If something is wrong.** A server that cannot be reached, or does not answer in time, fails the node and the
    message says why. If single tools of the server are malformed, the node warns and lists the others. A server
    without any tools gives an empty table and a warning.

    Rows hold the address of the server, but never a password or a key.
    """

    server_url = knext.StringParameter(
        "Server URL",
        "Address of the MCP server, such as `https://example.com/mcp` or `http://localhost:8000/sse`. The node finds "
        "out by itself which of the two usual ways the server speaks (*streamable HTTP*, or *HTTP with server-sent "
        "events*). Do not put a user name, a password or a key into the address: it is stored in every row.",
        "",
        validator=check_address,
    )
    time_limits = TimeLimits()

    def configure(self, ctx: knext.ConfigurationContext) -> Any:
        """The column of tools; the server is not contacted."""
        if not self.server_url:
            raise knext.InvalidParametersError("The address of the MCP server is missing; enter it in the dialog.")
        return knext.Schema.from_columns([knext.Column(tool_type(), "Tool")])

    def execute(self, ctx: knext.ExecutionContext) -> Any:
        """Asks the server and writes its tools."""
        from knime_ext.mcp import Timeouts, URLServer, tools_from_listing
        from knime_ext.nodes.cells import tool_table
        from knime_ext.nodes.server_listing import ask_server, warning_about

        with shown_to_the_user():
            timeouts = Timeouts(connect=self.time_limits.connect, list=self.time_limits.listing)
            listing = ask_server(URLServer(self.server_url, timeouts=timeouts), ctx.is_canceled)
        warning = warning_about(listing)
        if warning is not None:
            ctx.set_warning(warning)
        return tool_table(tools_from_listing(listing))
