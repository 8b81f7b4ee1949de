"""Answers in a given form, as typed columns."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from pydantic import SecretStr

from knime_ext.agent import (
    Agent,
    AnswerField,
    AnswerFormat,
    Budget,
    ChatModelConfig,
    answer_columns,
    answer_values,
    create_chat_model,
)
from knime_ext.agent.answer_format import InvalidAnswer
from knime_ext.agent.loop import text_of
from knime_ext.errors import AgentError, ConfigurationError
from knime_ext.testing import ScriptedChatModel, call
from tests.agent.openai_server import completion, openai_service

CITY = AnswerFormat.of_fields(
    [
        AnswerField("city", "string", "Name of the city"),
        AnswerField("people", "integer"),
        AnswerField("area", "number", optional=True),
        AnswerField("rivers", "string[]"),
    ]
)
BERLIN = {"city": "Berlin", "people": 3_700_000, "area": 891.1, "rivers": ["Spree", "Havel"]}


def test_the_model_is_told_the_form_and_its_answer_becomes_an_object_and_columns() -> None:
    with openai_service([completion(json.dumps(BERLIN))]) as service:
        model = create_chat_model(ChatModelConfig(model="m", base_url=service.url, api_key=SecretStr("k")))
        run = Agent(model, system_message="Be exact.", answer_format=CITY).run("Where?")
    assert run.structured == BERLIN
    assert json.loads(run.answer) == BERLIN
    system = service.requests[0]["messages"][0]
    assert (system["role"], system["content"]) == ("system", f"Be exact.\n\n{CITY.instructions}")
    assert answer_columns(CITY) == [
        ("city", pa.utf8()),
        ("people", pa.int64()),
        ("area", pa.float64()),
        ("rivers", pa.list_(pa.utf8())),
    ]
    assert answer_values(CITY, run.structured) == ["Berlin", 3_700_000, 891.1, ["Spree", "Havel"]]
    assert answer_values(CITY, None) == [None] * 4


def test_an_answer_that_does_not_fit_goes_back_with_the_reason() -> None:
    wrong = json.dumps(BERLIN | {"people": "many", "mayor": "?"})
    model = ScriptedChatModel(replies=["It is Berlin.", wrong, json.dumps(BERLIN)])
    run = Agent(model, answer_format=CITY).run("Where?")
    assert run.structured == BERLIN
    told = [text_of(message) for message in run.new_messages if isinstance(message, HumanMessage)]
    again = "Answer again with one JSON object that fits the schema."
    assert told == [
        "Where?",
        f"This answer is not in the asked form: it holds no JSON object. {again}",
        "This answer is not in the asked form: 'people' must be of type integer, not \"many\"; the answer must not "
        f"have 'mayor'; known are 'city', 'people', 'area', 'rivers'. {again}",
    ]


def test_the_attempts_are_bounded() -> None:
    format = AnswerFormat.of_fields([AnswerField("x", "int")], attempts=2)
    model = ScriptedChatModel(replies=["no", "no", '{"x": 1}'])
    run = Agent(model, answer_format=format).attempt("go")
    assert (run.stop_reason, run.structured, len(model.received)) == ("failed", None, 2)
    assert isinstance(run.error, AgentError)
    assert str(run.error).startswith(
        "the model gave no answer in the asked form within 2 attempts: it holds no JSON object"
    )


def test_tools_may_be_called_before_and_between_answers_and_a_limit_still_asks_for_the_form() -> None:
    tool = StructuredTool(
        name="look", description="", args_schema={"type": "object", "properties": {}}, func=lambda: "1"
    )
    format = AnswerFormat.of_fields([AnswerField("x", "int")])
    model = ScriptedChatModel(
        replies=[call("look", id="1"), "one", call("look", id="2"), call("look", id="3"), "uno", '{"x": 1}']
    )
    agent = Agent(model, [tool], answer_format=format, budget=Budget(turns=2), when_exhausted="answer")
    run = agent.run("go")
    assert (run.structured, run.turns, run.stop_reason) == ({"x": 1}, 2, "turn_limit")
    assert model.bound == [["look"]] * 4 + [[], []]


@pytest.mark.parametrize(
    "text",
    [
        '{"x": 1}',
        ' \n{"x": 1}\n',
        '```json\n{"x": 1}\n```',
        'Here it is:\n```\n{"x": 1}\n```\nIs that fine?',
        'The answer is {"x": 1}, I think.',
        'First {"y": 2}, no: {"x": 1}',
        '{not json} {"x": 1}',
        '```json\n{"x": 1,}\n``` or rather {"x": 1}',
    ],
)
def test_words_and_fences_around_the_object_do_no_harm(text: str) -> None:
    assert AnswerFormat.of_fields([AnswerField("x", "int")]).read(text) == {"x": 1}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it holds no JSON object"),
        ("[1]", "it holds no JSON object"),
        ('{"x": NaN}', "it holds no JSON object"),
        ('{"x": 1e999}', "it holds no JSON object"),
        ("{" * 100_000, "it holds no JSON object"),
        ('{"x": 99999999999999999999}', "'x' is too large for 64 bits"),
        ('{"x": "1"}', "'x' must be of type integer, not \"1\""),
        ("{}", "the answer must have 'x'"),
        ('{"x": null}', "'x' must be of type integer, not null"),
    ],
)
def test_what_does_not_fit_says_why(text: str, why: str) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        AnswerFormat.of_fields([AnswerField("x", "int")]).read(text)
    assert str(caught.value) == why


def test_a_schema_of_ones_own_gives_columns_by_its_properties() -> None:
    format = AnswerFormat.of_schema(
        {
            "type": "object",
            "properties": {
                "level": {"enum": ["low", "high"]},
                "count": {"type": ["integer", "null"]},
                "score": {"anyOf": [{"type": "number"}, {"type": "null"}]},
                "place": {"$ref": "#/$defs/place"},
                "sizes": {"type": "array", "items": {"type": "integer"}},
                "places": {"type": "array", "items": {"$ref": "#/$defs/place"}},
            },
            "$defs": {"place": {"type": "object", "properties": {"lat": {"type": "number"}}}},
        }
    )
    kinds = [pa.utf8(), pa.int64(), pa.float64(), pa.utf8(), pa.list_(pa.int64()), pa.utf8()]
    assert [kind for _, kind in answer_columns(format)] == kinds
    found = format.read('{"level": "low", "count": 5.0, "place": {"lat": 1.5}, "sizes": [1, 2], "places": [{}]}')
    assert answer_values(format, found) == ["low", 5, None, '{"lat": 1.5}', [1, 2], "[{}]"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: AnswerFormat.of_schema({"type": "array"}), "an object with 'properties'"),
        (lambda: AnswerFormat.of_schema({"type": "object"}), "an object with 'properties'"),
        (lambda: AnswerFormat.of_schema(json.loads("null")), "must be a JSON object, not None"),
        (lambda: AnswerFormat.of_schema(json.loads("true")), "must be a JSON object, not True"),
        (lambda: AnswerFormat.of_schema({"properties": {"x": {"type": "int"}}}), "see 'properties.x.type'"),
        (lambda: AnswerFormat.of_schema(CITY.schema, attempts=0), "at least 1 attempt"),
        (lambda: AnswerFormat.of_fields([]), "an object with 'properties'"),
        (lambda: AnswerFormat.of_fields([AnswerField(" ")]), "has no name"),
        (lambda: AnswerFormat.of_fields([AnswerField("x"), AnswerField("x")]), "two fields of the answer"),
        (lambda: AnswerFormat.of_fields([AnswerField("x", "date")]), "the type 'date'"),
    ],
)
def test_a_form_that_makes_no_sense_is_refused(make: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        make()


SCALARS = {
    "string": st.text(st.characters(exclude_categories=["Cs"])),
    "integer": st.integers(-(2**63), 2**63 - 1),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
}


@st.composite
def answers(draw: st.DrawFn) -> tuple[list[AnswerField], dict[str, Any]]:
    fields: list[AnswerField] = []
    value: dict[str, Any] = {}
    for number in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(sorted(SCALARS)))
        many, optional = draw(st.booleans()), draw(st.booleans())
        field = AnswerField(f"f{number}", kind + ("[]" if many else ""), draw(st.text(max_size=5)), optional)
        strategy: st.SearchStrategy[Any] = st.lists(SCALARS[kind], max_size=3) if many else SCALARS[kind]
        value[field.name] = draw(strategy | st.none() if optional else strategy)
        fields.append(field)
    return fields, value


@settings(max_examples=40)
@given(answers(), st.sampled_from(["{}", "```json\n{}\n```", "Well: {} is it."]))
def test_every_answer_that_fits_is_read_as_it_is_and_fills_its_columns(
    answer: tuple[list[AnswerField], dict[str, Any]], around: str
) -> None:
    fields, value = answer
    format = AnswerFormat.of_fields(fields)
    found = format.read(around.format(json.dumps(value)) if around != "{}" else json.dumps(value))
    assert found == value
    for (name, kind), cell in zip(answer_columns(format), answer_values(format, found), strict=True):
        assert pa.array([cell], kind).to_pylist() == [value[name]]
