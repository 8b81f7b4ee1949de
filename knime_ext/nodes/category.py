"""Where the nodes stand in KNIME's node repository."""

import knime.extension as knext

__all__ = ["category"]

category = knext.category(
    path="/community",
    level_id="mcp_tools",
    name="Tools and Agents (MCP)",
    description="Tools of MCP servers and workflows as table rows, and agents that call them.",
    icon="icons/category.png",
)
