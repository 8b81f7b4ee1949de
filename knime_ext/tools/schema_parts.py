"""Reads parts of JSON Schemas: references within the document, `allOf` as one schema, whether null fits. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

__all__ = ["Schema", "accepts_null", "as_schema", "merged", "reference_target", "required_names", "types_of"]

Schema = dict[str, Any]


def as_schema(part: Any) -> Schema:
    """A part as a schema object; `true` and whatever is none become the schema that takes everything."""
    return cast("Schema", part) if isinstance(part, dict) else {}


def required_names(schema: Mapping[str, Any]) -> list[str]:
    """The names that a schema requires; none where it says so in no proper way."""
    names = schema.get("required")
    return [name for name in cast("list[Any]", names) if isinstance(name, str)] if isinstance(names, list) else []


def reference_target(reference: Any, root: Mapping[str, Any]) -> Any:
    """What a reference within the document leads to; None if it leads nowhere or out of the document."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    part: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(part, list) and key.isdigit() and int(key) < len(cast("list[Any]", part)):
            part = cast("list[Any]", part)[int(key)]
        elif isinstance(part, dict):
            part = cast("Schema", part).get(key)
        else:
            return None
    return part


def types_of(schema: Mapping[str, Any]) -> list[str]:
    """The JSON types that a schema names; read from `const`, `enum` or typical keywords if it names none."""
    kind = schema.get("type")
    if isinstance(kind, list):
        return [str(one) for one in cast("list[Any]", kind)]
    if isinstance(kind, str):
        return [kind]
    if "properties" in schema:
        return ["object"]
    if "items" in schema or "prefixItems" in schema:
        return ["array"]
    values = cast("list[Any]", [schema["const"]] if "const" in schema else schema.get("enum", []))
    return list(dict.fromkeys(map(_type_of, values)))


def _type_of(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(cast("type[Any]", type(value)), "null")


def accepts_null(part: Any, root: Mapping[str, Any], depth: int = 0) -> bool:
    """Whether a schema takes null, as far as can be seen without validating."""
    schema = as_schema(part)
    if depth > 10 or not schema:
        return True
    if "$ref" in schema:
        return accepts_null(reference_target(schema["$ref"], root), root, depth + 1)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return any(accepts_null(branch, root, depth + 1) for branch in schema[keyword])
    if "allOf" in schema:
        return all(accepts_null(branch, root, depth + 1) for branch in schema["allOf"])
    if "enum" in schema:
        return None in schema["enum"]
    kinds = types_of(schema)
    return not kinds or "null" in kinds


def merged(part: Any, root: Mapping[str, Any], depth: int = 0) -> Schema:
    """The schema with its `allOf` taken together; where two branches disagree about a keyword, the first one counts."""
    schema = as_schema(part)
    if "allOf" not in schema or depth > 10:
        return schema
    result = {keyword: value for keyword, value in schema.items() if keyword != "allOf"}
    for branch in cast("list[Any]", schema["allOf"]):
        one = as_schema(branch)
        if "$ref" in one:
            one = as_schema(reference_target(one["$ref"], root))
        for keyword, value in merged(one, root, depth + 1).items():
            result[keyword] = _both(keyword, result[keyword], value) if keyword in result else value
    return result


def _both(keyword: str, first: Any, second: Any) -> Any:
    if keyword == "properties":
        joined = dict(as_schema(first))
        for name, part in as_schema(second).items():
            joined[name] = {"allOf": [joined[name], part]} if name in joined else part
        return joined
    if keyword == "required":
        return list(dict.fromkeys([*first, *second]))
    return first
