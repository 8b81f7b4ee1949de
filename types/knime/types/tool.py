"""Tools as table cells: a workflow or a tool of an MCP server, in one Arrow struct.

The struct has nine children named "0".."8" (see `Field`); field 0 says which kind of tool the cell holds, so
that workflow tools and MCP tools share one column. This module needs nothing but the standard library, because
KNIME loads it into every Python process; it takes KNIME's base class for value factories where KNIME is there.

A cell never holds a command line, a header, a token or a password.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, cast
from urllib.parse import urlsplit

if TYPE_CHECKING:

    class _ValueFactory:
        def __init__(self, compatible_type: type) -> None: ...

else:
    try:
        from knime.api.types import PythonValueFactory as _ValueFactory
    except ModuleNotFoundError:

        class _ValueFactory:
            """The part of KNIME's value factory that a host asks for."""

            def __init__(self, compatible_type: type) -> None:
                self._compatible_type = compatible_type

            @property
            def compatible_type(self) -> type:
                return self._compatible_type

            def needs_conversion(self) -> bool:
                return True


__all__ = [
    "Field",
    "InvalidToolCell",
    "MCPTool",
    "MCPToolValueFactory",
    "Tool",
    "ToolPort",
    "ToolType",
    "ToolValueFactory",
    "WorkflowTool",
    "WorkflowToolValueFactory",
]

Storage = dict[str, Any]
"""A struct value as Arrow gives it: child name ("0", "1", ...) to value."""


class ToolType(IntEnum):
    """Kind of a tool: the byte in field 0 of its cell."""

    WORKFLOW = 0
    MCP = 1


class Field(IntEnum):
    """Position of each child of the tool struct. The Java side reads the same order from the golden file."""

    TOOL_TYPE = 0
    NAME = 1
    DESCRIPTION = 2
    PARAMETER_SCHEMA = 3
    INPUT_SPEC = 4
    OUTPUT_SPEC = 5
    MESSAGE_OUTPUT_PORT_INDEX = 6
    WORKFLOW_FILESTORE = 7
    SERVER_URI = 8

    @property
    def key(self) -> str:
        """Name of the struct's child, such as "3"."""
        return str(int(self))

    @property
    def label(self) -> str:
        """Name for people, such as "parameter_schema"."""
        return self.name.lower()


class InvalidToolCell(ValueError):
    """A cell is no valid tool.

    Attributes:
        field: Name of the field at fault, such as "parameter_schema".
        reason: What is wrong with it.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"field {field!r}: {reason}")
        self.field = field
        self.reason = reason


@dataclass(frozen=True)
class ToolPort:
    """A data port of a workflow tool.

    Attributes:
        name: Name of the port.
        description: What arrives or leaves there.
        type: Name of the port type, "Table" for data tables.
        spec: JSON text of the table spec (`{"name", "columns": [{"name", "type"}]}`), or "" if unknown.
    """

    name: str
    description: str
    type: str
    spec: str | None = None

    @classmethod
    def _from_arrow_dict(cls, data: Mapping[str, Any]) -> ToolPort:
        """Reads the port of KNIME's two-level layout."""
        return cls(name=data["0"], description=data["1"], type=data["2"], spec=data["3"])

    def _to_arrow_dict(self) -> Storage:
        """The port in KNIME's two-level layout."""
        return {"0": self.name, "1": self.description, "2": self.type, "3": self.spec}


@dataclass
class Tool:
    """What a chat model can call: the base of workflow tools and MCP tools.

    Attributes:
        name: Name for people and models.
        description: What the tool does, for the model.
        parameter_schema: What the tool takes; see the subclasses. Tools decoded from one column share equal
            schemas: copy before you change one.
    """

    name: str
    description: str
    parameter_schema: dict[str, Any]

    _tool_type: ClassVar[ToolType]

    @property
    def tool_type(self) -> ToolType:
        """Kind of the tool."""
        return self._tool_type


