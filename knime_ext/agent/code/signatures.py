"""Tools as Python functions: names, parameters and types from their JSON Schemas. Pure."""

from __future__ import annotations

import builtins
import inspect
import keyword
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Union, cast

from knime_ext.agent.code.imports import MODULES, TOOLS_MODULE
from knime_ext.tools import text_for_model

__all__ = ["ToolParameter", "ToolSignature", "identifier"]

_RESERVED = frozenset(dir(builtins)) | MODULES | {TOOLS_MODULE, "self"}
_MAX_CHOICES = 12
_MAX_DEPTH = 6
_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list[Any],
    "object": dict[str, Any],
    "null": None,
}


def identifier(name: str, taken: Collection[str] = (), *, reserved: Collection[str] = _RESERVED) -> str:
    """A Python name that is no keyword, not reserved and not in `taken`.

    Args:
        name: Any text; what no name may contain becomes an underscore.
        taken: Names that are in use.
        reserved: Names that would hide something; they get an underscore at the end.
    """
    stem = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
    stem = f"_{stem}" if stem[0].isdigit() else stem
    # Names with two underscores in front mean something to Python.
    stem = re.sub(r"^__+", "_", stem)
    if keyword.iskeyword(stem) or keyword.issoftkeyword(stem) or stem in reserved:
        stem += "_"
    candidate, number = stem, 1
    while candidate in taken:
        number += 1
        candidate = f"{stem}_{number}"
    return candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolParameter:
    """One parameter.

    Attributes:
        name: Its name in Python.
        wire_name: Its name in the tool's schema.
        required: Whether it must be given.
        default: The schema's default; None if there is none.
        type: Its type, as Python writes it.
        annotation: The same as a type.
        description: What the schema says about it, in one line.
    """

    name: str
    wire_name: str
    required: bool
    default: Any
    type: str
    annotation: Any
    description: str

    @property
    def text(self) -> str:
        """As in a function's head."""
        return f"{self.name}: {self.type}" if self.required else f"{self.name}: {self.type} = {self.default!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSignature:
    """How a tool is called in Python.

    Attributes:
        name: The function's name.
        description: What it does.
        parameters: Required ones first.
        open_ended: Whether it takes more than its schema names.
    """

    name: str
    description: str
    parameters: tuple[ToolParameter, ...]
    open_ended: bool = False

    @classmethod
    def of(cls, name: str, description: str, schema: Mapping[str, Any]) -> ToolSignature:
        """The function of a tool with that argument schema."""
        properties = _mapping(schema.get("properties"))
        required = _required(schema)
        names: list[str] = []
        parameters: list[ToolParameter] = []
        for wire_name, part in properties.items():
            names.append(identifier(wire_name, names, reserved=()))
            parameters.append(_parameter(names[-1], wire_name, part, schema, required=wire_name in required))
        return cls(
            name=name,
            description=text_for_model(description).strip(),
            parameters=tuple(sorted(parameters, key=lambda parameter: not parameter.required)),
            open_ended=bool(schema.get("additionalProperties")) or not properties and "properties" not in schema,
        )

    @property
    def text(self) -> str:
        """The function's head without `def`: `search(*, query: str, limit: int = 10)`."""
        parts = ["*", *(parameter.text for parameter in self.parameters)] if self.parameters else []
        return f"{self.name}({', '.join([*parts, *(['**more: Any'] if self.open_ended else [])])})"

    @property
    def documentation(self) -> str:
        """Description and parameters, as a docstring says it."""
        lines = [
            f"    {parameter.name}: {parameter.description}" for parameter in self.parameters if parameter.description
        ]
        return "\n\n".join(part for part in (self.description, "\n".join(["Args:", *lines]) if lines else "") if part)

    @property
    def inspected(self) -> inspect.Signature:
        """The same for Python's `inspect`."""
        parameters = [
            inspect.Parameter(
                parameter.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if parameter.required else parameter.default,
                annotation=parameter.annotation,
            )
            for parameter in self.parameters
        ]
        if self.open_ended:
            parameters.append(inspect.Parameter("more", inspect.Parameter.VAR_KEYWORD, annotation=Any))
        return inspect.Signature(parameters, return_annotation=Any)

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call under the names that the tool knows.

        Positions are taken in the order of the parameters, although the head asks for keywords: the meaning is clear.

        Raises:
            TypeError: The call does not fit; the message says how to call.
        """
        if len(args) > len(self.parameters):
            raise self._misfit(f"takes {len(self.parameters)} arguments but {len(args)} were given")
        wire = {parameter.name: parameter.wire_name for parameter in self.parameters}
        given = {parameter.wire_name: value for parameter, value in zip(self.parameters, args, strict=False)}
        for name, value in kwargs.items():
            known = name in wire or name in wire.values()
            if not known and not self.open_ended:
                raise self._misfit(f"has no parameter {name!r}")
            target = wire.get(name, name)
            if target in given:
                raise self._misfit(f"got {name!r} twice")
            given[target] = value
        missing = [p.name for p in self.parameters if p.required and p.wire_name not in given]
        if missing:
            raise self._misfit(f"needs {', '.join(map(repr, missing))}")
        # Where the head shows None as default, it stands for "not given".
        silent = {p.wire_name for p in self.parameters if not p.required and p.default is None}
        return {name: value for name, value in given.items() if not (value is None and name in silent)}

    def _misfit(self, what: str) -> TypeError:
        return TypeError(f"{self.name}() {what}; call it as {self.text}")


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _required(schema: Mapping[str, Any]) -> list[str]:
    required = schema.get("required")
    return cast("list[str]", required) if isinstance(required, list) else []


def _parameter(name: str, wire_name: str, part: Any, root: Mapping[str, Any], *, required: bool) -> ToolParameter:
    target = _resolved(part, root)
    about = [str(one["description"]) for one in (_mapping(part), target) if one.get("description")][:1]
    keys = _keys(target, root)
    text, annotation = _type(part, root, 0)
    default = target.get("default")
    if not required and default is None and "None" not in text:
        text, annotation = _union([(text, annotation), ("None", None)])
    return ToolParameter(
        name=name,
        wire_name=wire_name,
        required=required,
        default=default if isinstance(default, (str, int, float, type(None))) else None,
        type=text,
        annotation=annotation,
        description=" ".join(text_for_model(" ".join([*about, *keys])).split()),
    )


def _keys(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[str]:
    """What a parameter that is an object consists of, in words."""
    properties = _mapping(schema.get("properties"))
    required = _required(schema)
    parts: list[str] = []
    for name, part in list(properties.items())[:30]:
        kind = _type(part, root, 1)[0] + ("" if name in required else ", optional")
        about = str(_resolved(part, root).get("description") or "")
        parts.append(f"{name!r} ({kind})" + (f": {about}" if about else ""))
    return [f"Keys: {'; '.join(parts)}."] if parts else []


def _resolved(part: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reference within the schema stands for."""
    for _ in range(10):  # a reference may lead to itself
        schema = _mapping(part)
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        part = root
        for step in reference.removeprefix("#/").split("/"):
            part = _mapping(part).get(step.replace("~1", "/").replace("~0", "~"))
    return {}


