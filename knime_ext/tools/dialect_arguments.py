"""Brings arguments that fit a converted schema back to what the original schema wants. No I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from knime_ext.tools.dialect_conversion import JSON_TEXT, argument_names
from knime_ext.tools.schema_parts import Schema, accepts_null, as_schema, merged, reference_target, types_of
from knime_ext.tools.schemas import fits_schema

__all__ = ["restored_arguments"]


def restored_arguments(arguments: Mapping[str, Any], original: Schema, converted: Schema) -> dict[str, Any]:
    """The arguments for the original schema.

    Args:
        arguments: What the model sent; what does not fit is left as it is.
        original: The schema of the tool.
        converted: The schema that the model got.
    """
    return _Return(original, converted).members(dict(arguments), _flat_properties(original), original, converted)


def _flat_properties(original: Schema) -> Schema:
    """The arguments of all alternatives at the root."""
    root = merged(original, original)
    if "$ref" in root:
        root = merged({"allOf": [root, {"$ref": root["$ref"]}]}, original)
    properties = dict(as_schema(root.get("properties")))
    for keyword in ("anyOf", "oneOf"):
        for branch in cast("list[Any]", root.get(keyword, [])):
            one = as_schema(branch)
            one = merged(as_schema(reference_target(one["$ref"], original)) if "$ref" in one else one, original)
            for name, part in as_schema(one.get("properties")).items():
                properties.setdefault(name, part)
    return properties


class _Return:
    def __init__(self, original: Schema, converted: Schema) -> None:
        self._original = original
        self._converted = converted

    def members(self, given: Schema, properties: Schema, before: Schema, after: Schema) -> Schema:
        """The members of an object; `before` and `after` are its schemas."""
        shown = as_schema(after.get("properties"))
        names = argument_names(properties)
        own = {plain: name for name, plain in names.items() if plain in shown and name not in shown}
        required = set(cast("list[str]", merged(before, self._original).get("required") or []))
        result: Schema = {}
        for key, value in given.items():
            name = own.get(key, key)
            part = properties.get(name, True)
            if value is None and name not in required and name in properties and not accepts_null(part, self._original):
                continue
            result[name] = self.value(value, part, shown.get(key, True))
        return result

    def value(self, value: Any, before: Any, after: Any, depth: int = 0) -> Any:
        """A value for the original schema."""
        old, new = self._resolved(before, self._original), self._resolved(after, self._converted)
        if value is None or depth > 100:
            return value
        if "anyOf" in new:
            return self._alternative(value, old, new, depth)
        if isinstance(value, str):
            return _from_text(value, old, new)
        if isinstance(value, dict) and types_of(new)[:1] == ["object"]:
            return self.members(cast("Schema", value), as_schema(old.get("properties")), old, new)
        if isinstance(value, list) and "items" in new:
            items = old.get("items", True)
            return [self.value(item, items, new["items"], depth + 1) for item in cast("list[Any]", value)]
        return cast("Any", value)

    def _resolved(self, part: Any, root: Schema) -> Schema:
        schema = merged(part, root)
        for _ in range(20):
            if "$ref" not in schema:
                break
            schema = merged(reference_target(schema["$ref"], root), root)
        return schema

    def _alternative(self, value: Any, old: Schema, new: Schema, depth: int) -> Any:
        olds = cast("list[Any]", old.get("anyOf") or old.get("oneOf") or [])
        for place, branch in enumerate(cast("list[Any]", new["anyOf"])):
            if self._fits(value, branch):
                return self.value(value, olds[place] if place < len(olds) else old, branch, depth + 1)
        return value

    def _fits(self, value: Any, branch: Any) -> bool:
        return fits_schema({**as_schema(branch), "$defs": self._converted.get("$defs", {})}, value)


def _from_text(value: str, old: Schema, new: Schema) -> Any:
    if str(new.get("description", "")).endswith(JSON_TEXT):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    values = cast("list[Any]", [old["const"]] if "const" in old else old.get("enum", []))
    if value in cast("list[Any]", new.get("enum", [])) and value not in values:
        return next((one for one in values if json.dumps(one) == value), value)
    return value
