"""What has changed about a tool since it was listed, field by field. No I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from knime.types.tool import MCPTool
from knime_ext.mcp.rows import fingerprint
from knime_ext.tools import ToolDefinition

__all__ = ["FieldChange", "changes_since", "has_changed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """One field that is not what it was.

    Attributes:
        field: Name of the field in MCP, with the path inside a schema: `inputSchema.properties.to.type`.
        before: The JSON value as it was listed; `ABSENT` if there was none.
        after: The value now.
    """

    field: str
    before: Any
    after: Any


ABSENT = "(absent)"


def has_changed(tool: MCPTool, now: ToolDefinition) -> bool:
    """Whether the server describes a tool in another way than when it was listed; False if that is unknown."""
    return tool.fingerprint is not None and tool.fingerprint != fingerprint(now)


def changes_since(tool: MCPTool, now: ToolDefinition) -> list[FieldChange]:
    """What differs between a tool in a row and the same tool of the server now."""
    before = {
        "description": tool.description,
        "inputSchema": tool.parameter_schema,
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations or {},
    }
    after = {
        "description": now.description,
        "inputSchema": now.parameters,
        "outputSchema": now.output_schema,
        "annotations": dict(now.annotations),
    }
    return list(_differences("", before, after))


def _differences(path: str, before: Any, after: Any) -> Iterator[FieldChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        old, new = cast("dict[str, Any]", before), cast("dict[str, Any]", after)
        for key in dict.fromkeys([*old, *new]):
            place = f"{path}.{key}" if path else key
            yield from _differences(place, old.get(key, ABSENT), new.get(key, ABSENT))
    elif json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True):
        yield FieldChange(field=path, before=before, after=after)
