from typing import Any

import pytest

from knime.types.tool import ToolPort, WorkflowTool
from knime_ext.errors import InvalidArguments
from knime_ext.tools import check_arguments, parse_json_texts, simple_types_only, workflow_arguments_schema

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "amount": {"type": "number", "minimum": 0},
        "to": {"enum": ["EUR", "USD"]},
        "address": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
            "required": ["city"],
        },
    },
    "required": ["amount", "to"],
    "additionalProperties": False,
}


def test_arguments_that_fit_pass() -> None:
    check_arguments(SCHEMA, {"amount": 1.5, "to": "EUR", "address": {"city": "Bern", "tags": ["a"]}}, "convert")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"amount": 1}, "the arguments must have 'to'"),
        ({"amount": "ten", "to": "EUR"}, "'amount' must be of type number, not \"ten\""),
        ({"amount": 1, "to": "CHF"}, '\'to\' must be one of "EUR", "USD", not "CHF"'),
        ({"amount": 1, "to": "EUR", "x": 1}, "must not have 'x'; known are 'amount', 'to', 'address'"),
        ({"amount": 1, "to": "EUR", "address": {}}, "'address' must have 'city'"),
        ({"amount": 1, "to": "EUR", "address": {"city": "a", "tags": [1]}}, "'address.tags.0' must be of type string"),
        ({"amount": -1, "to": "EUR"}, "'amount': -1 is less than the minimum of 0"),
    ],
)
def test_arguments_that_do_not_fit_are_explained_to_the_model(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        check_arguments(SCHEMA, arguments, "convert")
    assert says in str(caught.value)
    assert "'convert'" in str(caught.value)
    assert str(caught.value).endswith("Correct them and call again.")


def test_several_problems_are_told_at_once_and_bounded() -> None:
    schema = {"properties": {f"p{i}": {"type": "string"} for i in range(20)}}
    with pytest.raises(InvalidArguments, match="and 15 more"):
        check_arguments(schema, {f"p{i}": i for i in range(20)}, "many")


def test_a_huge_value_is_not_repeated_whole() -> None:
    with pytest.raises(InvalidArguments) as caught:
        check_arguments({"properties": {"a": {"type": "integer"}}}, {"a": "x" * 10_000}, "t")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"$ref": "https://example.org/schema.json"}, {}])
def test_a_schema_that_cannot_be_used_checks_nothing_and_is_never_fetched(schema: dict[str, Any]) -> None:
    check_arguments(schema, {"a": 1}, "t")


def _workflow(parameters: dict[str, Any], ports: list[ToolPort]) -> WorkflowTool:
    return WorkflowTool("rank", "", parameters, -1, ports, [], "v1:k")


def test_a_workflow_takes_configuration_and_data_inputs() -> None:
    port = ToolPort("orders", "All orders.", "Table", '{"columns": [{"name": "city", "type": "String"}]}')
    tool = _workflow({"n": {"type": "integer", "default": 3}, "by": {"type": "string"}}, [port])
    schema = workflow_arguments_schema(tool)
    assert schema["required"] == ["configuration", "data_inputs"]
    assert schema["properties"]["configuration"]["required"] == ["by"]
    orders = schema["properties"]["data_inputs"]["properties"]["orders"]
    assert orders["type"] == "integer"
    assert orders["description"] == "Id of the data item to use. All orders. Expected columns: city (String)."


def test_a_workflow_without_parameters_and_inputs_takes_an_empty_object() -> None:
    assert workflow_arguments_schema(_workflow({}, []))["properties"] == {}


def test_parameters_with_defaults_need_not_be_given() -> None:
    schema = workflow_arguments_schema(_workflow({"n": {"type": "integer", "default": 3}}, []))
    check_arguments(schema, {}, "rank")
    check_arguments(schema, {"configuration": {}}, "rank")


def test_simple_types_drop_optional_structures_and_take_required_ones_as_json_text() -> None:
    schema = {
        "type": "object",
        "properties": {
            "q": {"type": "string"},
            "n": {"type": "integer"},
            "flag": {"type": "boolean"},
            "filter": {"type": "object", "description": "What to keep."},
        },
        "required": ["q", "filter"],
    }
    simple = simple_types_only(schema)
    assert simple == {
        "type": "object",
        "properties": {
            "q": {"type": "string"},
            "n": {"type": "integer"},
            "filter": {"type": "string", "description": "What to keep. Send it as JSON text."},
        },
        "required": ["q", "filter"],
    }
    assert parse_json_texts(schema, {"q": "[1]", "filter": '{"a": 1}'}) == {"q": "[1]", "filter": {"a": 1}}
    assert parse_json_texts(schema, {"filter": "no json", "other": "1"}) == {"filter": "no json", "other": "1"}


def test_the_pattern_of_a_hostile_server_costs_no_time() -> None:
    schema = {"type": "object", "properties": {"code": {"type": "string", "pattern": "^(a+)+$"}}}
    check_arguments(schema, {"code": "a" * 10_000}, "lookup")
    with pytest.raises(InvalidArguments, match="'code': \"aaa.*does not match"):  # with `re`: for years
        check_arguments(schema, {"code": "a" * 60 + "!"}, "lookup")


@pytest.mark.parametrize("other", [{}, {"additionalProperties": False}, {"unevaluatedProperties": False}])
def test_patterns_for_names_cost_no_time_either(other: dict[str, Any]) -> None:
    schema = {"type": "object", "patternProperties": {"^(a+)+$": {"type": "string"}}, **other}
    check_arguments(schema, {"a" * 40: "yes"}, "lookup")
    with pytest.raises(InvalidArguments, match="must be of type string"):
        check_arguments(schema, {"a" * 40: 1}, "lookup")
    check_arguments({**schema, "additionalProperties": True}, {"a" * 40 + "!": 1}, "lookup")


def test_names_that_fit_no_pattern_are_named_where_nothing_else_is_allowed() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"q": {}},
        "patternProperties": {"^x_": {}},
        "additionalProperties": False,
    }
    check_arguments(schema, {"q": 1, "x_1": 2}, "lookup")
    with pytest.raises(InvalidArguments, match="'y_1'"):
        check_arguments(schema, {"q": 1, "x_1": 2, "y_1": 3}, "lookup")
    with pytest.raises(InvalidArguments, match="'y_1' must be of type integer"):
        check_arguments({**schema, "additionalProperties": {"type": "integer"}}, {"y_1": "3"}, "lookup")


def test_a_pattern_that_needs_backtracking_is_left_to_the_tool() -> None:
    check_arguments({"type": "object", "properties": {"a": {"pattern": "^(?=b)b+$"}}}, {"a": "c"}, "lookup")
