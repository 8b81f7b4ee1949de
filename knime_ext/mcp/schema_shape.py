"""Whether a JSON Schema is well formed, checked quickly.

One tool with a broken schema makes chat models refuse all of them, so it has to be found while listing. Validating
against the meta-schema takes about 2 ms per tool, which is seconds for a long list; this walk takes microseconds and
finds what breaks in practice: wrong types in the keywords that structure a schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

__all__ = ["MAX_DEPTH", "schema_fault"]

MAX_DEPTH = 100
"""Nesting beyond which a schema is refused: it would overflow the stack of whoever walks it recursively."""

_ONE = frozenset(
    "additionalItems additionalProperties contains else if items not propertyNames then unevaluatedItems "
    "unevaluatedProperties".split()
)
_NAMED = frozenset("$defs definitions dependentSchemas patternProperties properties".split())
_SEVERAL = frozenset("allOf anyOf oneOf prefixItems".split())
_TYPES = frozenset("array boolean integer null number object string".split())

_Place = tuple[str, Any, int]


def schema_fault(schema: Any) -> str | None:
    """What is wrong with a JSON Schema, None if it is well formed.

    Returns:
        A phrase that names the place, such as ``'properties.x.type' is not a JSON type: 'intger'``.
    """
    pending: list[_Place] = [("", schema, 0)]
    while pending:
        path, part, depth = pending.pop()
        if depth > MAX_DEPTH:
            return f"is nested more than {MAX_DEPTH} levels deep"
        if isinstance(part, bool):
            continue
        if not isinstance(part, dict):
            return f"{path!r} is no schema"
        keywords = cast("dict[str, Any]", part)
        fault = _keyword_fault(keywords, path)
        if fault is not None:
            return fault
        pending += _children(keywords, path, depth + 1)
    return None


def _keyword_fault(schema: dict[str, Any], path: str) -> str | None:
    def at(keyword: str) -> str:
        return repr(f"{path}.{keyword}".lstrip("."))

    for keyword, value in schema.items():
        if keyword == "type" and not _is_type(value):
            return f"{at(keyword)} is not a JSON type: {value!r}"
        if keyword in _NAMED and not isinstance(value, dict):
            return f"{at(keyword)} must be an object"
        if keyword in _SEVERAL and not isinstance(value, list):
            return f"{at(keyword)} must be an array of schemas"
        if keyword == "required" and not _is_text_list(value):
            return f"{at(keyword)} must be an array of names"
        if keyword == "enum" and not isinstance(value, list):
            return f"{at(keyword)} must be an array"
        if keyword in ("$ref", "pattern") and not isinstance(value, str):
            return f"{at(keyword)} must be a text"
    return None


def _is_type(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) and item in _TYPES for item in cast("list[Any]", value))
    return isinstance(value, str) and value in _TYPES


def _is_text_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in cast("list[Any]", value))


def _children(schema: dict[str, Any], path: str, depth: int) -> Iterator[_Place]:
    for keyword, value in schema.items():
        place = f"{path}.{keyword}".lstrip(".")
        if keyword in _NAMED:
            yield from ((f"{place}.{name}", part, depth) for name, part in value.items())
        elif keyword in _SEVERAL or (keyword == "items" and isinstance(value, list)):
            yield from ((f"{place}[{index}]", part, depth) for index, part in enumerate(cast("list[Any]", value)))
        elif keyword in _ONE:
            yield place, value, depth
