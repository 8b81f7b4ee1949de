"""A tool and the result of a call as plain values, for people who use the client from Python. No I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, cast

from knime_ext.errors import MCPToolExecutionError
from knime_ext.tools import JSON, ToolDefinition, ToolResult

__all__ = ["ToolCallResult", "ToolInfo", "ToolParameter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolParameter:
    """One argument of a tool.

    Attributes:
        name: Its name.
        type: Its JSON type, several joined by `" | "`; "any" if the schema does not say.
        description: What it means.
        required: Whether a call must give it.
    """

    name: str
    type: str = "any"
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInfo:
    """A tool as the server lists it.

    Attributes:
        name: Name that calls use: the server's, unless a policy changes it.
        description: What the tool does, exactly as the server says it.
        parameters: Its arguments, in the schema's order.
        schema: JSON Schema of the arguments, exactly as the server sent it.
        output_schema: JSON Schema of a structured result, if the server gives one.
        annotations: Hints of the server (`readOnlyHint`, ...). Untrusted.
        title: Name for people.
        server: Address of the server.
    """

    name: str
    description: str = ""
    parameters: list[ToolParameter] = field(default_factory=list[ToolParameter])
    schema: dict[str, Any] = field(default_factory=dict[str, Any])
    output_schema: dict[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])
    title: str = ""
    server: str = ""

    @classmethod
    def of(cls, definition: ToolDefinition) -> Self:
        """The tool behind a definition."""
        return cls(
            name=definition.name,
            description=definition.description,
            parameters=_parameters(definition.parameters),
            schema=definition.parameters,
            output_schema=definition.output_schema,
            annotations=definition.annotations,
            title=definition.display_name or definition.name,
            server=definition.origin,
        )


def _parameters(schema: Mapping[str, Any]) -> list[ToolParameter]:
    required = set(cast("Sequence[str]", schema.get("required") or ()))
    properties = cast("Mapping[str, Any]", schema.get("properties") or {})
    return [_parameter(name, part, schema, name in required) for name, part in properties.items()]


def _parameter(name: str, part: Any, schema: Mapping[str, Any], required: bool) -> ToolParameter:
    target = _resolved(part, schema)
    about = next((text for one in (part, target) if isinstance(text := _get(one, "description"), str)), "")
    return ToolParameter(name=name, type=_type_of(target, schema), description=about, required=required)


def _get(schema: Any, keyword: str) -> Any:
    return cast("Mapping[str, Any]", schema).get(keyword) if isinstance(schema, Mapping) else None


def _resolved(part: Any, schema: Mapping[str, Any]) -> Any:
    """What a reference within the schema stands for; anything else is left alone."""
    for _ in range(10):  # a reference may lead to itself
        reference = _get(part, "$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return part
        part = schema
        for step in reference.removeprefix("#/").split("/"):
            part = _get(part, step.replace("~1", "/").replace("~0", "~"))
    return part


def _type_of(part: Any, schema: Mapping[str, Any]) -> str:
    kind = _get(part, "type")
    if isinstance(kind, str):
        return kind
    if isinstance(kind, list):
        return " | ".join(map(str, cast("list[Any]", kind)))
    branches = _get(part, "anyOf") or _get(part, "oneOf")
    if isinstance(branches, list):
        kinds = [_type_of(_resolved(branch, schema), schema) for branch in cast("list[Any]", branches)[:20]]
        return " | ".join(dict.fromkeys(kinds)) if kinds and "any" not in kinds else "any"
    values = [_get(part, "const")] if _get(part, "const") is not None else _get(part, "enum")
    if isinstance(values, list) and values:
        return " | ".join(dict.fromkeys(map(_json_type, cast("list[Any]", values))))
    return "any"


def _json_type(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(cast("type[Any]", type(value)), "null")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallResult:
    """What a call gave back.

    Attributes:
        success: False if the tool itself reports a failure.
        data: The structured value; without one, the text, read as JSON if it is an object or an array. None on failure.
        error: The tool's own message on failure, else None.
        content: Every content block in MCP's JSON form, as it came.
        structured: The structured value as it came, on failure also.
        tool: Name of the tool.
        text: The result as text for a model: never empty, without invisible characters.
    """

    success: bool
    data: JSON = None
    error: str | None = None
    content: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    structured: JSON = None
    tool: str = ""
    text: str = ""

    @classmethod
    def of(cls, tool: str, result: ToolResult) -> Self:
        """The outcome of a call of that tool."""
        return cls(
            success=not result.is_error,
            data=None if result.is_error else _data(result),
            error=result.text if result.is_error else None,
            content=list(result.content),
            structured=result.structured,
            tool=tool,
            text=result.text,
        )

    def raise_for_failure(self) -> Self:
        """Gives the result back if the call succeeded.

        Raises:
            MCPToolExecutionError: The tool reports a failure.
        """
        if not self.success:
            raise MCPToolExecutionError(self.tool, self.error or "it gave no reason")
        return self


def _data(result: ToolResult) -> JSON:
    if result.structured is not None:
        return result.structured
    if not result.content:
        return None
    text = "\n".join(str(block.get("text", "")) for block in result.content if block.get("type") == "text")
    if not text:
        return result.text
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    # A bare word that happens to be JSON ("12", "true") is text to whoever wrote it.
    return cast("JSON", value) if isinstance(value, (dict, list)) else text
