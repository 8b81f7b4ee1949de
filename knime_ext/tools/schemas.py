"""JSON Schemas of arguments: checking a call before it goes out, and the schema of a workflow's arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from knime_ext.errors import InvalidArguments

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from pydantic_core import SchemaValidator

    from knime.types.tool import ToolPort, WorkflowTool

__all__ = [
    "argument_check",
    "check_arguments",
    "fits_schema",
    "parse_json_texts",
    "schema_problems",
    "simple_types_only",
    "workflow_arguments_schema",
]

CONFIGURATION = "configuration"
DATA_INPUTS = "data_inputs"

_MAX_PROBLEMS = 5
_MAX_VALUE_LENGTH = 80
_SIMPLE_TYPES = frozenset({"string", "integer", "number"})


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_VALUE_LENGTH else text[:_MAX_VALUE_LENGTH] + "…"


def _place(error: ValidationError, whole: str) -> str:
    path = ".".join(str(step) for step in error.absolute_path)
    return repr(path) if path else whole


def _deepest(error: ValidationError) -> ValidationError:
    """The most telling violation inside one: for `anyOf` and its like the branch that nearly fits."""
    from jsonschema.exceptions import best_match  # pyright: ignore[reportUnknownVariableType]

    return cast("Callable[[Any], ValidationError]", best_match)([error])


def _problem(error: ValidationError, whole: str) -> str:
    """One violation in words that tell a model what to send instead."""
    place, wanted = _place(error, whole), cast("Any", error.validator_value)
    match error.validator:
        case "required":
            missing = [name for name in wanted if name not in cast("Any", error.instance)]
            return f"{place} must have {', '.join(map(repr, missing))}"
        case "type":
            kinds = wanted if isinstance(wanted, str) else " or ".join(wanted)
            return f"{place} must be of type {kinds}, not {_shown(error.instance)}"
        case "enum":
            return f"{place} must be one of {', '.join(map(_shown, wanted))}, not {_shown(error.instance)}"
        case "additionalProperties":
            known = ", ".join(map(repr, cast("Any", error.schema).get("properties", ()))) or "none"
            extra = [name for name in cast("Any", error.instance) if repr(name) not in known]
            return f"{place} must not have {', '.join(map(repr, extra))}; known are {known}"
        case _:
            return f"{place}: {error.message[:200]}"


def check_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any], tool: str) -> None:
    """Checks the arguments of a call against the tool's schema; references are never fetched.

    A schema that is itself broken checks nothing: the tool's own check is then the only one.

    Args:
        schema: JSON Schema of the arguments; draft 2020-12 unless it says otherwise.
        arguments: The JSON object that the model sent.
        tool: Name of the tool, for the message.

    Raises:
        InvalidArguments: The arguments do not fit; the message lists what to change, for the model.
    """
    argument_check(schema, tool)(arguments)


def argument_check(schema: Mapping[str, Any], tool: str) -> Callable[[Mapping[str, Any]], None]:
    """The same as a function, for many calls of one tool: most of the time goes into looking at the schema."""
    validator = _validator(dict(schema))

    def check(arguments: Mapping[str, Any]) -> None:
        if problems := _problems(validator, arguments, "the arguments"):
            raise InvalidArguments(
                f"the arguments of {tool!r} do not fit: {'; '.join(problems)}. Correct them and call again."
            )

    return check


def schema_problems(schema: Mapping[str, Any], value: Mapping[str, Any], whole: str) -> list[str]:
    """What does not fit a schema, in words that tell a model what to change: a few problems, and how many more.

    A schema that is itself broken has no problem with anything; references are never fetched.

    Args:
        schema: JSON Schema; draft 2020-12 unless it says otherwise.
        value: The JSON object that the model sent.
        whole: What the object is called.
    """
    return _problems(_validator(dict(schema)), value, whole)


def _validator(schema: dict[str, Any]) -> Any:
    """What checks values; None if the schema is broken. Kept, because looking at a schema takes most of the time."""
    try:
        return _validator_of(json.dumps(schema))
    except (TypeError, ValueError, RecursionError):
        return _new_validator(schema)


@lru_cache(maxsize=512)
def _validator_of(schema: str) -> Any:
    return _new_validator(json.loads(schema))


def _new_validator(schema: dict[str, Any]) -> Any:
    from jsonschema import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except (SchemaError, Unresolvable, RecursionError):
        return None
    nothing_fetched: Registry[Any] = Registry()
    named_by_pattern = "patternProperties" in repr(schema)
    return _with_safe_patterns(kind, named_by_pattern=named_by_pattern)(schema, registry=nothing_fetched)


def fits_schema(schema: Mapping[str, Any], value: Any) -> bool:
    """Whether a value fits a schema; one that is itself broken takes everything."""
    from referencing.exceptions import Unresolvable

    validator = _validator(dict(schema))
    try:
        return validator is None or validator.is_valid(value)
    except (Unresolvable, RecursionError):
        return False


@lru_cache(maxsize=16)
def _with_safe_patterns(kind: Any, *, named_by_pattern: bool) -> Any:
    from jsonschema import validators

    replaced: dict[str, Any] = {"pattern": _pattern_problems}
    if named_by_pattern:
        replaced |= {
            "patternProperties": _problems_by_pattern,
            "additionalProperties": _additional_problems,
            "unevaluatedProperties": _left_to_the_tool,
        }
    return cast("Any", validators).extend(kind, replaced)


def _pattern_problems(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[Any]:
    """What `pattern` finds, in linear time: with Python's `re` a server's `(a+)+$` stops everything for minutes.

    A pattern that needs more than that, such as one that looks ahead, is left to the tool's own check.
    """
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and (fits := _linear(pattern)) and not fits.isinstance_python(value):
        yield ValidationError(f"{_shown(value)} does not match {pattern!r}")


def _problems_by_pattern(validator: Any, by_pattern: Mapping[str, Any], value: Any, schema: Any) -> Iterator[Any]:
    """What `patternProperties` finds, in linear time too."""
    for pattern, part in by_pattern.items():
        fits = _linear(pattern)
        names = [name for name in _names(value) if fits is not None and fits.isinstance_python(name)]
        for name in names:
            yield from validator.descend(value[name], part, path=name, schema_path=pattern)


def _additional_problems(validator: Any, allowed: Any, value: Any, schema: Any) -> Iterator[Any]:
    """What `additionalProperties` finds beside `patternProperties`, in linear time too."""
    from jsonschema.exceptions import ValidationError

    patterns = [_linear(pattern) for pattern in schema.get("patternProperties", {})]
    known = schema.get("properties", {})
    extra = [
        name
        for name in _names(value)
        if name not in known and not any(fits is None or fits.isinstance_python(name) for fits in patterns)
    ]
    if isinstance(allowed, dict):
        for name in extra:
            yield from validator.descend(value[name], allowed, path=name)
    elif extra and not allowed:
        yield ValidationError(f"{', '.join(map(repr, extra))} must not be there")


def _left_to_the_tool(validator: Any, allowed: Any, value: Any, schema: Any) -> Iterator[Any]:
    """`unevaluatedProperties` beside patterns: what it would have to look at cannot be bounded."""
    return iter(())


def _names(value: Any) -> list[str]:
    return [name for name in cast("dict[Any, Any]", value) if isinstance(name, str)] if isinstance(value, dict) else []


@lru_cache(maxsize=512)
def _linear(pattern: str) -> SchemaValidator | None:
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern, strict=True))
    except SchemaError:
        return None


def _problems(validator: Any, value: Mapping[str, Any], whole: str) -> list[str]:
    from referencing.exceptions import Unresolvable

    try:
        errors: list[ValidationError] = [] if validator is None else list(validator.iter_errors(dict(value)))
    except (Unresolvable, RecursionError):
        return []
    problems = list(dict.fromkeys(_problem(_deepest(error), whole) for error in errors[:_MAX_PROBLEMS]))
    more = [f"and {len(errors) - _MAX_PROBLEMS} more"] if len(errors) > _MAX_PROBLEMS else []
    return problems + more


def _with_columns(port: ToolPort) -> str:
    try:
        columns = json.loads(port.spec or "{}").get("columns", [])
        names = ", ".join(f"{column['name']} ({column['type']})" for column in columns)
    except (ValueError, TypeError, KeyError, AttributeError):
        names = ""
    expected = f" Expected columns: {names}." if names else ""
    return f"Id of the data item to use. {port.description}{expected}".strip()


def workflow_arguments_schema(tool: WorkflowTool) -> dict[str, Any]:
    """The JSON Schema of a workflow tool's arguments.

    Returns:
        An object with `configuration` (the workflow's parameters; those without a default are required) and
        `data_inputs` (port name to the id of a data item, all required), each only if the workflow has any.
    """
    properties: dict[str, Any] = {}
    required: list[str] = []
    if tool.parameter_schema:
        needed = [name for name, schema in tool.parameter_schema.items() if schema.get("default") is None]
        properties[CONFIGURATION] = _object(dict(tool.parameter_schema), needed)
        required += [CONFIGURATION] if needed else []
    if tool.input_ports:
        ports = {port.name: {"type": "integer", "description": _with_columns(port)} for port in tool.input_ports}
        properties[DATA_INPUTS] = _object(ports, list(ports))
        required.append(DATA_INPUTS)
    return _object(properties, required)


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": required} if required else {})


def _is_simple(schema: Any) -> bool:
    return isinstance(schema, Mapping) and cast("Any", schema).get("type") in _SIMPLE_TYPES


def _as_text(schema: Any) -> dict[str, Any]:
    about = cast("Any", schema).get("description", "") if isinstance(schema, Mapping) else ""
    return {"type": "string", "description": f"{about} Send it as JSON text.".strip()}


def simple_types_only(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with text and numbers only, for models that handle nothing else.

    Optional properties of any other type are left out; required ones are taken as JSON text, which
    `parse_json_texts` turns back into values before the call.

    Args:
        schema: JSON Schema object of a tool's arguments.
    """
    required = set(schema.get("required", ()))
    properties: dict[str, Any] = {}
    for name, part in cast("Mapping[str, Any]", schema.get("properties", {})).items():
        if _is_simple(part):
            properties[name] = part
        elif name in required:
            properties[name] = _as_text(part)
    return {"type": "object", "properties": properties, "required": [name for name in properties if name in required]}


def _takes_text(schema: Any) -> bool:
    kind = cast("Any", schema).get("type") if isinstance(schema, Mapping) else None
    return kind is None or kind == "string" or (isinstance(kind, list) and "string" in kind)


def parse_json_texts(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with JSON texts read where the schema does not take a text; anything else is left alone.

    Args:
        schema: The tool's own JSON Schema.
        arguments: The arguments as the model sent them.
    """
    parts: Mapping[str, Any] = schema.get("properties", {})
    parsed = dict(arguments)
    for name, value in arguments.items():
        if isinstance(value, str) and name in parts and not _takes_text(parts[name]):
            try:
                parsed[name] = json.loads(value)
            except ValueError:
                continue
    return parsed
