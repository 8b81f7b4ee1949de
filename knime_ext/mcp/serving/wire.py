"""Definitions and results in the JSON of the protocol, as far as the client's revision can carry them. No I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mcp_types import ContentBlock
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from knime_ext.tools import ToolDefinition, ToolResult, definition_for_model

__all__ = ["wire_result", "wire_tool"]

_BLOCK: TypeAdapter[Any] = TypeAdapter(ContentBlock)


def wire_tool(definition: ToolDefinition, version: str) -> dict[str, Any]:
    """A tool as `tools/list` names it.

    Schemas and annotations stay as they came; only invisible characters are taken out of prose. Revisions before
    2026-07-28 know no output schema but that of an object; there such a schema is left out.

    Args:
        definition: The definition.
        version: Protocol revision of the client.
    """
    shown = definition_for_model(definition)
    tool: dict[str, Any] = {"name": shown.name, "inputSchema": {"type": "object", **shown.parameters}}
    if shown.display_name and shown.display_name != shown.name:
        tool["title"] = shown.display_name
    if shown.description:
        tool["description"] = shown.description
    if shown.annotations:
        tool["annotations"] = dict(shown.annotations)
    schema = shown.output_schema
    if schema is not None and (version in MODERN_PROTOCOL_VERSIONS or schema.get("type") == "object"):
        tool["outputSchema"] = schema
    return tool


def wire_result(result: ToolResult, version: str) -> dict[str, Any]:
    """A result as `tools/call` answers it.

    Every block of a kind that the protocol knows goes out as it came, media included; any other becomes a text. A
    structured value that is no object can only be told as text to revisions before 2026-07-28.

    Args:
        result: What the tool gave.
        version: Protocol revision of the client.
    """
    content = [_block(block) for block in result.content]
    answer: dict[str, Any] = {"content": content, "isError": result.is_error, "resultType": "complete"}
    structured = result.structured
    if structured is None:
        return answer
    if isinstance(structured, dict) or version in MODERN_PROTOCOL_VERSIONS:
        return {**answer, "structuredContent": structured}
    if not any(block.get("type") == "text" for block in content):
        content.append({"type": "text", "text": json.dumps(structured, ensure_ascii=False)})
    return answer


def _block(block: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        _BLOCK.validate_python(block, by_name=False)
    except ValidationError:
        return {"type": "text", "text": ToolResult(content=(block,)).text}
    return block
