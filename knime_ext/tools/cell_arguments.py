"""Arguments of a call from the cells of a row: what goes where, and as which type. No I/O."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any, cast

from knime.types.tool import Tool, WorkflowTool
from knime_ext.errors import ConfigurationError, InvalidArguments
from knime_ext.tools.schema_parts import accepts_null, as_schema, merged, reference_target, required_names, types_of
from knime_ext.tools.schemas import CONFIGURATION, argument_check, workflow_arguments_schema

__all__ = ["ArgumentPlan", "Constant", "FromColumn", "json_value"]


@dataclass(frozen=True, slots=True)
class FromColumn:
    """An argument that is a cell of each row."""

    column: str


@dataclass(frozen=True, slots=True)
class Constant:
    """An argument that is the same for all rows, as a person typed it."""

    text: str


Source = FromColumn | Constant


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentPlan:
    """Where each argument of one tool comes from.

    Attributes:
        tool: The tool.
        schema: JSON Schema of its arguments; a workflow's parameters count as such.
        sources: Argument to its source.
        given: Arguments that need no source because the tool allows one value or names a default.
        check: Checks the arguments of a call.
    """

    tool: Tool
    schema: Mapping[str, Any]
    sources: Mapping[str, Source]
    given: Mapping[str, Any]
    check: Callable[[Mapping[str, Any]], None]

    @classmethod
    def make(cls, tool: Tool, columns: Sequence[str], mapped: Mapping[str, Source], *, strict: bool) -> ArgumentPlan:
        """Finds the sources of a tool's arguments.

        Args:
            tool: The tool.
            columns: Columns that are taken for arguments of the same name.
            mapped: Sources that a person has chosen; they win.
            strict: Whether a chosen argument that the tool does not have is a mistake; else it is left out.

        Raises:
            ConfigurationError: The tool cannot be called like that; the message names what is missing.
        """
        if isinstance(tool, WorkflowTool) and tool.input_ports:
            ports = ", ".join(repr(port.name) for port in tool.input_ports)
            raise ConfigurationError(
                f"workflow {tool.name!r} takes tables ({ports}), which a row cannot give; use the Agent Prompter for it"
            )
        schema = _arguments_schema(tool)
        parts = as_schema(schema.get("properties"))
        # A schema that names nothing and refuses nothing takes any argument.
        is_open = not parts and schema.get("additionalProperties") is not False
        unknown = [name for name in mapped if name not in parts and not is_open]
        if unknown and strict:
            known = ", ".join(map(repr, parts)) or "none"
            raise ConfigurationError(f"tool {tool.name!r} has no argument {unknown[0]!r}; it has {known}")
        sources: dict[str, Source] = {name: FromColumn(name) for name in parts if name in columns}
        sources |= {name: source for name, source in mapped.items() if name not in unknown}
        given: dict[str, Any] = {}
        for name in required_names(schema):
            if name not in sources:
                given[name] = _without_source(tool, name, as_schema(parts.get(name)))
        whole = workflow_arguments_schema(tool) if isinstance(tool, WorkflowTool) else schema
        return cls(tool=tool, schema=schema, sources=sources, given=given, check=argument_check(whole, tool.name))

    @property
    def columns(self) -> list[str]:
        """The columns that it reads."""
        return list(dict.fromkeys(s.column for s in self.sources.values() if isinstance(s, FromColumn)))

    def arguments(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The checked arguments of a call.

        Args:
            row: The cells by their columns, None for a missing one.

        Returns:
            What the tool takes. An optional argument whose cell is missing is left out.

        Raises:
            InvalidArguments: They do not fit the tool.
        """
        values = dict(self.given)
        parts, required = as_schema(self.schema.get("properties")), required_names(self.schema)
        for name, source in self.sources.items():
            cell = source.text if isinstance(source, Constant) else row[source.column]
            value = json_value(cell, parts.get(name, True), self.schema)
            if value is not None:
                values[name] = value
            elif name in required and accepts_null(parts.get(name, True), self.schema):
                values[name] = None
        self._check(values)
        return values

    def _check(self, values: dict[str, Any]) -> None:
        nested = {CONFIGURATION: values} if values else {}
        try:
            self.check(nested if isinstance(self.tool, WorkflowTool) else values)
        except InvalidArguments as error:
            # Here a person reads it, not a model.
            text = str(error).removesuffix(" Correct them and call again.").replace(f"{CONFIGURATION}.", "")
            raise InvalidArguments(text.rstrip(".")) from error


