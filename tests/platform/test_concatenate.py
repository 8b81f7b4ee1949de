from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, date, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime.types.tool import MCPTool, Tool, WorkflowTool
from knime_ext.runtime.platform.concatenation import concatenate
from knime_ext.runtime.platform.tool_columns import tool_table

ONE = pa.table({"<RowID>": ["r0", "r1"], "a": pa.array([1, None], pa.int32()), "s": ["é", None]})
TWO = pa.table({"<RowID>": ["r1", "r2"], "s": ["я", "z"], "b": [True, False]})


def test_union_keeps_every_column_and_fills_up_with_missing_cells(output: Callable[..., pa.Table]) -> None:
    assert output("Concatenate", {}, ONE, TWO, ports=[0, 0]).to_pylist() == [
        {"<RowID>": "r0", "a": 1, "s": "é", "b": None},
        {"<RowID>": "r1", "a": None, "s": None, "b": None},
        {"<RowID>": "r1_dup", "a": None, "s": "я", "b": True},
        {"<RowID>": "r2", "a": None, "s": "z", "b": False},
    ]


def test_intersection_keeps_the_columns_of_all_tables(output: Callable[..., pa.Table]) -> None:
    table = output("Concatenate", {"column_set_policy": "INTERSECTION"}, ONE, TWO, ports=[0, 0])
    assert table.column_names == ["<RowID>", "s"]
    assert table.column("s").to_pylist() == ["é", None, "я", "z"]


@pytest.mark.parametrize(
    ("settings", "ids"),
    [
        ({"row_id_handling": "CREATE_NEW"}, ["Row0", "Row1", "Row2", "Row3"]),
        ({"row_id_handling": "SKIP"}, ["r0", "r1", "r2"]),
        ({"suffix": "'"}, ["r0", "r1", "r1'", "r2"]),
    ],
)
def test_repeated_row_ids_are_handled_as_chosen(
    output: Callable[..., pa.Table], settings: dict[str, str], ids: list[str]
) -> None:
    assert output("Concatenate", settings, ONE, TWO, ports=[0, 0]).column(0).to_pylist() == ids


def test_a_suffix_is_appended_until_the_row_id_is_unique(output: Callable[..., pa.Table]) -> None:
    tables = [pa.table({"<RowID>": ids}) for ids in (["a", "a_dup"], ["a"], ["a"])]
    ids = output("Concatenate", {}, *tables, ports=[0, 0, 0]).column(0).to_pylist()
    assert ids == ["a", "a_dup", "a_dup_dup", "a_dup_dup_dup"]


def test_repeated_row_ids_can_fail_the_node(failure: Callable[..., str]) -> None:
    message = failure("Concatenate", {"row_id_handling": "FAIL"}, ONE, TWO, ports=[0, 0])
    assert "the RowID 'r1' occurs more than once" in message
    assert "is empty" in failure("Concatenate", {"suffix": ""}, ONE, TWO, ports=[0, 0])


def test_numbers_widen_where_another_table_needs_it(output: Callable[..., pa.Table]) -> None:
    int32, int64 = pa.table({"x": pa.array([1], pa.int32())}), pa.table({"x": pa.array([2**40])})
    double, nothing = pa.table({"x": [0.5]}), pa.table({"x": pa.nulls(1)})
    both = output("Concatenate", {}, int32, int64, ports=[0, 0])
    assert (both.schema.field("x").type, both.column("x").to_pylist()) == (pa.int64(), [1, 2**40])
    all_four = output("Concatenate", {}, nothing, int32, double, int64, ports=[0, 0, 0, 0])
    assert all_four.schema.field("x").type == pa.float64()
    assert all_four.column("x").to_pylist() == [None, 1.0, 0.5, 2.0**40]


def test_dates_stay_dates_and_times_take_the_finer_unit(output: Callable[..., pa.Table]) -> None:
    seconds = pa.table({"d": pa.array([date(2026, 1, 31)]), "t": pa.array([datetime(2026, 1, 1)], pa.timestamp("s"))})
    micros = pa.table({"d": pa.array([None], pa.date32()), "t": pa.array([datetime(2026, 1, 1)], pa.timestamp("us"))})
    table = output("Concatenate", {}, seconds, micros, ports=[0, 0])
    assert table.column("d").to_pylist() == [date(2026, 1, 31), None]
    assert table.column("t").to_pylist() == [datetime(2026, 1, 1)] * 2
    zoned = pa.table({"t": pa.array([datetime(2026, 1, 1, tzinfo=UTC)])})
    assert output("Concatenate", {}, zoned, zoned, ports=[0, 0]).num_rows == 2