def _type(part: Any, root: Mapping[str, Any], depth: int) -> tuple[str, Any]:
    """A schema's type, as text and as type."""
    schema = _resolved(part, root)
    if depth > _MAX_DEPTH:
        return "Any", Any
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(choices, list) and choices:
        return _choice(cast("list[Any]", choices))
    branches = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(branches, list):
        return _union([_type(branch, root, depth + 1) for branch in cast("list[Any]", branches)[:_MAX_CHOICES]])
    kind = schema.get("type")
    if isinstance(kind, list):
        kinds = cast("list[Any]", kind)
        return _union([_type({**schema, "type": one}, root, depth + 1) for one in kinds[:_MAX_CHOICES]])
    return _plain_type(str(kind), schema, root, depth)


def _plain_type(kind: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> tuple[str, Any]:
    if kind == "array":
        text, annotation = _type(schema.get("items"), root, depth + 1)
        return f"list[{text}]", list[annotation]
    if kind not in _TYPES:
        return "Any", Any
    annotation = _TYPES[kind]
    return ("dict" if kind == "object" else "None" if annotation is None else annotation.__name__), annotation


def _choice(values: list[Any]) -> tuple[str, Any]:
    if len(values) <= _MAX_CHOICES and all(isinstance(value, (str, int, type(None))) for value in values):
        return f"Literal[{', '.join(map(repr, values))}]", Literal[tuple(values)]
    kinds: set[Any] = {type(value) for value in values}
    kind = kinds.pop() if len(kinds) == 1 else None
    return (kind.__name__, kind) if kind in (str, int, float) else ("Any", Any)


def _union(parts: list[tuple[str, Any]]) -> tuple[str, Any]:
    texts = list(dict.fromkeys(text for text, _ in parts))
    if not parts or "Any" in texts:
        return "Any", Any
    return " | ".join(texts), Union[tuple(annotation for _, annotation in parts)]  # noqa: UP007 - made of a list
