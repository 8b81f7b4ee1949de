from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest

from knime.types.tool import MCPTool, Tool, WorkflowTool
from knime_ext.runtime.platform.tool_columns import tool_table

PEOPLE = pa.table(
    {
        "<RowID>": ["a", "b", "c", "d"],
        "name": ["Ada", "Ödön", None, "ada\nlovelace"],
        "age": pa.array([36, 71, None, 5], pa.int32()),
        "big": pa.array([2**53, 2**53 + 1, None, -1], pa.int64()),
        "size": [1.5, float("nan"), None, -0.5],
        "open": [True, False, None, True],
        "day": pa.array([0, 20000, None, 1], pa.date32()),
        "when": pa.array([0, 10**9, None, 1], pa.timestamp("s")),
        "tags": [["x"], [], None, ["y"]],
        "none": pa.nulls(4),
    }
)


def kept(output: Callable[..., pa.Table], *criteria: tuple[Any, ...], **settings: Any) -> list[str]:
    names = ("column", "operator", "value", "case_sensitive")
    entries = [dict(zip(names, criterion, strict=False)) for criterion in criteria]
    return output("RowFilter", {"criteria": entries, **settings}, PEOPLE).column(0).to_pylist()


@pytest.mark.parametrize(
    ("criterion", "expected"),
    [
        (("name", "EQ", "Ada"), ["a"]),
        (("name", "EQ", "ADA", False), ["a"]),
        (("name", "EQ", "ödöN", False), ["b"]),
        (("name", "NEQ", "Ada"), ["b", "d"]),
        (("name", "GT", "B"), ["b", "d"]),
        (("name", "IS_MISSING"), ["c"]),
        (("name", "IS_NOT_MISSING"), ["a", "b", "d"]),
        (("name", "WILDCARD", "?da*"), ["a", "d"]),
        (("name", "WILDCARD", "ada*"), ["d"]),
        (("name", "WILDCARD", "ADA*", False), ["a", "d"]),
        (("name", "WILDCARD", "A.a"), []),
        (("name", "REGEX", "[A-Z]d."), ["a"]),
        (("name", "REGEX", "da"), []),
        (("name", "REGEX", "ada.lovelace"), ["d"]),
        (("name", "REGEX", "Ada|Ödön"), ["a", "b"]),
        (("age", "EQ", " 36 "), ["a"]),
        (("age", "LT", "36.5"), ["a", "d"]),
        (("age", "GTE", "36"), ["a", "b"]),
        (("age", "LTE", "1e3"), ["a", "b", "d"]),
        (("age", "LT", "99999999999999999999"), ["a", "b", "d"]),
        (("age", "WILDCARD", "3?"), ["a"]),
        (("big", "EQ", "9007199254740993"), ["b"]),
        (("size", "GT", "1"), ["a"]),
        (("size", "NEQ", "1.5"), ["b", "d"]),
        (("open", "EQ", "true"), ["a", "d"]),
        (("open", "NEQ", "true"), ["b"]),
        (("day", "GT", "1970-01-01"), ["b", "d"]),
        (("when", "GTE", "2001-09-09T01:46:40"), ["b"]),
        (("tags", "IS_MISSING"), ["c"]),
        (("none", "EQ", "x"), []),
        (("<RowID>", "REGEX", "[ab]"), ["a", "b"]),
    ],
)
def test_a_criterion_is_read_by_the_type_of_its_column(
    output: Callable[..., pa.Table], criterion: tuple[Any, ...], expected: list[str]
) -> None:
    assert kept(output, criterion) == expected


def test_all_criteria_must_hold_or_any(output: Callable[..., pa.Table]) -> None:
    criteria = [("age", "GT", "10"), ("open", "EQ", "true")]
    assert kept(output, *criteria) == ["a"]
    assert kept(output, *criteria, match_policy="OR") == ["a", "b", "d"]


def test_matching_rows_can_be_dropped_instead_and_missing_cells_then_stay(output: Callable[..., pa.Table]) -> None:
    assert kept(output, ("age", "GT", "10"), output_mode="NON_MATCHING") == ["c", "d"]


def test_columns_and_types_stay_as_they_are(output: Callable[..., pa.Table]) -> None:
    table = output("RowFilter", {"criteria": [{"column": "name", "operator": "EQ", "value": "nobody"}]}, PEOPLE)
    assert table.schema == PEOPLE.schema
    assert table.num_rows == 0


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (("name_", "EQ", "x"), "no column 'name_'; did you mean 'name'?"),
        (("", "EQ", "x"), "a column is not chosen"),
        (("age", "EQ", "old"), "column 'age' holds whole numbers, and 'old' is none: give a value such as 42"),
        (("open", "EQ", "maybe"), "column 'open' holds true/false values, and 'maybe' is none"),
        (("day", "GT", "yesterday"), "column 'day' holds dates, and 'yesterday' is none"),
        (("tags", "EQ", "x"), "column 'tags' holds lists, which can only be tested for missing cells"),
        (("name", "REGEX", "("), "the regular expression '(' for column 'name' is not valid: missing )"),
        (("name", "REGEX", "(?=x)"), "is not valid"),
    ],
)
def test_a_criterion_that_does_not_fit_is_explained(
    failure: Callable[..., str], criterion: Sequence[Any], message: str
) -> None:
    entry = dict(zip(("column", "operator", "value"), criterion, strict=True))
    assert message in failure("RowFilter", {"criteria": [entry]}, PEOPLE)


def test_no_criterion_and_unknown_operators_are_refused(failure: Callable[..., str]) -> None:
    assert "there is no filter criterion: add at least one" in failure("RowFilter", {}, PEOPLE)
    assert "LIKE" in failure("RowFilter", {"criteria": [{"column": "name", "operator": "LIKE"}]}, PEOPLE)


def test_tools_are_filtered_by_their_names(output: Callable[..., pa.Table]) -> None:
    tools: list[Tool] = [
        MCPTool("Convert currency", "", {}, server_uri="http://127.0.0.1:1/sse", tool_name="convert_currency"),
        WorkflowTool("convert_orders", "", {}, -1, [], [], _filestore_keys="v1:x:0:y:-1"),
        MCPTool("Search", "", {}, server_uri="http://127.0.0.1:1/sse"),
    ]
    table = tool_table(tools).to_pyarrow()
    criterion = {"column": "Tool", "operator": "WILDCARD", "value": "convert*", "case_sensitive": False}
    filtered = output("RowFilter", {"criteria": [criterion]}, table)
    assert filtered.schema == table.schema
    assert filtered.column("Tool").to_pylist() == tools[:2]
    by_name = {"column": "Tool", "operator": "EQ", "value": "Search"}
    assert output("RowFilter", {"criteria": [by_name]}, table).column("Tool").to_pylist() == tools[2:]


def test_a_hundred_thousand_rows_are_filtered_in_well_under_a_second(output: Callable[..., pa.Table]) -> None:
    table = pa.table({"n": pa.array(range(100_000)), "s": [f"row {number}" for number in range(100_000)]})
    criteria = [
        {"column": "n", "operator": "GTE", "value": "1000"},
        {"column": "s", "operator": "REGEX", "value": "row .*7"},
        {"column": "s", "operator": "WILDCARD", "value": "*77"},
    ]
    started = time.perf_counter()
    filtered = output("RowFilter", {"criteria": criteria}, table)
    assert filtered.num_rows == 990
    assert filtered.column("n")[0].as_py() == 1077
    assert time.perf_counter() - started < 5
