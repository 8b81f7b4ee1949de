"""Schemas for vendors: every change is told, the original can be made again, arguments find their way back."""

import re
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema.validators import Draft202012Validator

from knime_ext.tools import convert_schema
from knime_ext.tools.dialects import Dialect

SHOP: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "Words.", "minLength": 2},
        "limit": {"type": "integer", "default": 10, "minimum": 1},
        "level": {"enum": [1, 2, 3]},
        "sort": {"type": "string", "enum": ["asc", "desc"]},
        "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        "address": {"$ref": "#/$defs/Address", "description": "Where to."},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "extra": {},
        "ids": {"type": ["string", "integer"]},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
    },
    "required": ["query"],
    "$defs": {
        "Address": {
            "type": "object",
            "properties": {
                "street": {"type": "string"},
                "number": {"type": "integer"},
                "in": {"$ref": "#/$defs/Address"},
            },
            "required": ["street"],
        }
    },
}


@pytest.mark.parametrize("dialect", list(Dialect))
def test_the_original_can_be_made_of_the_report(dialect: Dialect):
    converted = convert_schema(SHOP, dialect)
    assert converted.reverted() == SHOP
    assert converted.original == SHOP
    Draft202012Validator.check_schema(converted.schema)


def _objects(schema: Any) -> list[dict[str, Any]]:
    """Every schema in a converted schema."""
    if isinstance(schema, list):
        return [one for part in cast("list[Any]", schema) for one in _objects(part)]
    if not isinstance(schema, dict):
        return []
    found = [cast("dict[str, Any]", schema)]
    for keyword, part in found[0].items():
        parts: list[Any] = list(part.values()) if keyword in ("properties", "$defs") else [part]
        found += [one for below in parts for one in _objects(below)]
    return found


def test_openai_strict_closes_every_object_and_requires_every_argument():
    schema = convert_schema(SHOP, "openai-strict").schema
    objects = [part for part in _objects(schema) if part.get("type") == "object"]
    assert len(objects) == 2
    for part in objects:
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
    words = {keyword for part in _objects(schema) for keyword in part}
    assert not words & {"default", "oneOf", "allOf", "minLength", "const", "$schema", "prefixItems"}
    properties = schema["properties"]
    assert properties["query"] == {"type": "string", "description": "Words. (minLength: 2)"}
    assert properties["limit"] == {"type": ["integer", "null"], "description": "(default: 10)", "minimum": 1}
    assert properties["level"] == {"type": ["integer", "null"], "enum": [1, 2, 3, None]}
    assert properties["address"]["anyOf"] == [{"$ref": "#/$defs/Address"}, {"type": "null"}]
    assert properties["labels"]["type"] == ["string", "null"]


def test_gemini_gets_no_references_and_enums_of_texts_only():
    schema = convert_schema(SHOP, "gemini").schema
    words = {keyword for part in _objects(schema) for keyword in part}
    assert not words & {"$ref", "$defs", "$schema", "additionalProperties", "oneOf", "allOf", "const", "prefixItems"}
    assert all(isinstance(part.get("type", ""), str) for part in _objects(schema))
    properties = schema["properties"]
    assert properties["level"] == {"type": "string", "enum": ["1", "2", "3"]}
    assert properties["when"] == {"type": "string", "description": '(format: "date")', "nullable": True}
    assert properties["address"]["properties"]["street"] == {"type": "string"}
    assert schema["required"] == ["query"]


def test_anthropic_keeps_everything_but_alternatives_at_the_root_and_odd_names():
    assert convert_schema(SHOP, "anthropic").changes == ()
    odd = {"type": "object", "properties": {"größe (cm)": {"type": "integer"}, "ok": {}}, "required": ["größe (cm)"]}
    converted = convert_schema(odd, "anthropic")
    assert list(converted.schema["properties"])[1:] == ["ok"]
    assert all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name) for name in converted.schema["properties"])
    (name,) = converted.schema["required"]
    assert converted.arguments({name: 3, "ok": 1}) == {"größe (cm)": 3, "ok": 1}
    assert converted.reverted() == odd


@pytest.mark.parametrize("dialect", list(Dialect))
def test_alternatives_at_the_root_become_one_object(dialect: Dialect):
    root: dict[str, Any] = {
        "oneOf": [
            {"properties": {"id": {"type": "string"}, "x": {"type": "integer"}}, "required": ["id", "x"]},
            {"properties": {"name": {"type": "string"}, "x": {"type": "integer"}}, "required": ["name", "x"]},
        ]
    }
    converted = convert_schema(root, dialect)
    assert converted.schema["type"] == "object"
    assert not {"oneOf", "anyOf"} & converted.schema.keys() - ({"oneOf"} if dialect is Dialect.ANTHROPIC else set())
    assert set(converted.schema["properties"]) == {"id", "name", "x"}
    assert "x" in converted.schema["required"]
    assert converted.reverted() == root
    sent = {"id": "a", "x": 1, **({"name": None} if dialect is Dialect.OPENAI_STRICT else {})}
    assert converted.arguments(sent) == {"id": "a", "x": 1}


