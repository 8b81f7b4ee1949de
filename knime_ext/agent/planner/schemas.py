"""JSON Schemas as a flat list of slots to fill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from knime_ext.agent.planner.words import split_words

__all__ = ["Slot", "slots_of"]

_MAX_DEPTH = 6
_NO_DEFAULT = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One value that a call may carry.

    Attributes:
        path: Keys from the top of the arguments to the value.
        kind: "string", "integer", "number", "boolean", "array" or "any".
        required: True if the call is invalid without it.
        schema: The value's own schema, references resolved.
    """

    path: tuple[str, ...]
    kind: str
    required: bool
    schema: Mapping[str, Any]

    @property
    def name_words(self) -> tuple[str, ...]:
        """Words of the value's name."""
        return tuple(split_words(self.path[-1]))

    @property
    def words(self) -> tuple[str, ...]:
        """Words of name and description."""
        return (*self.name_words, *split_words(str(self.schema.get("description", ""))))

    @property
    def choices(self) -> list[Any]:
        """The values that are allowed, if there are only some."""
        return list(self.schema.get("enum", ()))

    @property
    def has_default(self) -> bool:
        """True if there is a value to fall back on."""
        return self.schema.get("default") is not None

    @property
    def is_data_id(self) -> bool:
        """True if the value is the id of a table in the data repository."""
        named = str(self.schema.get("description", "")).startswith("Id of the data item")
        return self.kind == "integer" and (named or self.path[0] == "data_inputs")


def slots_of(schema: Mapping[str, Any]) -> list[Slot]:
    """The slots of a schema of arguments, nested objects opened, in order."""
    return list(_slots(schema, schema, (), required=True))


def _slots(
    root: Mapping[str, Any], schema: Mapping[str, Any], path: tuple[str, ...], *, required: bool
) -> Iterator[Slot]:
    needed = schema.get("required", ())
    for name, raw in cast("Mapping[str, Any]", schema.get("properties", {})).items():
        part = _resolved(root, raw)
        here, must = (*path, name), required and name in needed
        if "properties" in part and len(here) < _MAX_DEPTH:
            yield from _slots(root, part, here, required=must)
        else:
            yield Slot(path=here, kind=_kind(part), required=must, schema=part)


def _resolved(root: Mapping[str, Any], raw: Any) -> Mapping[str, Any]:
    """A schema without local references and without the alternative "nothing"."""
    schema = cast("Mapping[str, Any]", raw if isinstance(raw, Mapping) else {})
    for _ in range(_MAX_DEPTH):
        if isinstance(reference := schema.get("$ref"), str):
            target: Any = root
            for step in reference.removeprefix("#/").split("/"):
                target = cast("Mapping[str, Any]", target).get(step, {}) if isinstance(target, Mapping) else {}
            schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
        elif alternatives := [*schema.get("anyOf", ()), *schema.get("oneOf", ())]:
            first = next((part for part in alternatives if part.get("type") != "null"), dict[str, Any]())
            rest = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
            schema = {**first, **rest}
        else:
            break
    return schema


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((part for part in cast("list[Any]", kind) if part != "null"), None)
    if kind is None and "enum" in schema:
        return "string"
    return kind if isinstance(kind, str) else "any"
