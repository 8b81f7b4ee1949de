"""Tools as table cells: a workflow or a tool of an MCP server, in one Arrow struct.

The struct has nine children named "0".."8" (see `Field`); field 0 says which kind of tool the cell holds, so
that workflow tools and MCP tools share one column. This module needs nothing but the standard library, because
KNIME loads it into every Python process; it takes KNIME's base class for value factories where KNIME is there.

A cell never holds a command line, a header, a token or a password.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from knime.types._byte_in_struct import teach_byte

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
    "CellReader",
    "CellWriter",
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

teach_byte()

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


_KEYS = tuple(at.key for at in Field)


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


_CALL_SPEC = {"tool_name": str, "provider": str, "annotations": dict, "fingerprint": str}


def _optional(of: Mapping[str, Any], key: str, kind: type, at: Field) -> Any:
    value = of.get(key)
    if value is not None and not isinstance(value, kind):
        raise InvalidToolCell(at.label, f"{key!r} must be {'a text' if kind is str else 'a JSON object'}")
    return value


def _require(at: Field, value: Any, why: str) -> None:
    if not isinstance(value, str) or not value:
        raise InvalidToolCell(at.label, why)


def _port(at: Field, data: Any) -> ToolPort:
    port = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    name, kind = port.get("name"), port.get("type")
    if not isinstance(name, str) or not isinstance(kind, str):
        raise InvalidToolCell(at.label, "each port needs at least a 'name' and a 'type'")
    return ToolPort(name, _optional(port, "description", str, at) or "", kind, _optional(port, "spec", str, at))


class CellReader:
    """Reads many cells of one column, each different JSON text once. Equal texts give the same objects."""

    def __init__(self) -> None:
        self._objects: dict[str, Any] = {}
        self._ports: dict[str, tuple[ToolPort, ...]] = {}
        self._calls: dict[str, dict[str, Any]] = {}
        self._outputs: dict[str, dict[str, Any] | None] = {}

    def tool(self, values: Sequence[Any]) -> WorkflowTool | MCPTool:
        """The tool in one cell.

        Args:
            values: The nine fields, in order.

        Raises:
            InvalidToolCell: The cell is damaged; the error names the field and the reason.
        """
        kind, name, description, schema, inputs, outputs, message_port, filestore, uri = values
        if kind != ToolType.MCP and kind != ToolType.WORKFLOW:
            found = "a tool needs a type" if kind is None else f"unknown tool type {kind!r}"
            raise InvalidToolCell(Field.TOOL_TYPE.label, f"{found}; known are 0 (workflow) and 1 (MCP)")
        _require(Field.NAME, name, "a tool needs a name")
        parameters = self.parameters(schema)
        if kind == ToolType.MCP:
            _require(Field.SERVER_URI, uri, "an MCP tool needs the address of its server")
            call = _once(self._calls, inputs, _read_call) or {}
            output = _once(self._outputs, outputs, _read_output)
            return MCPTool(name, description or "", parameters, uri, output_schema=output, **call)
        _require(Field.WORKFLOW_FILESTORE, filestore, "a workflow tool needs the file store of its workflow")
        return WorkflowTool(
            name,
            description or "",
            parameters,
            -1 if message_port is None else message_port,
            list(_once(self._ports, inputs, _read_input_ports) or ()),
            list(_once(self._ports, outputs, _read_output_ports) or ()),
            filestore,
        )

    def parameters(self, text: Any) -> dict[str, Any]:
        """The JSON object in a parameter schema; empty for a missing or empty text."""
        return _once(self._objects, text, _read_parameters) or {}


_Read = TypeVar("_Read")


def _once(known: dict[str, _Read], text: str | None, read: Callable[[str], _Read]) -> _Read | None:
    if not text:
        return None
    if text not in known:
        known[text] = read(text)
    return known[text]


# The reasons below are the same, word for word, on the Java side: no type name and no parser message of Python's.
_KINDS: dict[type[Any], str] = {
    dict: "an object",
    list: "an array",
    str: "a text",
    bool: "a boolean",
    type(None): "null",
}
_DEEPEST = 400
_STRING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)', re.DOTALL)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


# JSON as its standard has it: Python would also take NaN and Infinity, which no other reader does.
_STRICT = json.JSONDecoder(parse_constant=_refuse)


def _is_too_deep(text: str) -> bool:
    """Whether brackets nest beyond what readers bear. Rarely looked at closely: most texts have fewer brackets."""
    if text.count("[") + text.count("{") <= _DEEPEST:
        return False
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", _STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest > _DEEPEST


def _read_json(at: Field, text: str, kind: type) -> Any:
    if _is_too_deep(text):
        raise InvalidToolCell(at.label, f"is nested deeper than {_DEEPEST} levels")
    try:
        value: object = _STRICT.decode(text)
    except ValueError as error:
        raise InvalidToolCell(at.label, "is not JSON") from error
    found = type(value)
    if found is not kind:
        wanted = "a JSON object" if kind is dict else "a JSON array"
        raise InvalidToolCell(at.label, f"must be {wanted}, not {_KINDS.get(found, 'a number')}")
    return value


def _read_parameters(text: str) -> dict[str, Any]:
    return _read_json(Field.PARAMETER_SCHEMA, text, dict)


def _read_call(text: str) -> dict[str, Any]:
    """How a call goes out, as the arguments of `MCPTool` that are given."""
    spec: dict[str, Any] = _read_json(Field.INPUT_SPEC, text, dict)
    for key, kind in _CALL_SPEC.items():
        _optional(spec, key, kind, Field.INPUT_SPEC)
    return {key: spec[key] for key in _CALL_SPEC if spec.get(key) is not None}


def _read_output(text: str) -> dict[str, Any] | None:
    return _optional(_read_json(Field.OUTPUT_SPEC, text, dict), "output_schema", dict, Field.OUTPUT_SPEC)


def _read_input_ports(text: str) -> tuple[ToolPort, ...]:
    return tuple(_port(Field.INPUT_SPEC, data) for data in _read_json(Field.INPUT_SPEC, text, list))


def _read_output_ports(text: str) -> tuple[ToolPort, ...]:
    return tuple(_port(Field.OUTPUT_SPEC, data) for data in _read_json(Field.OUTPUT_SPEC, text, list))


def _two_level_tool(keys: str | None, cell: Mapping[str, Any]) -> WorkflowTool:
    """Reads the layout that KNIME ships today; its file store keys stand beside the rest."""
    return WorkflowTool(
        name=cell["0"],
        description=cell["1"],
        parameter_schema=CellReader().parameters(cell["2"]),
        message_output_port_index=cell["5"],
        input_ports=[ToolPort._from_arrow_dict(port) for port in cell["3"] or ()],  # pyright: ignore[reportPrivateUsage]
        output_ports=[ToolPort._from_arrow_dict(port) for port in cell["4"] or ()],  # pyright: ignore[reportPrivateUsage]
        _filestore_keys=keys,
    )


def _prototype_tool(cell: Mapping[str, Any]) -> MCPTool:
    """Reads the first MCP prototype: name, description, schema, server, name on the server, two unused fields."""
    _require(Field.SERVER_URI, cell["3"], "an MCP tool needs the address of its server")
    parameters = CellReader().parameters(cell["2"])
    return MCPTool(cell["0"], cell["1"] or "", parameters, cell["3"], cell["4"] or "")


def _decode(storage: Mapping[str, Any]) -> Tool:
    """Reads any layout, told apart by its first fields: nine fields, KNIME's two levels, first MCP prototype."""
    if isinstance(storage.get("1"), Mapping):
        return _two_level_tool(storage["0"], storage["1"])
    if isinstance(storage.get("0"), str):
        return _prototype_tool(storage)
    return CellReader().tool([storage.get(key) for key in _KEYS])


