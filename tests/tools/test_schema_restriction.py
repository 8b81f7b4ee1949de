"""Restrictions of schemas: what is called one takes nothing that the schema of before refuses."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from knime_ext.tools.schema_restriction import closed, loosening

TEXT, NUMBER = {"type": "string"}, {"type": "number"}
UNIT = {"$defs": {"unit": {"enum": ["C", "F"]}}, "$ref": "#/$defs/unit"}
TOOL: dict[str, Any] = {
    "type": "object",
    "properties": {"amount": NUMBER, "to": {**TEXT, "default": "EUR"}, "tags": {"type": "array", "items": TEXT}},
    "required": ["amount"],
}


def changed(**properties: Any) -> dict[str, Any]:
    return {**TOOL, "properties": {**TOOL["properties"], **properties}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TOOL, TOOL),
        (TOOL, changed(to={**TEXT, "description": "Target.", "default": "USD"})),
        (TOOL, changed(to={**TEXT, "enum": ["EUR", "USD"]})),
        (TOOL, changed(amount={"type": "integer", "minimum": 0, "maximum": 10})),
        (TOOL, {**TOOL, "required": ["amount", "to"]}),
        (TOOL, {**TOOL, "additionalProperties": False}),
        (TOOL, changed(tags={"type": "array", "items": {**TEXT, "maxLength": 3}, "maxItems": 2})),
        ({"enum": [1, 2, 3]}, {"enum": [3, 1]}),
        ({"enum": [1, 2, 3]}, {"const": 2}),
        ({"const": 2}, {"enum": [2]}),
        ({"minimum": 1, "maximum": 9}, {"minimum": 2, "maximum": 9}),
        ({"anyOf": [TEXT, {"type": "null"}], "title": "x"}, {**TEXT, "title": "x"}),
        ({"anyOf": [TEXT, NUMBER]}, {"anyOf": [{**TEXT, "minLength": 1}]}),
        ({"allOf": [TEXT]}, {"allOf": [{"maxLength": 2}, TEXT]}),
        ({"type": ["string", "null"]}, {"type": "string"}),
        (UNIT, {**UNIT, "$defs": {"unit": {"enum": ["C"]}}}),
        (UNIT, {"$defs": UNIT["$defs"], "enum": ["F"]}),
        ({}, TEXT),
        (True, {"type": "object"}),
    ],
)  # fmt: skip
def test_a_restriction_passes(before: Any, after: Any) -> None:
    assert loosening(before, after) is None


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (TOOL, changed(cc=TEXT), "'cc' is no argument of the tool"),
        (TOOL, {**TOOL, "required": []}, "the tool requires 'amount'"),
        (TOOL, changed(amount={"type": ["number", "string"]}), "'amount' takes more than the tool does ('type'"),
        (TOOL, changed(amount={}), "'amount' takes more than the tool does ('type'"),
        (TOOL, changed(tags={"type": "array"}), "'tags[]' takes more than the tool does"),
        ({"additionalProperties": False}, {}, "'*' takes more than the tool does"),
        ({"enum": [1]}, {"enum": [1, 2]}, "('enum' was changed)"),
        ({"enum": [1]}, {}, "('enum' was changed)"),
        ({"enum": [1]}, {"enum": [True]}, "('enum' was changed)"),
        ({"minimum": 1}, {"minimum": 0}, "('minimum' was changed)"),
        ({"maxLength": 1}, {}, "('maxLength' was changed)"),
        ({"pattern": "a+"}, {"pattern": ".*"}, "('pattern' was changed)"),
        ({"anyOf": [TEXT]}, {"anyOf": [TEXT, NUMBER]}, "('anyOf' was changed)"),
        ({"allOf": [TEXT]}, {"allOf": []}, "('allOf' was changed)"),
        ({"not": TEXT}, {}, "('not' was changed)"),
        ({"type": "object", "x-mcp-header": "Region"}, {"type": "object"}, "('x-mcp-header' was changed)"),
        ({"type": "object"}, {"type": "object", "x-mcp-header": "Region"}, "('x-mcp-header' was changed)"),
        ({"$defs": {"a": TEXT}, "$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}, "the definition 'a' is gone"),
        ({"$defs": {"a": TEXT}, "$ref": "#/$defs/a"}, {"$defs": {"a": {}}, "$ref": "#/$defs/a"}, "takes more"),
        (TEXT, True, "takes more than the tool does"),
        (False, True, "takes more than the tool does"),
    ],
)  # fmt: skip
def test_a_loosening_is_named(before: Any, after: Any, reason: str) -> None:
    assert reason in (loosening(before, after) or "")


def test_arguments_that_are_left_out_are_refused_afterwards() -> None:
    shorter = {**TOOL, "properties": {"amount": NUMBER}}
    assert loosening(TOOL, shorter) == "the schema must not take the argument 'to' any more"
    assert closed(TOOL, shorter) == {**shorter, "additionalProperties": False}
    assert loosening(TOOL, closed(TOOL, shorter)) is None


def test_a_nested_argument_can_be_left_out_too() -> None:
    nested = {"type": "object", "properties": {"point": {**TOOL}}, "additionalProperties": False}
    shorter = {"type": "object", "properties": {"point": {**TOOL, "properties": {"amount": NUMBER}}}}
    assert loosening(nested, closed(nested, shorter)) is None
    assert closed(nested, shorter)["properties"]["point"]["additionalProperties"] is False


def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    before = {"$defs": {"tree": {"properties": {"left": {"$ref": "#/$defs/tree"}}}}, "$ref": "#/$defs/tree"}
    assert "takes more" in (loosening(before, {"properties": {"left": {"$ref": "#"}}}) or "")


VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 2, 3, 1.5, "", "a", "bb"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=2),
    max_leaves=4,
)
KINDS = st.sampled_from(["string", "number", "integer", "null", "array", "object", "boolean"])


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": KINDS | st.lists(KINDS, min_size=1, max_size=3, unique=True),
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "const": VALUES,
        "minimum": st.integers(0, 2),
        "exclusiveMaximum": st.integers(1, 3),
        "minLength": st.integers(0, 2),
        "maxItems": st.integers(0, 2),
        "items": inner,
        "properties": st.dictionaries(st.sampled_from("xyz"), inner, max_size=2),
        "required": st.lists(st.sampled_from("xyz"), max_size=2, unique=True),
        "additionalProperties": inner,
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "description": st.sampled_from(["one", "two"]),
    }
    return st.fixed_dictionaries({}, optional=keywords)


SCHEMAS = st.recursive(st.booleans() | _schemas(st.booleans()), _schemas, max_leaves=4)


@st.composite
def edits(draw: st.DrawFn) -> tuple[Any, Any]:
    """A schema and another one that has most of it."""
    before, other = draw(SCHEMAS), draw(SCHEMAS)
    if isinstance(before, bool) or isinstance(other, bool):
        return before, other
    kept = {key: value for key, value in before.items() if draw(st.integers(0, 3))}
    taken = {key: value for key, value in other.items() if not draw(st.integers(0, 2))}
    return before, {**kept, **taken}


@settings(max_examples=60, deadline=None)
@given(edits(), st.lists(VALUES, min_size=6, max_size=6))
def test_what_fits_a_restriction_fits_the_schema_of_before(pair: tuple[Any, Any], values: list[Any]) -> None:
    before, after = pair
    assume(loosening(before, after) is None)
    assert [value for value in values if _takes(after, value) and not _takes(before, value)] == []


def _takes(schema: Any, value: Any) -> bool:
    return Draft202012Validator(schema).is_valid(value)  # pyright: ignore[reportUnknownMemberType]