def _arguments_schema(tool: Tool) -> Mapping[str, Any]:
    if not isinstance(tool, WorkflowTool):
        return tool.parameter_schema
    required = [name for name, part in tool.parameter_schema.items() if as_schema(part).get("default") is None]
    return {"properties": tool.parameter_schema, "required": required, "additionalProperties": False}


def _without_source(tool: Tool, name: Any, part: Mapping[str, Any]) -> Any:
    """The one value that is allowed, or the default."""
    values: list[Any] = part.get("enum") or []
    for known in ([part["const"]] if "const" in part else values if len(values) == 1 else [], [part.get("default")]):
        if known and known[0] is not None:
            return known[0]
    raise ConfigurationError(
        f"tool {tool.name!r} requires the argument {name!r}, and no column has that name; map a column or a constant "
        "to it in the dialog"
    )


def _kinds(part: Any, root: Mapping[str, Any], depth: int = 0) -> list[str]:
    """The JSON types that fit; none means that any does."""
    schema = merged(part, root)
    if depth > 10:
        return []
    if "$ref" in schema and "type" not in schema:
        return _kinds(reference_target(schema["$ref"], root), root, depth + 1)
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list) and "type" not in schema:
            branches = [_kinds(branch, root, depth + 1) for branch in cast("list[Any]", schema[keyword])]
            return list(dict.fromkeys(kind for kinds in branches for kind in kinds)) if all(branches) else []
    return types_of(schema)


def json_value(cell: Any, part: Any, root: Mapping[str, Any]) -> Any:
    """A cell as the JSON value that an argument takes, as near as it comes; whether it fits is checked later.

    Args:
        cell: Value of a cell, None for a missing one.
        part: Schema of the argument.
        root: Schema of all arguments, for references.
    """
    kinds = [kind for kind in _kinds(part, root) if kind != "null"]
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return None
    plain = _plain(cell, kinds)
    if isinstance(plain, str):
        return plain if not kinds or "string" in kinds else _read(plain, kinds)
    if kinds == ["string"]:
        return json.dumps(plain, ensure_ascii=False)
    if isinstance(plain, float) and plain.is_integer() and "integer" in kinds and "number" not in kinds:
        return int(plain)
    if isinstance(plain, list):
        items = merged(part, root).get("items", True)
        return [json_value(each, items, root) for each in cast("list[Any]", plain)]
    return plain


def _plain(cell: Any, kinds: Sequence[str]) -> Any:
    """The cell as a value that JSON has."""
    if isinstance(cell, (str, bool, int, float, list, dict)):
        return cast("Any", cell)
    if isinstance(cell, bytes):
        return base64.b64encode(cell).decode("ascii")
    if isinstance(cell, timedelta):
        return str(cell) if "string" in kinds else cell.total_seconds()
    if isinstance(cell, Decimal):
        return float(cell)
    return cell.isoformat() if isinstance(cell, (date, time)) else str(cell)


def _read(text: str, kinds: Sequence[str]) -> Any:
    """A text as the type that the tool wants; the text itself where it is none."""
    for kind in kinds:
        read = _READERS.get(kind)
        try:
            value = read(text.strip()) if read is not None else None
        except ValueError:
            continue
        if value is not None:
            return value
    return text


def _boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


def _integer(text: str) -> int:
    if "_" in text:  # Python's own way to write large numbers
        raise ValueError(text)
    return int(text)


def _number(text: str) -> float | None:
    try:
        return _integer(text)
    except ValueError:
        value = float(text) if "_" not in text else math.nan
        return value if math.isfinite(value) else None


def _of_kind(kind: type) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value: object = json.loads(text)
        return value if isinstance(value, kind) else None

    return read


_READERS: dict[str, Callable[[str], Any]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    "array": _of_kind(list),
    "object": _of_kind(dict),
}
