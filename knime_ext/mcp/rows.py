"""From the tools of a server to tools at rest, one per table row. No I/O."""

from __future__ import annotations

import hashlib
import json

from knime.types.tool import MCPTool
from knime_ext.mcp.listing import Listing
from knime_ext.tools import ToolDefinition

__all__ = ["fingerprint", "tools_from_listing"]


def fingerprint(definition: ToolDefinition) -> str:
    """Digest of everything a model or a policy relies on, to notice when a server changes a tool.

    SHA-256 in hex over the canonical JSON (sorted keys, no spaces, UTF-8) of wire name, description, both schemas
    and annotations.
    """
    content = {
        "name": definition.wire_name or definition.name,
        "description": definition.description,
        "inputSchema": definition.parameters,
        "outputSchema": definition.output_schema,
        "annotations": dict(definition.annotations),
    }
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def tools_from_listing(listing: Listing, *, provider: str | None = None) -> list[MCPTool]:
    """The usable tools of a listing as values for a tool column, in the server's order.

    The display name is the tool's title, or its name if it has none.

    Args:
        listing: The listing.
        provider: Name of the registered provider whose credentials calls use, if the server is one.
    """
    return [_tool(definition, listing.server.uri, provider) for definition in listing.definitions]


def _tool(definition: ToolDefinition, uri: str, provider: str | None) -> MCPTool:
    wire_name = definition.wire_name or definition.name
    return MCPTool(
        name=definition.display_name or wire_name,
        description=definition.description,
        parameter_schema=definition.parameters,
        server_uri=uri,
        tool_name=wire_name,
        provider=provider,
        annotations=dict(definition.annotations) or None,
        fingerprint=fingerprint(definition),
        output_schema=definition.output_schema,
    )
