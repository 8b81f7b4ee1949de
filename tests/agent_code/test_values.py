"""Values on their way into the sandbox and out of it."""

from __future__ import annotations

import ast
import datetime
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel

from knime_ext.agent import CodeActEnvironment, CodeAction, MCPToolRegistry
from knime_ext.agent.code.signatures import ToolSignature, identifier
from knime_ext.agent.code.values import TooLarge, argument_value, inside_value, outside_value, tool_value
from knime_ext.tools import ToolResult

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda part: st.lists(part, max_size=4) | st.dictionaries(TEXT, part, max_size=4),
    max_leaves=12,
)


@settings(max_examples=25)
@given(JSON)
def test_json_passes_through_a_tool_and_the_sandbox_unchanged(value: Any) -> None:
    seen: list[Any] = []

    @tool
    def echo(value: Any) -> Any:
        """Gives it back."""
        seen.append(value)
        return value

    env = CodeActEnvironment(MCPToolRegistry([echo]))
    seen_by_code = env.step(CodeAction(f"echo(value={value!r})"))
    assert (seen_by_code.error, seen_by_code.result, seen) == (None, value, [value])


@given(JSON)
def test_values_of_both_directions_are_json(value: Any) -> None:
    assert inside_value(value, 10_000)[0] == value
    assert argument_value(value, 10_000) == value == outside_value(value, 10_000)


def test_what_json_does_not_know_becomes_something_it_knows() -> None:
    class Point(BaseModel):
        x: int

    given_value = {
        "point": Point(x=1),
        "day": datetime.date(2026, 1, 2),
        "set": {1},
        3: Decimal("1.5"),
        "half": "\ud800",
    }
    assert inside_value(given_value, 1000)[0] == {
        "point": {"x": 1},
        "day": "2026-01-02",
        "set": [1],
        "3": "1.5",
        "half": "?",
    }
    circle: list[Any] = []
    circle.append(circle)
    assert inside_value(circle, 1000)[0] == "[[...]]"
    assert math.isnan(inside_value(math.nan, 10)[0])
    assert argument_value({(1, 2): {3}, "d": datetime.date(2026, 1, 2)}, 100) == {"[1, 2]": [3], "d": "2026-01-02"}
    with pytest.raises(TypeError, match="complex is no JSON value"):
        argument_value([1j], 100)


@pytest.mark.parametrize("value", ["x" * 101, [[1]] * 101, {"a": [0] * 50}, 10**4000])
def test_what_is_too_large_is_refused_in_every_direction(value: Any) -> None:
    for check in (argument_value, outside_value):
        with pytest.raises(TooLarge):
            check(value, 100)
    with pytest.raises(TooLarge, match="more than the 100 that are allowed"):
        inside_value(value, 100)


def _message(text: str, **result: Any) -> ToolMessage:
    content = [{"type": "text", "text": text}, *result.pop("more", [])]
    return ToolMessage(content=text, tool_call_id="1", artifact=ToolResult(content=content, **result))


@pytest.mark.parametrize(
    ("message", "value"),
    [
        (_message("plain"), "plain"),
        (_message('{"a": 1}'), {"a": 1}),
        (_message(" [1, 2]"), [1, 2]),
        (_message("12"), "12"),
        (_message("{broken"), "{broken"),
        (_message('{"a": 1}', structured={"a": 2}), {"a": 2}),
        (_message("3.5", structured={"result": 3.5}), 3.5),
        (_message('{"result": 1}', structured={"result": 1}), {"result": 1}),
        (
            _message("see", more=[{"type": "image", "mimeType": "image/png", "data": "aGk="}]),
            "see\n[image: image/png, 3 bytes]",
        ),
        (ToolMessage(content="[1]", tool_call_id="1"), [1]),
    ],
)
def test_a_result_means_its_structured_value_or_json_or_its_text(message: ToolMessage, value: Any) -> None:
    assert tool_value(message) == value


def test_a_workflow_gives_its_message_and_its_tables() -> None:
    table = {"type": "table", "id": 2, "name": "ranking", "columns": {"c": "String"}, "rows": 3, "description": "d"}
    views = {"view_nodes": ["1:2"]}
    listed = [{"id": 2, "name": "ranking", "columns": {"c": "String"}, "rows": 3}]
    assert tool_value(_message("done", more=[table]), workflow=True) == {"message": "done", "tables": listed}
    assert tool_value(_message("done", structured=views), workflow=True) == "done"


@given(st.lists(st.text(max_size=12), max_size=6), st.sampled_from(["", "print", "x"]))
def test_every_name_becomes_a_python_name_of_its_own(names: list[str], reserved: str) -> None:
    taken: list[str] = []
    for name in names:
        taken.append(identifier(name, taken, reserved={reserved}))
    assert len(set(taken)) == len(taken)
    assert all(name.isidentifier() and name.isascii() and name != reserved for name in taken)


@given(st.dictionaries(st.text(min_size=1, max_size=8), JSON, max_size=5))
def test_arguments_under_python_names_are_those_of_the_schema(values: dict[str, Any]) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {name: {} for name in values}, "required": list(values)}
    signature = ToolSignature.of("f", "", schema)
    by_name = {parameter.name: values[parameter.wire_name] for parameter in signature.parameters}
    assert signature.arguments((), by_name) == values
    assert signature.arguments(list(values.values()), {}) == values
    ast.parse(f"def {signature.text}: ...")
