"""Tools as table rows: MCP servers and workflows that chat models can call.

Import the rooms, not this package: `knime_ext.tools`, `knime_ext.mcp`, `knime_ext.agent`,
`knime_ext.runtime`. Nothing heavy is imported here, because hosts import every node at start-up.
"""

__version__ = "0.1.0"