@dataclass
class WorkflowTool(Tool):
    """A workflow that a model can run.

    Attributes:
        parameter_schema: Map of parameter name to its JSON schema (not a schema of the whole object).
        message_output_port_index: Index of the output whose first cell is the message to the model, -1 for none.
        input_ports: Data tables that the workflow consumes.
        output_ports: Data tables that it produces; the message port is not among them.
    """

    message_output_port_index: int = -1
    input_ports: list[ToolPort] | None = None
    output_ports: list[ToolPort] | None = None
    _filestore_keys: str | None = None

    _tool_type: ClassVar[ToolType] = ToolType.WORKFLOW

    @property
    def filestore_keys(self) -> tuple[str, ...]:
        """Keys of the file stores with the workflow itself: the zipped workflow, then its data area if any."""
        return tuple(self._filestore_keys.split(";")) if self._filestore_keys else ()


@dataclass
class MCPTool(Tool):
    """A tool of an MCP server.

    Attributes:
        parameter_schema: JSON Schema object of the arguments, as the server sent it.
        server_uri: URL of the server, or `stdio:NAME` of a registered provider. Never with user or password.
        tool_name: Name of the tool on the server; the display name if not given.
        provider: Name of the registered provider whose credentials the call uses, if any.
        annotations: The server's hints (`readOnlyHint`, ...). Untrusted.
        fingerprint: Digest of the definition when it was listed, to notice a changed tool.
        output_schema: JSON Schema of structured results, if the server gives one.
    """

    server_uri: str = ""
    tool_name: str = ""
    provider: str | None = None
    annotations: dict[str, Any] | None = None
    fingerprint: str | None = None
    output_schema: dict[str, Any] | None = None

    _tool_type: ClassVar[ToolType] = ToolType.MCP

    def __post_init__(self) -> None:
        """Takes the display name where the server's name is not given."""
        self.tool_name = self.tool_name or self.name


