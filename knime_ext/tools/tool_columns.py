"""Unfolds a column of tools into plain columns, so that table nodes can filter, join and sort tools. No I/O.

Servers send what they like, so nothing here relies on a schema or a hint having its proper form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import pyarrow as pa

from knime.types.tool import MCPTool, Tool, ToolPort, WorkflowTool
from knime_ext.errors import DamagedCell
from knime_ext.tools.codec import DecodedTools
from knime_ext.tools.schema_parts import required_names
from knime_ext.tools.schemas import workflow_arguments_schema
from knime_ext.tools.token_estimate import tokens_in

__all__ = ["HINTS", "TOOL_COLUMNS", "ToolColumn", "json_text", "unfolded_tools"]

HINTS = {
    "Read-only": "readOnlyHint",
    "Destructive": "destructiveHint",
    "Idempotent": "idempotentHint",
    "Open world": "openWorldHint",
}
"""Columns of what a server says about the effects of a tool, and MCP's names for it."""

_SURROGATE = re.compile("[\ud800-\udfff]")

T = TypeVar("T")


def json_text(value: Any) -> str:
    """JSON as the cells of this project have it; halves of characters, which no cell can hold, stay escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() or _SURROGATE.search(text) is None else json.dumps(value)


class _Reader:
    """Reads tools of one column; what tools share (equal schemas are one object) is read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Any] = {}

    def _once(self, what: str, shared: object, read: Callable[[], T]) -> T:
        # By identity: a schema cannot be hashed, and the tools keep theirs alive while they are read.
        key = (what, id(shared))
        if key not in self._known:
            self._known[key] = read()
        return self._known[key]

    def parameters(self, tool: Tool) -> str:
        schema = tool.parameter_schema
        return self._once("parameters", schema, lambda: json_text(schema))

    def names(self, tool: Tool) -> str:
        return self._once("names", tool.parameter_schema, lambda: _listed(_parameters_of(tool)))

    def required(self, tool: Tool) -> str:
        return self._once("required", tool.parameter_schema, lambda: _listed(_required_of(tool)))

    def output_schema(self, tool: Tool) -> str | None:
        schema = tool.output_schema if isinstance(tool, MCPTool) else None
        return None if schema is None else self._once("output", schema, lambda: json_text(schema))

    def tokens(self, tool: Tool) -> int:
        prose = f'{{"name":{json_text(tool.name)},"description":{json_text(tool.description)},"parameters":'
        return tokens_in(f"{prose}{self._seen_schema(tool)}}}")

    def _seen_schema(self, tool: Tool) -> str:
        """The arguments as a model sees them."""
        if not isinstance(tool, WorkflowTool):
            return self._once("seen", tool.parameter_schema, lambda: _dense(tool.parameter_schema))
        key = ("seen", id(tool.parameter_schema), *map(id, tool.input_ports or ()))
        if key not in self._known:
            self._known[key] = _dense(workflow_arguments_schema(tool))
        return self._known[key]


def _listed(names: Sequence[str]) -> str:
    return _SURROGATE.sub("\ufffd", ", ".join(names))


def _dense(schema: Any) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def _parameters_of(tool: Tool) -> list[str]:
    schema = tool.parameter_schema
    parts = schema if isinstance(tool, WorkflowTool) else schema.get("properties")
    return list(cast("Mapping[str, Any]", parts)) if isinstance(parts, Mapping) else []


def _required_of(tool: Tool) -> list[str]:
    if isinstance(tool, WorkflowTool):
        parts = cast("Mapping[str, Any]", tool.parameter_schema)
        return [
            name
            for name, part in parts.items()
            if not isinstance(part, Mapping) or cast("Mapping[str, Any]", part).get("default") is None
        ]
    return required_names(tool.parameter_schema)


