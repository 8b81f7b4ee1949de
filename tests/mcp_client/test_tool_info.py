"""Tools and results as plain values."""

from typing import Any

import pytest

from knime_ext.errors import ConfigurationError
from knime_ext.mcp import ToolCallResult, ToolConfig, ToolInfo, ToolParameter
from knime_ext.tools import JSON, ToolDefinition, ToolResult

DEFS = {"$defs": {"Color": {"enum": ["red", "green"], "description": "A color."}, "loop": {"$ref": "#/$defs/loop"}}}


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, "string"),
        ({"type": ["integer", "null"]}, "integer | null"),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, "number | null"),
        ({"oneOf": [{"type": "object"}, {}]}, "any"),
        ({"$ref": "#/$defs/Color"}, "string"),
        ({"$ref": "#/$defs/loop"}, "any"),
        ({"$ref": "https://example.org/schema"}, "any"),
        ({"enum": [1, "a", None, True]}, "integer | string | null | boolean"),
        ({"const": 1.5}, "number"),
        ({}, "any"),
        (True, "any"),
    ],
)
def test_the_type_of_a_parameter_is_read_from_every_form_of_schema(schema: Any, kind: str):
    definition = ToolDefinition(name="x", parameters={"type": "object", "properties": {"a": schema}, **DEFS})
    assert [parameter.type for parameter in ToolInfo.of(definition).parameters] == [kind]


def test_a_description_behind_a_reference_is_found():
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/Color"}}, "required": ["a"], **DEFS}
    assert ToolInfo.of(ToolDefinition(name="x", parameters=schema)).parameters == [
        ToolParameter(name="a", type="string", description="A color.", required=True)
    ]


def _texts(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


@pytest.mark.parametrize(
    ("result", "data"),
    [
        (ToolResult(content=_texts('{"a": 1}')), {"a": 1}),
        (ToolResult(content=_texts("[1, 2]")), [1, 2]),
        (ToolResult(content=_texts("12")), "12"),
        (ToolResult(content=_texts("two", "lines")), "two\nlines"),
        (ToolResult(content=_texts("text"), structured={"b": 2}), {"b": 2}),
        (ToolResult(content=[{"type": "audio", "data": "", "mimeType": "audio/wav"}]), "[audio: audio/wav, 0 bytes]"),
        (ToolResult(), None),
        (ToolResult(content=_texts("[" * 100_000)), "[" * 100_000),
    ],
)
def test_the_data_of_a_result_is_the_structured_value_or_the_text(result: ToolResult, data: JSON):
    assert ToolCallResult.of("x", result).data == data


def test_a_tool_configuration_has_defaults_and_says_what_is_wrong_with_it():
    config = ToolConfig(tool_alias="search", providers="catalog")  # pyright: ignore[reportArgumentType]
    assert (config.providers, config.allow_tools, config.max_tool_call_turns, config.timeout_sec) == (
        ["catalog"],
        None,
        5,
        60.0,
    )
    faults: dict[str, dict[str, Any]] = {
        "empty 'tool_alias'": {"tool_alias": " "},
        "'a': 'providers' must name": {"providers": []},
        "'a': 'providers' names a provider twice": {"providers": ["x", "x"]},
        "'a': 'max_tool_call_turns' must be 1 or more": {"max_tool_call_turns": 0},
        "'a': 'timeout_sec' must be more than 0": {"timeout_sec": 0},
    }
    for fault, options in faults.items():
        wrong: dict[str, Any] = {"tool_alias": "a", "providers": ["x"], **options}
        with pytest.raises(ConfigurationError, match=fault):
            ToolConfig(**wrong)
