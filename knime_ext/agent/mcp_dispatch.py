"""Calls of MCP tools: to the pooled session of their server, through the host."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from knime.types.tool import MCPTool
from knime_ext.agent.dispatch import Reply
from knime_ext.agent.threads import call_in_thread
from knime_ext.errors import ToolFailed
from knime_ext.tools import ToolResult, check_arguments, schema_for_model, simple_types_only, text_for_model
from knime_ext.tools.schemas import parse_json_texts
from knime_ext.tools.shortening import Shortener

__all__ = ["MCPDispatch"]


def _object_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as it came; only what vendors insist on is added where it is absent."""
    return {"type": "object", "properties": dict[str, Any](), **schema}


@dataclass(frozen=True, slots=True, kw_only=True)
class MCPDispatch:
    """Calls a tool of an MCP server through the host's pooled session."""

    tool: MCPTool
    context: Any
    simple: bool = False
    shortener: Shortener | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """The server's schema without invisible characters; changed only if nothing but simple types is wanted."""
        schema = schema_for_model(_object_schema(self.tool.parameter_schema))
        return simple_types_only(schema) if self.simple else schema

    @property
    def description(self) -> str:
        """The server's description without invisible characters."""
        return text_for_model(self.tool.description)

    def call(self, arguments: Mapping[str, Any]) -> Reply:
        """Checks the arguments and calls the tool, blocking."""
        return self._reply(ToolResult.of_text(self.context._execute_mcp_tool(self.tool, self._checked(arguments))))

    async def acall(self, arguments: Mapping[str, Any]) -> Reply:
        """Checks the arguments and calls the tool; every content block is kept if the host gives them."""
        checked = self._checked(arguments)
        rich = getattr(self.context, "_acall_mcp_tool", None)
        if rich is None:
            text = await call_in_thread(self.context._execute_mcp_tool, self.tool, checked)
            return self._reply(ToolResult.of_text(text))
        result = cast("ToolResult", await rich(self.tool, checked))
        if result.is_error:
            raise ToolFailed(result.text)
        return self._reply(result)

    def _reply(self, result: ToolResult) -> Reply:
        return (result.text, result) if self.shortener is None else self.shortener.result(result)

    def _checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        schema = _object_schema(self.tool.parameter_schema)
        values = _read_texts(schema, arguments) if self.simple else dict(arguments)
        check_arguments(schema, values, self.tool.name)
        return values


def _read_texts(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with JSON texts read, also where the schema names the type only behind a reference."""
    values = parse_json_texts(schema, arguments)
    for name, part in cast("Mapping[str, Any]", schema.get("properties", {})).items():
        text = values.get(name)
        if isinstance(text, str) and text.lstrip()[:1] in ("{", "[") and "type" not in part:
            with suppress(ValueError):
                values[name] = json.loads(text)
    return values