def _ports(ports: Sequence[ToolPort] | None) -> str | None:
    return ", ".join(port.name for port in ports or ()) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolColumn:
    """A plain column of tools.

    Attributes:
        name: Its name.
        kind: Arrow type of its cells.
        read: Gives the cell of a tool; None is a missing cell.
    """

    name: str
    kind: pa.DataType
    read: Callable[[_Reader, Tool], Any]


def _of_mcp(attribute: str) -> Callable[[_Reader, Tool], Any]:
    return lambda _, tool: getattr(tool, attribute) if isinstance(tool, MCPTool) else None


def _of_workflow(attribute: str) -> Callable[[_Reader, Tool], Any]:
    return lambda _, tool: _ports(getattr(tool, attribute)) if isinstance(tool, WorkflowTool) else None


def _hint(key: str) -> Callable[[_Reader, Tool], bool | None]:
    def read(_: _Reader, tool: Tool) -> bool | None:
        said = (tool.annotations or {}).get(key) if isinstance(tool, MCPTool) else None
        return said if isinstance(said, bool) else None

    return read


def _text(name: str, read: Callable[[_Reader, Tool], str | None]) -> ToolColumn:
    return ToolColumn(name=name, kind=pa.utf8(), read=read)


def _flag(name: str) -> ToolColumn:
    return ToolColumn(name=name, kind=pa.bool_(), read=_hint(HINTS[name]))


TOOL_COLUMNS: dict[str, ToolColumn] = {
    "TYPE": _text("Type", lambda _, tool: "MCP" if isinstance(tool, MCPTool) else "Workflow"),
    "NAME": _text("Name", lambda _, tool: tool.name),
    "DESCRIPTION": _text("Description", lambda _, tool: tool.description),
    "SERVER": _text("Server", _of_mcp("server_uri")),
    "PROVIDER": _text("Provider", _of_mcp("provider")),
    "WIRE_NAME": _text("Wire name", _of_mcp("tool_name")),
    "PARAMETERS": _text("Parameters", _Reader.parameters),
    "PARAMETER_NAMES": _text("Parameter names", _Reader.names),
    "REQUIRED": _text("Required parameters", _Reader.required),
    "READ_ONLY": _flag("Read-only"),
    "DESTRUCTIVE": _flag("Destructive"),
    "IDEMPOTENT": _flag("Idempotent"),
    "OPEN_WORLD": _flag("Open world"),
    "FINGERPRINT": _text("Fingerprint", _of_mcp("fingerprint")),
    "INPUT_PORTS": _text("Input ports", _of_workflow("input_ports")),
    "OUTPUT_PORTS": _text("Output ports", _of_workflow("output_ports")),
    "OUTPUT_SCHEMA": _text("Output schema", _Reader.output_schema),
    "TOKENS": ToolColumn(name="Tokens (estimated)", kind=pa.int64(), read=_Reader.tokens),
    "PROBLEM": _text("Problem", lambda _, __: None),
}
"""Every plain column by its key, in order."""


def unfolded_tools(decoded: DecodedTools, keys: Sequence[str]) -> dict[str, pa.Array]:
    """Plain columns of tools, one cell per row.

    Args:
        decoded: The tools of a column; missing and damaged cells give missing cells.
        keys: Which columns, by their keys in `TOOL_COLUMNS`.

    Returns:
        The columns by their keys, in the order of `TOOL_COLUMNS`.
    """
    reader = _Reader()
    return {
        key: pa.array(
            [None if tool is None else column.read(reader, tool) for tool in decoded.tools]
            if key != "PROBLEM"
            else _problems(decoded.damaged, len(decoded.tools)),
            column.kind,
        )
        for key, column in TOOL_COLUMNS.items()
        if key in keys
    }


def _problems(damaged: Sequence[DamagedCell], rows: int) -> list[str | None]:
    texts: list[str | None] = [None] * rows
    for cell in damaged:
        texts[cell.row] = f"field {cell.field!r}: {cell.reason}"
    return texts