def test_columns_of_different_types_are_refused_by_name_and_table(failure: Callable[..., str]) -> None:
    texts, numbers = pa.table({"price": ["1"]}), pa.table({"price": [1]})
    message = failure("Concatenate", {}, texts, pa.table({"x": [1]}), numbers, ports=[0, 0, 0])
    assert "column 'price' holds whole numbers in input table 3 and texts in a table before it" in message
    booleans = pa.table({"price": [True]})
    assert "true/false values" in failure("Concatenate", {}, numbers, booleans, ports=[0, 0])


def test_tools_of_both_kinds_become_one_column(output: Callable[..., pa.Table]) -> None:
    mcp: list[Tool] = [MCPTool("search", "", {"type": "object"}, server_uri="http://127.0.0.1:1/sse")]
    workflows: list[Tool] = [WorkflowTool("search", "", {}, _filestore_keys="v1:x:0:y:-1")]
    tables = [tool_table(mcp).to_pyarrow(), tool_table(workflows).to_pyarrow(), tool_table([]).to_pyarrow()]
    table = output("Concatenate", {}, *tables, ports=[0, 0, 0])
    assert table.column_names == ["<RowID>", "Tool"]
    assert table.schema.field("Tool").type == tables[0].schema.field("Tool").type
    assert table.column("Tool").to_pylist()[0].server_uri == "http://127.0.0.1:1/sse"
    assert [type(tool) for tool in table.column("Tool").to_pylist()] == [MCPTool, WorkflowTool]
    assert table.column(0).to_pylist() == ["Row0", "Row0_dup"]


def test_tools_and_texts_do_not_mix_and_missing_tools_stay_missing(
    output: Callable[..., pa.Table], failure: Callable[..., str]
) -> None:
    tools = tool_table([MCPTool("search", "", {}, server_uri="http://127.0.0.1:1/sse")]).to_pyarrow()
    assert "holds texts in input table 2 and tools" in failure(
        "Concatenate", {}, tools, pa.table({"Tool": ["x"]}), ports=[0, 0]
    )
    table = output("Concatenate", {}, tools, pa.table({"other": ["x"]}), ports=[0, 0])
    assert [None if tool is None else tool.name for tool in table.column("Tool").to_pylist()] == ["search", None]


def test_nothing_connected_is_explained(failure: Callable[..., str]) -> None:
    assert "there is no table to concatenate: connect at least one" in failure("Concatenate")


def test_one_table_passes_as_it_is(output: Callable[..., pa.Table]) -> None:
    assert output("Concatenate", {}, ONE).equals(ONE)


def test_a_hundred_thousand_rows_with_equal_row_ids_are_stacked_quickly(output: Callable[..., pa.Table]) -> None:
    table = pa.table({"n": range(100_000)})
    started = time.perf_counter()
    stacked = output("Concatenate", {}, table, table, table, ports=[0, 0, 0])
    assert stacked.num_rows == 300_000
    assert stacked.column(0)[299_999].as_py() == "Row99999_dup_dup"
    assert time.perf_counter() - started < 10


CELLS = st.lists(st.none() | st.integers(-(2**31), 2**31 - 1), max_size=4)


@given(contents=st.lists(st.dictionaries(st.sampled_from("abc"), CELLS, max_size=3), min_size=1, max_size=4))
def test_every_cell_is_found_again_in_its_place(contents: list[dict[str, list[int | None]]]) -> None:
    sizes = [max(map(len, columns.values()), default=0) for columns in contents]
    filled = [
        {name: cells + [None] * (size - len(cells)) for name, cells in columns.items()}
        for columns, size in zip(contents, sizes, strict=True)
    ]
    tables = [
        pa.table({"<RowID>": pa.array([f"Row{row}" for row in range(size)], pa.string())} | columns_of(columns))
        for columns, size in zip(filled, sizes, strict=True)
    ]
    stacked = concatenate(tables)
    for name in stacked.column_names[1:]:
        expected = [columns.get(name, [None] * size) for columns, size in zip(filled, sizes, strict=True)]
        assert stacked.column(name).to_pylist() == [cell for cells in expected for cell in cells]
    ids = stacked.column(0).to_pylist()
    assert len(set(ids)) == len(ids) == sum(sizes)


def columns_of(columns: dict[str, list[int | None]]) -> dict[str, pa.Array]:
    return {name: pa.array(cells, pa.int32()) for name, cells in columns.items()}
