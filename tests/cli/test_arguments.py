"""`key=value` words become JSON values by the tool's schema."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.cli.arguments import arguments_from_json, arguments_from_words
from knime_ext.errors import InvalidArguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "price": {"type": "number"},
        "express": {"type": "boolean"},
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "address": {"type": "object", "properties": {"city": {"type": "string"}}},
        "currency": {"enum": ["EUR", "USD"]},
        "level": {"enum": [1, 2, None]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "either": {"type": ["number", "string"]},
        "unit": {"$ref": "#/$defs/unit"},
        "anything": {},
    },
    "$defs": {"unit": {"type": "integer"}},
}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["count=3"], {"count": 3}),
        (["price=3"], {"price": 3}),
        (["price=-0.5"], {"price": -0.5}),
        (["express=true"], {"express": True}),
        (["express=No"], {"express": False}),
        (["name=3"], {"name": "3"}),
        (["name="], {"name": ""}),
        (["name=a=b"], {"name": "a=b"}),
        (["tags=a", "tags=b"], {"tags": ["a", "b"]}),
        (["tags=a"], {"tags": ["a"]}),
        (['tags=["a", "b"]'], {"tags": ["a", "b"]}),
        (["sizes=1", "sizes=2"], {"sizes": [1, 2]}),
        (['address={"city": "Basel"}'], {"address": {"city": "Basel"}}),
        (["currency=EUR"], {"currency": "EUR"}),
        (["level=2"], {"level": 2}),
        (["level=null"], {"level": None}),
        (["note=null"], {"note": None}),
        (["note=hello"], {"note": "hello"}),
        (["limit=null"], {"limit": None}),
        (["limit=4"], {"limit": 4}),
        (["either=4"], {"either": 4}),
        (["either=four"], {"either": "four"}),
        (["unit=7"], {"unit": 7}),
        (["anything=[1]"], {"anything": [1]}),
        (["anything=word"], {"anything": "word"}),
        ([], {}),
    ],
)
def test_words_are_converted_to_the_types_of_the_schema(words: list[str], expected: dict[str, Any]) -> None:
    assert arguments_from_words(words, SCHEMA) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["count=three"], "argument 'count' must be a whole number, not 'three'"),
        (["count=1.5"], "argument 'count' must be a whole number, not '1.5'"),
        (["price=much"], "argument 'price' must be a number, not 'much'"),
        (["price=nan"], "argument 'price' must be a number, not 'nan'"),
        (["express=perhaps"], "argument 'express' must be true or false, not 'perhaps'"),
        (["address=Basel"], "argument 'address' must be a JSON object such as {\"key\": 1}, not 'Basel'"),
        (["sizes=1", "sizes=x"], "argument 'sizes' must be a whole number, not 'x'"),
        (["limit=x"], "argument 'limit' must be a whole number, not 'x'"),
        (["count=1", "count=2"], "argument 'count' is given 2 times but is no list; give it once"),
        (["cuont=1"], "the tool has no argument 'cuont'; did you mean 'count'?"),
        (["count"], "'count' is no argument; write it as name=value"),
        (["=1"], "'=1' is no argument; write it as name=value"),
    ],
)
def test_a_word_that_does_not_fit_is_refused_with_the_name_of_the_argument(words: list[str], message: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        arguments_from_words(words, SCHEMA)
    assert str(caught.value) == message


def test_an_unknown_argument_of_a_tool_without_arguments_is_refused() -> None:
    with pytest.raises(InvalidArguments, match="it takes none"):
        arguments_from_words(["x=1"], {"type": "object", "additionalProperties": False})


def test_a_tool_that_takes_any_argument_gets_json_where_the_word_is_json() -> None:
    schema = {"type": "object", "additionalProperties": True, "properties": {"a": {"type": "string"}}}
    assert arguments_from_words(["a=1", "b=1", "c=x"], schema) == {"a": "1", "b": 1, "c": "x"}


def test_references_in_a_circle_end() -> None:
    schema = {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert arguments_from_words(["a=1"], schema) == {"a": 1}


_VALUES = {
    "integer": st.integers(),
    "number": st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "array": st.lists(st.integers()),
    "object": st.dictionaries(st.text(), st.integers()),
}


@given(st.sampled_from(sorted(_VALUES)).flatmap(lambda kind: st.tuples(st.just(kind), _VALUES[kind])))
def test_every_value_written_as_json_comes_back_as_it_was(case: tuple[str, Any]) -> None:
    kind, value = case
    schema = {"properties": {"x": {"type": kind}}}
    assert arguments_from_words([f"x={json.dumps(value)}"], schema) == {"x": value}


@given(st.text())
def test_every_text_reaches_a_text_argument_unchanged(text: str) -> None:
    assert arguments_from_words([f"x={text}"], {"properties": {"x": {"type": "string"}}}) == {"x": text}


def test_json_arguments_must_be_an_object() -> None:
    assert arguments_from_json('{"a": [1]}') == {"a": [1]}
    with pytest.raises(InvalidArguments, match="must be a JSON object"):
        arguments_from_json("[1]")
    with pytest.raises(InvalidArguments, match="are not JSON"):
        arguments_from_json("{")