@dataclass
class _Parser:
    """Reads JSON texts, each different text once."""

    parsed: dict[str, Any] = field(default_factory=dict[str, Any])

    def parse(self, text: str) -> Any:
        if text not in self.parsed:
            self.parsed[text] = json.loads(text)
        return self.parsed[text]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _json(parser: _Parser, at: Field, text: Any, kind: type, absent: Any) -> Any:
    if text is None or text == "":
        return absent
    try:
        value = parser.parse(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidToolCell(at.label, f"is not JSON ({error})") from error
    if not isinstance(value, kind):
        wanted = "a JSON object" if kind is dict else "a JSON array"
        raise InvalidToolCell(at.label, f"must be {wanted}, not {type(value).__name__}")
    return value


def _required(at: Field, value: Any, why: str) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidToolCell(at.label, why)
    return value


def _optional_text(of: Mapping[str, Any], key: str, at: Field) -> str | None:
    value = of.get(key)
    if value is not None and not isinstance(value, str):
        raise InvalidToolCell(at.label, f"{key!r} must be a text")
    return value


def _optional_object(of: Mapping[str, Any], key: str, at: Field) -> dict[str, Any] | None:
    value = of.get(key)
    if value is not None and not isinstance(value, dict):
        raise InvalidToolCell(at.label, f"{key!r} must be a JSON object")
    return cast("dict[str, Any] | None", value)


def _ports(parser: _Parser, at: Field, text: Any) -> list[ToolPort]:
    ports: list[ToolPort] = []
    for port in _json(parser, at, text, list, []):
        try:
            ports.append(
                ToolPort(port["name"], port.get("description") or "", port["type"], port.get("spec"))
            )
        except (TypeError, KeyError, AttributeError) as error:
            raise InvalidToolCell(at.label, "each port needs at least a 'name' and a 'type'") from error
    return ports


def _port_list(ports: list[ToolPort] | None) -> list[dict[str, Any]]:
    return [
        {"name": port.name, "description": port.description, "type": port.type, "spec": port.spec}
        for port in ports or []
    ]


def _decode_workflow(parser: _Parser, cell: Mapping[str, Any]) -> WorkflowTool:
    index = cell["6"]
    return WorkflowTool(
        name=cell["1"],
        description=cell["2"] or "",
        parameter_schema=_json(parser, Field.PARAMETER_SCHEMA, cell["3"], dict, {}),
        message_output_port_index=-1 if index is None else index,
        input_ports=_ports(parser, Field.INPUT_SPEC, cell["4"]),
        output_ports=_ports(parser, Field.OUTPUT_SPEC, cell["5"]),
        _filestore_keys=_required(
            Field.WORKFLOW_FILESTORE, cell["7"], "a workflow tool needs the file store of its workflow"
        ),
    )


def _decode_mcp(parser: _Parser, cell: Mapping[str, Any]) -> MCPTool:
    call = _json(parser, Field.INPUT_SPEC, cell["4"], dict, {})
    output = _json(parser, Field.OUTPUT_SPEC, cell["5"], dict, {})
    return MCPTool(
        name=cell["1"],
        description=cell["2"] or "",
        parameter_schema=_json(parser, Field.PARAMETER_SCHEMA, cell["3"], dict, {}),
        server_uri=_required(Field.SERVER_URI, cell["8"], "an MCP tool needs the address of its server"),
        tool_name=_optional_text(call, "tool_name", Field.INPUT_SPEC) or "",
        provider=_optional_text(call, "provider", Field.INPUT_SPEC),
        annotations=_optional_object(call, "annotations", Field.INPUT_SPEC),
        fingerprint=_optional_text(call, "fingerprint", Field.INPUT_SPEC),
        output_schema=_optional_object(output, "output_schema", Field.OUTPUT_SPEC),
    )


def _decode_cell(parser: _Parser, cell: Mapping[str, Any]) -> Tool:
    kind = cell["0"]
    if kind not in (ToolType.WORKFLOW, ToolType.MCP):
        raise InvalidToolCell(
            Field.TOOL_TYPE.label, f"unknown tool type {kind!r}; known are 0 (workflow) and 1 (MCP)"
        )
    _required(Field.NAME, cell["1"], "a tool needs a name")
    return _decode_workflow(parser, cell) if kind == ToolType.WORKFLOW else _decode_mcp(parser, cell)


def _decode_two_level(parser: _Parser, keys: str | None, cell: Mapping[str, Any]) -> WorkflowTool:
    return WorkflowTool(
        name=cell["0"],
        description=cell["1"],
        parameter_schema=_json(parser, Field.PARAMETER_SCHEMA, cell["2"], dict, {}),
        message_output_port_index=cell["5"],
        input_ports=[ToolPort._from_arrow_dict(port) for port in cell["3"] or []],  # pyright: ignore[reportPrivateUsage]
        output_ports=[ToolPort._from_arrow_dict(port) for port in cell["4"] or []],  # pyright: ignore[reportPrivateUsage]
        _filestore_keys=keys,
    )


def _decode_prototype(parser: _Parser, cell: Mapping[str, Any]) -> MCPTool:
    return MCPTool(
        name=cell["0"],
        description=cell["1"] or "",
        parameter_schema=_json(parser, Field.PARAMETER_SCHEMA, cell["2"], dict, {}),
        server_uri=_required(Field.SERVER_URI, cell["3"], "an MCP tool needs the address of its server"),
        tool_name=cell["4"] or "",
    )


def _decode(parser: _Parser, storage: Mapping[str, Any]) -> Tool:
    """Reads any layout: nine fields, KNIME's two levels, or the first MCP prototype (name in field "0")."""
    if isinstance(storage.get("1"), Mapping):
        return _decode_two_level(parser, storage["0"], storage["1"])
    if isinstance(storage.get("0"), str):
        return _decode_prototype(parser, storage)
    return _decode_cell(parser, storage)


def _checked_uri(uri: str) -> str:
    if "@" in urlsplit(uri).netloc:
        raise InvalidToolCell(
            Field.SERVER_URI.label,
            "the address holds a user or password; rows never do: register the server as a provider instead",
        )
    return uri


def _call_spec(tool: MCPTool) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "tool_name": tool.tool_name if tool.tool_name != tool.name else None,
        "provider": tool.provider,
        "annotations": tool.annotations or None,
        "fingerprint": tool.fingerprint,
    }
    return {key: value for key, value in spec.items() if value is not None}


