"""What a chat model sees of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["JSON", "ToolDefinition"]

JSON = dict[str, Any] | list[Any] | str | int | float | bool | None
"""Any JSON value."""


def _empty_object() -> dict[str, Any]:
    return {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """Name, description and argument schema of one tool.

    Attributes:
        name: Name under which the toolset takes calls. Wrappers may change it.
        description: What the tool does, written for the model.
        parameters: JSON Schema object of the arguments.
        wire_name: Name at the tool's origin; it never changes.
        display_name: Name for people.
        output_schema: JSON Schema of a structured result, if known.
        annotations: Hints of the origin (`readOnlyHint`, ...). Untrusted.
        origin: Where the tool lives: a server's URI or the name of a workflow.
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=_empty_object)
    wire_name: str = ""
    display_name: str = ""
    output_schema: dict[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])
    origin: str = ""
