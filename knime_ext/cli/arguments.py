"""`key=value` words of the command line as the JSON arguments of a tool, converted by the tool's schema."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from knime_ext.errors import InvalidArguments

__all__ = ["arguments_from_json", "arguments_from_words", "converted", "schema_types"]

_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}

_NAMES = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a JSON array such as [1, 2]",
    "object": 'a JSON object such as {"key": 1}',
    "null": "null",
    "string": "a text",
}

Schema = Mapping[str, Any]


def _resolved(schema: Any, root: Schema) -> Schema:
    """The schema behind a local reference; an empty one where the reference leads nowhere."""
    seen: set[str] = set()
    while isinstance(schema, Mapping) and isinstance(reference := cast("Schema", schema).get("$ref"), str):
        if reference in seen:
            return {}
        seen.add(reference)
        schema = root
        for step in reference.removeprefix("#").strip("/").split("/"):
            schema = cast("Schema", schema).get(step, {}) if isinstance(schema, Mapping) else {}
    return cast("Schema", schema) if isinstance(schema, Mapping) else {}


def schema_types(schema: Any, root: Schema) -> list[str]:
    """JSON type names that a schema allows, in its own order; empty if it does not say."""
    schema = _resolved(schema, root)
    stated = schema.get("type")
    if isinstance(stated, str):
        return [stated]
    if isinstance(stated, list):
        return [str(name) for name in cast("list[Any]", stated)]
    found: list[str] = []
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(keyword) or ():
            found += [name for name in schema_types(branch, root) if name not in found]
    return found


def _whole_number(text: str) -> int:
    return int(text)


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        value = float(text)
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is no JSON number")
    return value


def _boolean(text: str) -> bool:
    if text.lower() not in _WORDS:
        raise ValueError(f"{text} is neither true nor false")
    return _WORDS[text.lower()]


def _json_of(kind: type) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value = json.loads(text)
        if not isinstance(value, kind):
            raise ValueError(f"{text} is another kind of JSON")
        return value

    return read


_READERS: Mapping[str, Callable[[str], Any]] = {
    "null": _json_of(type(None)),
    "boolean": _boolean,
    "integer": _whole_number,
    "number": _number,
    "array": _json_of(list),
    "object": _json_of(dict),
    "string": str,
}


def converted(text: str, schema: Any, root: Schema, name: str) -> Any:
    """One word as a JSON value of the type that its schema wants.

    Args:
        text: The word.
        schema: JSON Schema of the value.
        root: The whole schema, for references within it.
        name: Name of the argument, for messages.

    Raises:
        InvalidArguments: The word cannot be read as any type that the schema allows.
    """
    choices = _resolved(schema, root).get("enum")
    if isinstance(choices, list):
        for choice in cast("list[Any]", choices):
            if text == (choice if isinstance(choice, str) else json.dumps(choice)):
                return choice
    types = schema_types(schema, root)
    if not types:
        return _json_or_text(text)
    # The narrowest type first, so that "3" for a number or a text becomes a number.
    for kind in (kind for kind in _READERS if kind in types):
        try:
            return _READERS[kind](text)
        except ValueError:
            continue
    wanted = " or ".join(_NAMES.get(kind, kind) for kind in types if kind != "null" or len(types) == 1)
    raise InvalidArguments(f"argument {name!r} must be {wanted}, not {text!r}")


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _split(words: Iterable[str]) -> dict[str, list[str]]:
    given: dict[str, list[str]] = {}
    for word in words:
        name, separator, value = word.partition("=")
        if not separator or not name:
            raise InvalidArguments(f"{word!r} is no argument; write it as name=value")
        given.setdefault(name, []).append(value)
    return given


def _unknown(name: str, known: Sequence[str]) -> InvalidArguments:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    listed = ", ".join(map(repr, known)) or "none"
    repair = f"did you mean {near[0]!r}?" if near else f"it takes {listed}"
    return InvalidArguments(f"the tool has no argument {name!r}; {repair}")


def _value(name: str, values: Sequence[str], schema: Any, root: Schema) -> Any:
    """The value of one argument; a list may be given as JSON or by repeating the argument."""
    if "array" in schema_types(schema, root) and not (len(values) == 1 and values[0].lstrip().startswith("[")):
        if len(values) > 1 or schema_types(schema, root) == ["array"]:
            items = _resolved(schema, root).get("items", {})
            return [converted(text, items, root, name) for text in values]
    if len(values) > 1:
        raise InvalidArguments(f"argument {name!r} is given {len(values)} times but is no list; give it once")
    return converted(values[0], schema, root, name)


def arguments_from_words(words: Iterable[str], schema: Schema) -> dict[str, Any]:
    """The arguments that `name=value` words mean.

    Args:
        words: The words, such as `["amount=3", "tags=a", "tags=b"]`.
        schema: JSON Schema of the tool's arguments.

    Raises:
        InvalidArguments: A word is no `name=value`, names no argument, or has a value of another type.
    """
    properties = cast("Schema", schema.get("properties") or {})
    arguments: dict[str, Any] = {}
    for name, values in _split(words).items():
        if name not in properties and (properties or schema.get("additionalProperties") is False):
            if schema.get("additionalProperties") is not True:
                raise _unknown(name, list(properties))
        arguments[name] = _value(name, values, properties.get(name, {}), schema)
    return arguments


def arguments_from_json(text: str) -> dict[str, Any]:
    """The arguments in a JSON text.

    Raises:
        InvalidArguments: The text is no JSON object.
    """
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidArguments(f"the arguments are not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidArguments(f'the arguments must be a JSON object such as {{"name": 1}}, not {text!r}')
    return cast("dict[str, Any]", value)
