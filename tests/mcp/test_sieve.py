"""Malformed tools are taken out of a page one by one; good ones pass as they are."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mcp_types import ListToolsResult
from mcp_types.methods import validate_server_result

from knime_ext.mcp import ToolProblem
from knime_ext.mcp.schema_shape import MAX_DEPTH, schema_fault
from knime_ext.mcp.sieve import sift_page

VERSIONS = ["2024-11-05", "2025-11-25", "2026-07-28"]
GOOD: dict[str, Any] = {
    "name": "good",
    "inputSchema": {
        "type": "object",
        "$defs": {"point": {"type": "object", "properties": {"x": {"type": ["number", "null"]}}}},
        "properties": {"at": {"$ref": "#/$defs/point"}, "tags": {"type": "array", "items": {"enum": ["a", 1, None]}}},
        "anyOf": [{"required": ["at"]}, True],
        "additionalProperties": False,
        "x-vendor": {"type": "whatever"},
    },
}
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("tool", "name", "reason"),
    [
        ({"name": "a"}, "a", "'inputSchema': Field required"),
        ({"name": "a", "inputSchema": None}, "a", "'inputSchema': Input should be a valid dictionary"),
        ({"name": "a", "inputSchema": []}, "a", "'inputSchema': Input should be a valid dictionary"),
        ({"name": "a", "inputSchema": {"type": "string"}}, "a", "'inputSchema.type': Input should be 'object'"),
        ({"name": "a", "inputSchema": {}, "description": 5}, "a", "'description': Input should be a valid string"),
        ({"name": "a", "inputSchema": {}, "annotations": {"readOnlyHint": []}}, "a", "'annotations.readOnlyHint'"),
        ({"name": 5, "inputSchema": {}}, "#2", "'name': Input should be a valid string"),
        ({"name": "", "inputSchema": {}}, "#2", "has an empty name"),
        ({"inputSchema": {}}, "#2", "'name': Field required"),
        ("a", "#2", "is not a JSON object"),
        (None, "#2", "is not a JSON object"),
    ],
)
def test_a_malformed_tool_is_named_with_the_reason(version: str, tool: Any, name: str, reason: str):
    page, problems = sift_page({"tools": [GOOD, tool, {**GOOD, "name": "also good"}], "nextCursor": "2"}, version)
    assert [kept["name"] for kept in page["tools"]] == ["good", "also good"]
    assert page["nextCursor"] == "2"
    (problem,) = problems
    assert problem.name == name
    assert problem.reason.startswith(reason)


def test_a_good_tool_passes_exactly_as_it_came():
    page, problems = sift_page({"tools": [GOOD]}, "2025-11-25")
    assert (page, problems) == ({"tools": [GOOD]}, [])


def test_a_tool_without_arguments_may_leave_the_root_type_out():
    page, problems = sift_page({"tools": [{"name": "a", "inputSchema": {}}]}, "2025-11-25")
    assert (page["tools"], problems) == ([{"name": "a", "inputSchema": {"type": "object"}}], [])


def test_hints_for_caching_that_the_server_forgot_cost_nobody_the_list():
    page, problems = sift_page({"tools": [GOOD]}, "2026-07-28")
    assert (page["tools"], problems) == ([GOOD], [])
    validate_server_result("tools/list", "2026-07-28", page)


@given(tools=st.lists(json_values | st.just(GOOD), max_size=6), version=st.sampled_from(VERSIONS))
def test_whatever_a_server_lists_the_good_tools_pass_and_the_sdk_accepts_the_page(tools: list[Any], version: str):
    page, problems = sift_page({"tools": tools}, version)
    assert page["tools"].count(GOOD) == tools.count(GOOD)
    assert len(page["tools"]) + len(problems) == len(tools)
    validate_server_result("tools/list", version, page)
    ListToolsResult.model_validate(page, by_name=False)


@pytest.mark.parametrize("tools", [None, 5, {"a": GOOD}])
def test_a_page_without_a_list_is_left_for_the_sdk_to_refuse(tools: Any):
    assert sift_page({"tools": tools}, "2025-11-25") == ({"tools": tools}, [])


def test_a_schema_that_is_nested_too_deeply_is_a_problem():
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(MAX_DEPTH + 5):
        schema = {"type": "object", "properties": {"x": schema}}
    _, problems = sift_page({"tools": [{"name": "deep", "inputSchema": schema}]}, "2025-11-25")
    assert problems == [
        ToolProblem(
            name="deep", reason=f"its 'inputSchema' is not a JSON Schema: is nested more than {MAX_DEPTH} levels deep"
        )
    ]


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"type": "objekt"}, "'type' is not a JSON type: 'objekt'"),
        ({"type": ["string", "nil"]}, "'type' is not a JSON type: ['string', 'nil']"),
        ({"properties": {"a": {"type": 3}}}, "'properties.a.type' is not a JSON type: 3"),
        ({"properties": []}, "'properties' must be an object"),
        ({"properties": {"a": "string"}}, "'properties.a' is no schema"),
        ({"required": "a"}, "'required' must be an array of names"),
        ({"required": [1]}, "'required' must be an array of names"),
        ({"anyOf": {}}, "'anyOf' must be an array of schemas"),
        ({"anyOf": [{"enum": "a"}]}, "'anyOf[0].enum' must be an array"),
        ({"items": {"pattern": 3}}, "'items.pattern' must be a text"),
        ({"$defs": {"a": {"$ref": 3}}}, "'$defs.a.$ref' must be a text"),
        (7, "'' is no schema"),
    ],
)
def test_a_malformed_schema_is_named_with_its_place(schema: Any, fault: str):
    assert schema_fault(schema) == fault


schema_parts: st.SearchStrategy[Any] = st.recursive(
    st.booleans()
    | st.fixed_dictionaries({}, optional={"type": st.sampled_from(["string", "object", ["null", "array"], "x"])}),
    lambda inner: st.dictionaries(
        st.sampled_from(["properties", "items", "anyOf", "required", "enum", "$defs", "not", "prefixItems", "title"]),
        inner | st.lists(inner, min_size=1, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        max_size=3,
    ),
    max_leaves=6,
)


@given(schema=schema_parts)
def test_no_schema_that_the_meta_schema_accepts_is_refused(schema: Any):
    if Draft202012Validator(Draft202012Validator.META_SCHEMA).is_valid(schema):  # pyright: ignore[reportUnknownMemberType]
        assert schema_fault(schema) is None