def _encode(tool: Tool) -> Storage:
    cell: Storage = {at.key: None for at in Field}
    cell["0"] = int(tool.tool_type)
    cell["1"], cell["2"], cell["3"] = tool.name, tool.description, _text(tool.parameter_schema)
    cell["6"] = -1
    if isinstance(tool, WorkflowTool):
        cell["4"], cell["5"] = _text(_port_list(tool.input_ports)), _text(_port_list(tool.output_ports))
        cell["6"], cell["7"] = tool.message_output_port_index, tool._filestore_keys  # pyright: ignore[reportPrivateUsage]
    elif isinstance(tool, MCPTool):
        call = _call_spec(tool)
        cell["4"] = _text(call) if call else None
        cell["5"] = _text({"output_schema": tool.output_schema}) if tool.output_schema is not None else None
        cell["8"] = _checked_uri(tool.server_uri)
    else:
        raise TypeError(f"{type(tool).__name__!r} is neither a WorkflowTool nor an MCPTool")
    return cell


class ToolValueFactory(_ValueFactory):
    """Reads and writes tools of both kinds as one struct of nine fields; missing cells stay missing."""

    def __init__(self, compatible_type: type = Tool) -> None:
        super().__init__(compatible_type)

    def decode(self, storage: Mapping[str, Any] | None) -> Tool | None:
        """The tool in one cell; older layouts are read too.

        Args:
            storage: The struct as a mapping from "0".."8", or None for a missing cell.

        Raises:
            InvalidToolCell: The cell is damaged; the error names the field and the reason.
        """
        return None if storage is None else _decode(_Parser(), storage)

    def encode(self, value: Tool | None) -> Storage | None:
        """The cell of one tool: a mapping from "0".."8", or None for a missing value.

        Raises:
            InvalidToolCell: The server's address holds a user or password.
            TypeError: The value is no tool.
        """
        return None if value is None else _encode(value)


class WorkflowToolValueFactory(ToolValueFactory):
    """Deprecated: reads and writes the two-level struct that KNIME ships for workflow tools.

    Use `ToolValueFactory` for new columns.
    """

    def __init__(self) -> None:
        super().__init__(WorkflowTool)

    def encode(self, value: Tool | None) -> Storage | None:
        """The cell in KNIME's two-level layout.

        Raises:
            TypeError: The value is no workflow tool.
        """
        if value is None:
            return None
        if not isinstance(value, WorkflowTool):
            raise TypeError("the older workflow-tool column cannot hold an MCP tool; use ToolValueFactory")
        return {
            "0": value._filestore_keys,  # pyright: ignore[reportPrivateUsage]
            "1": {
                "0": value.name,
                "1": value.description,
                "2": json.dumps(value.parameter_schema),
                "3": [port._to_arrow_dict() for port in value.input_ports or []],  # pyright: ignore[reportPrivateUsage]
                "4": [port._to_arrow_dict() for port in value.output_ports or []],  # pyright: ignore[reportPrivateUsage]
                "5": value.message_output_port_index,
            },
        }


class MCPToolValueFactory(ToolValueFactory):
    """Deprecated: the name of the first factory for MCP tools; still reads its layout, writes the nine fields.

    Use `ToolValueFactory` for new columns.
    """

    def __init__(self) -> None:
        super().__init__(MCPTool)
