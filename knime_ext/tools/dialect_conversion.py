"""The conversions themselves: what each dialect takes, and how a schema is brought there. No I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from knime_ext.tools.names import safe_name
from knime_ext.tools.schema_parts import Schema, accepts_null, as_schema, merged, reference_target, types_of

__all__ = ["JSON_TEXT", "RULES", "Conversion", "Rules", "argument_names"]

JSON_TEXT = "Send it as JSON text."
"""Ends the description of an argument that is to be sent as JSON text."""

MAX_PARTS = 5_000
"""Parts of a converted schema; references written out could make it grow without end."""

MAX_DEPTH = 40
"""Nesting of a converted schema; deeper parts are sent as JSON text."""

_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_TOLD = frozenset(
    "default minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems "
    "maxItems uniqueItems minProperties maxProperties propertyNames patternProperties dependentRequired contains "
    "minContains maxContains not const prefixItems".split()
)
"""Keywords whose meaning goes into the description where a dialect has no place for them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a dialect takes.

    Attributes:
        keywords: The keywords that stay as they are; None for all.
        formats: Values of `format` that stay.
        strict: Objects are closed and every argument is required.
        references: `$ref` to `$defs` stays.
        nullable: Null is written as `nullable: true`, not as a type.
        plain_names: Names of arguments must be plain.
    """

    keywords: frozenset[str] | None = None
    formats: frozenset[str] = frozenset()
    strict: bool = False
    references: bool = True
    nullable: bool = False
    plain_names: bool = False


RULES = {
    "openai-strict": Rules(
        keywords=frozenset(
            "title description enum pattern format multipleOf minimum maximum exclusiveMinimum exclusiveMaximum "
            "minItems maxItems".split()
        ),
        formats=frozenset("date-time time date duration email hostname ipv4 ipv6 uuid".split()),
        strict=True,
    ),
    "gemini": Rules(
        keywords=frozenset(
            "title description enum pattern format minimum maximum minItems maxItems minLength maxLength minProperties "
            "maxProperties default".split()
        ),
        formats=frozenset("date-time int32 int64 float double".split()),
        references=False,
        nullable=True,
    ),
    "anthropic": Rules(plain_names=True),
}


def argument_names(names: Mapping[str, Any]) -> dict[str, str]:
    """Plain names for arguments, by the original ones; those that are plain already keep theirs."""
    plain = {name: name for name in names if _NAME.fullmatch(name)}
    for name in names:
        if name not in plain:
            plain[name] = safe_name(name, set(plain.values()))
    return plain


class Conversion:
    """Converts one schema.

    Args:
        schema: The schema of a tool's arguments.
        rules: What the dialect takes.
    """

    def __init__(self, schema: Schema, rules: Rules) -> None:
        self._root = schema
        self._rules = rules
        self._parts = 0
        self._depth = 0

    def root(self) -> Schema:
        """The whole schema, an object without alternatives at the root."""
        flat = self._flat(merged(self._root, self._root))
        if self._rules.keywords is None:
            return self._plainly_named(flat)
        converted = self._object({**flat, "type": "object"}, ())
        definitions = {**as_schema(flat.get("definitions")), **as_schema(flat.get("$defs"))}
        if definitions and self._rules.references:
            converted["$defs"] = {name: self._part(part, ()) for name, part in definitions.items()}
        return converted

    def _flat(self, schema: Schema) -> Schema:
        """Alternatives at the root as one object that has the arguments of all of them."""
        branches = [branch for keyword in ("anyOf", "oneOf") for branch in cast("list[Any]", schema.get(keyword, []))]
        target = as_schema(reference_target(schema.get("$ref"), self._root)) if "$ref" in schema else {}
        if not branches and not target:
            return {**schema, "type": "object"}
        flat = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf", "$ref")}
        flat = merged({"allOf": [flat, target]}, self._root) if target else flat
        properties = dict(as_schema(flat.get("properties")))
        required: list[set[str]] = []
        for branch in branches:
            one = as_schema(branch)
            one = merged(as_schema(reference_target(one["$ref"], self._root)) if "$ref" in one else one, self._root)
            required.append(set(one.get("required", ())))
            for name, part in as_schema(one.get("properties")).items():
                properties.setdefault(name, part)
        common = set[str].intersection(*required) if required else set[str]()
        needed = [name for name in properties if name in common or name in flat.get("required", ())]
        return {**flat, "type": "object", "properties": properties, **({"required": needed} if needed else {})}

    def _plainly_named(self, schema: Schema) -> Schema:
        properties = as_schema(schema.get("properties"))
        names = argument_names(properties)
        if all(name == plain for name, plain in names.items()):
            return schema
        renamed = {**schema, "properties": {names[name]: part for name, part in properties.items()}}
        if "required" in schema:
            renamed["required"] = [names.get(name, name) for name in schema["required"]]
        return renamed

    def _part(self, part: Any, through: tuple[str, ...]) -> Schema:
        """Any schema below the root; `through` are the references that led here."""
        self._parts += 1
        self._depth += 1
        try:
            if self._parts > MAX_PARTS or self._depth > MAX_DEPTH:
                return _json_text({})
            return self._converted(merged(part, self._root), through)
        finally:
            self._depth -= 1

    def _converted(self, schema: Schema, through: tuple[str, ...]) -> Schema:
        if "$ref" in schema:
            return self._reference(schema, through)
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                return self._alternatives(schema, cast("list[Any]", schema[keyword]), through)
        kinds = types_of(schema)
        others = [kind for kind in kinds if kind != "null"]
        if len(others) > 1:
            branches: list[Any] = [{**schema, "type": kind} for kind in kinds]
            return self._alternatives(
                {key: schema[key] for key in ("title", "description") if key in schema}, branches, through
            )
        converted = self._typed(schema, others[0] if others else "", through)
        return self._with_null(converted) if "null" in kinds and others else converted

    def _typed(self, schema: Schema, kind: str, through: tuple[str, ...]) -> Schema:
        if kind == "object":
            if not as_schema(schema.get("properties")):
                return _json_text(schema)
            return self._object(schema, through)
        if kind == "array":
            items = schema.get("items")
            if not isinstance(items, dict):
                choices = cast("list[Any]", schema.get("prefixItems") or [])
                items = {"anyOf": choices} if choices else {}
            return {**self._kept(schema), "type": "array", "items": self._part(items, through)}
        if not kind:
            return {"type": "null"} if types_of(schema) == ["null"] else _json_text(schema)
        return {**self._kept(schema), "type": kind, **self._enum(schema, kind)}

    def _object(self, schema: Schema, through: tuple[str, ...]) -> Schema:
        required = set(cast("list[str]", schema.get("required") or []))
        properties: Schema = {}
        for name, part in as_schema(schema.get("properties")).items():
            converted = self._part(part, through)
            optional = self._rules.strict and name not in required and not accepts_null(part, self._root)
            properties[name] = self._with_null(converted) if optional else converted
        result: Schema = {**self._kept(schema), "type": "object", "properties": properties}
        if self._rules.strict:
            return {**result, "required": list(properties), "additionalProperties": False}
        needed = [name for name in properties if name in required]
        return {**result, "required": needed} if needed else result

    def _reference(self, schema: Schema, through: tuple[str, ...]) -> Schema:
        reference = str(schema["$ref"])
        short = reference.replace("#/definitions/", "#/$defs/")
        about = {key: schema[key] for key in ("title", "description") if key in schema}
        target = reference_target(reference, self._root)
        if target is None or reference in through:
            return _json_text(about)
        if self._rules.references and short.startswith("#/$defs/") and short.count("/") == 2:
            return {"anyOf": [{"$ref": short}], **about} if about else {"$ref": short}
        return {**self._part(target, (*through, reference)), **about}

    def _alternatives(self, schema: Schema, branches: list[Any], through: tuple[str, ...]) -> Schema:
        shared = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf", *_ABOUT)}
        parts = [self._part({**shared, **as_schema(branch)} if shared else branch, through) for branch in branches]
        about = {key: schema[key] for key in _ABOUT if key in schema}
        if not self._rules.nullable:
            return {**about, "anyOf": parts}
        rest = [part for part in parts if part.get("type") != "null"]
        if not rest:
            return {**about, "type": "null"}
        plain = {**rest[0], **about} if len(rest) == 1 else {**about, "anyOf": rest}
        return plain if len(rest) == len(parts) else {**plain, "nullable": True}

    def _with_null(self, schema: Schema) -> Schema:
        if self._rules.nullable:
            return {**schema, "nullable": True}
        if schema.get("type") == "null":
            return schema
        if "anyOf" in schema:
            return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
        if "$ref" in schema:
            return {"anyOf": [schema, {"type": "null"}]}
        with_null = {**schema, "type": [schema["type"], "null"]}
        if "enum" in schema and None not in schema["enum"]:
            with_null["enum"] = [*schema["enum"], None]
        return with_null

    def _enum(self, schema: Schema, kind: str) -> Schema:
        values = cast("list[Any]", [schema["const"]] if "const" in schema else schema.get("enum", []))
        if not values:
            return {}
        if not self._rules.nullable or kind == "string":
            return {"enum": [value for value in values if value is not None or not self._rules.nullable]}
        return {"type": "string", "enum": [json.dumps(value) for value in values]}

    def _kept(self, schema: Schema) -> Schema:
        """The keywords that the dialect takes; the description tells about the others."""
        assert self._rules.keywords is not None
        kept = {key: value for key, value in schema.items() if key in self._rules.keywords and key != "enum"}
        if kept.get("format") not in (None, *self._rules.formats):
            del kept["format"]
        lost = [key for key in schema if key in _TOLD and key not in kept and key not in ("const", "prefixItems")]
        if lost:
            told = "; ".join(f"{key}: {json.dumps(schema[key], ensure_ascii=False)}" for key in lost)
            kept["description"] = f"{kept.get('description', '')} ({told})".strip()
        return kept


_ABOUT = ("title", "description")


def _json_text(schema: Schema) -> Schema:
    about = str(schema.get("description", ""))
    shape = {key: value for key, value in schema.items() if key != "description"}
    hint = (
        f" It fits this JSON Schema: {json.dumps(shape, ensure_ascii=False)}."
        if shape and len(str(shape)) < 500
        else ""
    )
    return {"type": "string", "description": f"{about}{hint} {JSON_TEXT}".strip()}