def _fits(value: Any, schema: dict[str, Any]) -> bool:
    validator: Any = Draft202012Validator(schema)
    return validator.is_valid(value)


SENT = {
    "query": "ink",
    "limit": None,
    "level": 2,
    "sort": None,
    "when": None,
    "address": {"street": "A", "number": None, "in": {"street": "B", "number": 1, "in": None}},
    "labels": '{"a": "b"}',
    "extra": '"text"',
    "ids": 7,
    "pair": ["a", 1],
}


def test_arguments_for_openai_strict_find_their_way_back():
    converted = convert_schema(SHOP, "openai-strict")
    assert _fits(SENT, converted.schema)
    arguments = converted.arguments(SENT)
    assert arguments == {
        "query": "ink",
        "level": 2,
        "when": None,
        "address": {"street": "A", "in": {"street": "B", "number": 1}},
        "labels": {"a": "b"},
        "extra": "text",
        "ids": 7,
        "pair": ["a", 1],
    }
    assert _fits(arguments, SHOP)


def test_arguments_for_gemini_find_their_way_back():
    sent = {"query": "ink", "level": "2", "address": {"street": "A", "in": '{"street": "B"}'}, "labels": "{}"}
    arguments = convert_schema(SHOP, "gemini").arguments(sent)
    assert arguments == {"query": "ink", "level": 2, "address": {"street": "A", "in": {"street": "B"}}, "labels": {}}
    assert _fits(arguments, SHOP)


def test_all_of_is_taken_together_and_old_definitions_are_found():
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"p": {"allOf": [{"$ref": "#/definitions/Named"}, {"properties": {"age": {"type": "integer"}}}]}},
        "definitions": {"Named": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
    }
    for dialect in ("openai-strict", "gemini"):
        converted = convert_schema(schema, dialect)
        assert set(converted.schema["properties"]["p"]["properties"]) == {"name", "age"}
        assert converted.reverted() == schema
        assert converted.arguments({"p": {"name": "a", "age": None}}) == {"p": {"name": "a"}}


def test_references_that_grow_without_end_stay_bounded():
    levels = {
        f"l{n}": {"type": "object", "properties": {k: {"$ref": f"#/$defs/l{n + 1}"} for k in "ab"}} for n in range(40)
    }
    bomb = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/l0"}},
        "$defs": {**levels, "l40": {"type": "string"}},
    }
    assert len(_objects(convert_schema(bomb, "gemini").schema)) < 20_000


JSONSchema = dict[str, Any]


def _typed(kind: str) -> JSONSchema:
    return {"type": kind}


def _valued(values: list[Any]) -> JSONSchema:
    return {"enum": values}


def _listing(items: JSONSchema) -> JSONSchema:
    return {"type": "array", "items": items}


def _either(branches: list[JSONSchema]) -> JSONSchema:
    return {"anyOf": branches}


def _together(branches: list[JSONSchema]) -> JSONSchema:
    return {"allOf": branches}


def _closed(properties: dict[str, JSONSchema], needed: set[str]) -> JSONSchema:
    return {"type": "object", "properties": properties, "required": [name for name in properties if name in needed]}


def _deeper(parts: st.SearchStrategy[JSONSchema]) -> st.SearchStrategy[JSONSchema]:
    return st.one_of(
        st.builds(_listing, parts),
        st.builds(_either, st.lists(parts, min_size=1, max_size=3)),
        st.builds(_together, st.lists(parts, min_size=1, max_size=2)),
        st.builds(
            _closed,
            st.dictionaries(st.sampled_from(["a", "b", "c d"]), parts, max_size=3),
            st.sets(st.sampled_from(["a", "b"])),
        ),
    )


VALUES: list[Any] = [1, 2.5, "a", True, None]
LEAVES: st.SearchStrategy[JSONSchema] = st.one_of(
    st.builds(_typed, st.sampled_from(["string", "integer", "number", "boolean", "null"])),
    st.builds(_valued, st.lists(st.sampled_from(VALUES), min_size=1, unique_by=str)),
    st.builds(JSONSchema, st.just({"$ref": "#/$defs/d"})),
    st.builds(JSONSchema),
)
PARTS = st.recursive(LEAVES, _deeper, max_leaves=8)


@given(st.dictionaries(st.sampled_from(["x", "y", "z !"]), PARTS, max_size=3), PARTS, st.sampled_from(Dialect))
def test_every_conversion_is_a_schema_and_can_be_reverted(
    properties: dict[str, Any], definition: dict[str, Any], dialect: Dialect
):
    schema = {"type": "object", "properties": properties, "$defs": {"d": definition}}
    converted = convert_schema(schema, dialect)
    Draft202012Validator.check_schema(converted.schema)
    assert converted.reverted() == schema