# Not urlsplit, which fails on half an IPv6 address: the check must never depend on the rest being well formed.
_AUTHORITY = re.compile(r"//([^/?#]*)")


def _checked_uri(uri: str) -> str:
    authority = _AUTHORITY.search(re.sub(r"[\t\r\n]", "", uri))
    if authority and "@" in authority[1]:
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


class CellWriter:
    """Writes many cells of one column; a schema that several tools share becomes text once."""

    def __init__(self) -> None:
        # By identity: a schema cannot be hashed, and the tools keep theirs alive while they are written.
        self._texts: dict[int, str] = {}

    def values(self, tool: Tool) -> tuple[Any, ...]:
        """The nine fields of one cell, in order.

        Raises:
            InvalidToolCell: The server's address holds a user or password.
            TypeError: The value is no tool.
        """
        if isinstance(tool, MCPTool):
            call = _call_spec(tool)
            inputs = _text(call) if call else None
            outputs = _text({"output_schema": tool.output_schema}) if tool.output_schema is not None else None
            rest = (inputs, outputs, -1, None, _checked_uri(tool.server_uri))
        elif isinstance(tool, WorkflowTool):
            inputs, outputs = _text(_port_list(tool.input_ports)), _text(_port_list(tool.output_ports))
            rest = (inputs, outputs, tool.message_output_port_index, tool._filestore_keys, None)  # pyright: ignore[reportPrivateUsage]
        else:
            raise TypeError(f"a {type(tool).__name__} is neither a WorkflowTool nor an MCPTool")
        schema = self._texts.get(id(tool.parameter_schema))
        if schema is None:
            schema = self._texts[id(tool.parameter_schema)] = _text(tool.parameter_schema)
        return (int(tool.tool_type), tool.name, tool.description, schema, *rest)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _port_list(ports: list[ToolPort] | None) -> list[dict[str, Any]]:
    return [
        {"name": port.name, "description": port.description, "type": port.type, "spec": port.spec}
        for port in ports or []
    ]


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
        return None if storage is None else _decode(storage)

    def encode(self, value: Tool | None) -> Storage | None:
        """The cell of one tool: a mapping from "0".."8", or None for a missing value.

        Raises:
            InvalidToolCell: The server's address holds a user or password.
            TypeError: The value is no tool.
        """
        return None if value is None else dict(zip(_KEYS, CellWriter().values(value), strict=True))


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
