"""Cells become arguments of the type that a tool takes, as near as they come."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest

from knime.types.tool import MCPTool, WorkflowTool
from knime_ext.errors import ConfigurationError, InvalidArguments
from knime_ext.tools.cell_arguments import ArgumentPlan, Constant, FromColumn, json_value

ROOT: dict[str, Any] = {"$defs": {"unit": {"enum": ["C", "F"]}, "count": {"type": "integer"}}}
TEXT, WHOLE, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}


@pytest.mark.parametrize(
    ("cell", "part", "value"),
    [
        ("12", WHOLE, 12),
        (" 12 ", WHOLE, 12),
        ("1_000", WHOLE, "1_000"),
        ("12.5", WHOLE, "12.5"),
        ("12.5", NUMBER, 12.5),
        ("12", NUMBER, 12),
        ("nan", NUMBER, "nan"),
        ("TRUE", {"type": "boolean"}, True),
        ("yes", {"type": "boolean"}, "yes"),
        ("12", TEXT, "12"),
        ("12", {}, "12"),
        ("12", {"type": ["integer", "string"]}, "12"),
        ("12", {"anyOf": [WHOLE, {"type": "null"}]}, 12),
        ("12", {"$ref": "#/$defs/count"}, 12),
        ("C", {"$ref": "#/$defs/unit"}, "C"),
        ("12", {"allOf": [WHOLE]}, 12),
        ('["a"]', {"type": "array"}, ["a"]),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
        ("[", {"type": "array"}, "["),
        ("{}", {"type": "array"}, "{}"),
        (3, TEXT, "3"),
        (2.5, TEXT, "2.5"),
        (True, TEXT, "true"),
        (3.0, WHOLE, 3),
        (3.5, WHOLE, 3.5),
        (3.0, NUMBER, 3.0),
        (float("nan"), NUMBER, None),
        (float("inf"), TEXT, None),
        (None, TEXT, None),
        (date(2026, 1, 2), TEXT, "2026-01-02"),
        (datetime(2026, 1, 2, 3, 4), TEXT, "2026-01-02T03:04:00"),
        (time(3, 4), TEXT, "03:04:00"),
        (timedelta(minutes=2), NUMBER, 120.0),
        (timedelta(minutes=2), TEXT, "0:02:00"),
        (Decimal("1.5"), NUMBER, 1.5),
        (b"\xff\x00", TEXT, "/wA="),
        (["1", "2"], {"type": "array", "items": WHOLE}, [1, 2]),
        (["a", None], {"type": "array", "items": TEXT}, ["a", None]),
        (["a"], TEXT, '["a"]'),
        ({"a": 1}, {"type": "object"}, {"a": 1}),
    ],
)  # fmt: skip
def test_a_cell_becomes_what_the_argument_takes(cell: Any, part: Any, value: Any) -> None:
    found = json_value(cell, part, ROOT)
    assert (found, type(found)) == (value, type(value))


def tool(*required: str, **properties: Any) -> MCPTool:
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return MCPTool("t", "", schema, "https://example.org/mcp")


def plan(of: Any, columns: list[str], **mapped: Any) -> ArgumentPlan:
    return ArgumentPlan.make(of, columns, mapped, strict=True)


def test_chosen_sources_win_over_columns_of_the_same_name() -> None:
    made = plan(tool(a=TEXT, b=TEXT), ["a", "b", "c"], a=FromColumn("c"), b=Constant("x"))
    assert made.columns == ["c"]
    assert made.arguments({"c": "y"}) == {"a": "y", "b": "x"}


def test_one_allowed_value_and_defaults_need_no_source() -> None:
    made = plan(tool("a", "b", "c", a={"const": 1}, b={"enum": ["x"]}, c={**WHOLE, "default": 3}), [])
    assert made.arguments({}) == {"a": 1, "b": "x", "c": 3}


def test_a_missing_cell_leaves_the_argument_out_or_is_null() -> None:
    made = plan(tool("b", a=TEXT, b={"type": ["string", "null"]}), ["a", "b"])
    assert made.arguments({"a": None, "b": None}) == {"b": None}


def test_a_tool_that_names_no_arguments_takes_any() -> None:
    anything = MCPTool("t", "", {"type": "object"}, "https://example.org/mcp")
    assert plan(anything, ["a"], x=Constant("1")).arguments({}) == {"x": "1"}
    with pytest.raises(ConfigurationError, match="tool 't' has no argument 'x'; it has none"):
        plan(tool(), [], x=Constant("1"))


def test_what_does_not_fit_is_said_to_a_person() -> None:
    with pytest.raises(InvalidArguments) as caught:
        plan(tool(n=WHOLE), ["n"]).arguments({"n": "many"})
    assert str(caught.value) == "the arguments of 't' do not fit: 'n' must be of type integer, not \"many\""
    workflow = WorkflowTool("w", "", {"n": {"type": "integer", "default": 1}}, -1, [], [], "v1:a")
    assert plan(workflow, ["n"]).arguments({"n": None}) == {}
    with pytest.raises(InvalidArguments, match="'n' must be of type integer, not 2.5"):
        plan(workflow, ["n"]).arguments({"n": 2.5})


@pytest.mark.parametrize(
    "schema", [{"required": "ab"}, {"required": [1]}, {"properties": []}, {"properties": {"a": 1}}]
)
def test_odd_schemas_of_servers_do_no_harm(schema: dict[str, Any]) -> None:
    assert plan(MCPTool("t", "", schema, "https://example.org/mcp"), []).arguments({}) == {}
