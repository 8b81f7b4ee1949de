from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime.types.tool import MCPTool
from knime_ext.runtime.platform.joining import JoinSettings, join
from knime_ext.runtime.platform.tool_columns import tool_table

ORDERS = pa.table(
    {
        "<RowID>": ["o1", "o2", "o3", "o4"],
        "customer": ["山田", "Ada", None, "Zoë"],
        "year": pa.array([2025, 2026, 2026, 2026], pa.int32()),
        "note": ["n1", "n2", "n3", "n4"],
    }
)
CUSTOMERS = pa.table(
    {
        "<RowID>": ["c1", "c2", "c3", "c4"],
        "name": ["Ada", "山田", None, "Bo"],
        "since": pa.array([2026, 2025, 2026, 2020], pa.int64()),
        "note": ["m1", "m2", "m3", "m4"],
    }
)
BY_NAME = {"join_columns": [{"left": "customer", "right": "name"}]}


def joined(output: Callable[..., pa.Table], **settings: Any) -> pa.Table:
    return output("Joiner", {**BY_NAME, **settings}, ORDERS, CUSTOMERS)


@pytest.mark.parametrize(
    ("mode", "row_ids"),
    [
        ("INNER", ["o1_c2", "o2_c1"]),
        ("LEFT_OUTER", ["o1_c2", "o2_c1", "o3_?", "o4_?"]),
        ("RIGHT_OUTER", ["o1_c2", "o2_c1", "?_c3", "?_c4"]),
        ("FULL_OUTER", ["o1_c2", "o2_c1", "o3_?", "o4_?", "?_c3", "?_c4"]),
    ],
)
def test_rows_come_in_the_order_of_the_left_table_then_the_rest_of_the_right_one(
    output: Callable[..., pa.Table], mode: str, row_ids: list[str]
) -> None:
    table = joined(output, join_mode=mode)
    assert table.column(0).to_pylist() == row_ids
    assert table.column_names == ["<RowID>", "customer", "year", "note", "name", "since", "note (Right)"]


def test_cells_of_a_missing_partner_are_missing(output: Callable[..., pa.Table]) -> None:
    rows = joined(output, join_mode="FULL_OUTER").to_pylist()
    assert (rows[3]["customer"], rows[3]["name"], rows[3]["since"], rows[3]["note (Right)"]) == (
        "Zoë",
        None,
        None,
        None,
    )
    assert (rows[5]["customer"], rows[5]["year"], rows[5]["name"]) == (None, None, "Bo")


def test_join_columns_can_be_merged_into_one(output: Callable[..., pa.Table]) -> None:
    table = joined(output, join_mode="FULL_OUTER", merge_join_columns=True)
    assert table.column_names == ["<RowID>", "customer", "year", "note", "since", "note (Right)"]
    assert table.column("customer").to_pylist() == ["山田", "Ada", None, "Zoë", None, "Bo"]


def test_merged_columns_are_wide_enough_for_the_values_of_both(output: Callable[..., pa.Table]) -> None:
    left, right = pa.table({"k": pa.array([1], pa.int32())}), pa.table({"k": pa.array([1, 2**40])})
    settings = {"join_columns": [{"left": "k", "right": "k"}], "join_mode": "FULL_OUTER", "merge_join_columns": True}
    table = output("Joiner", settings, left, right)
    assert (table.schema.field("k").type, table.column("k").to_pylist()) == (pa.int64(), [1, 2**40])


def test_row_ids_take_no_values_of_merged_columns(output: Callable[..., pa.Table]) -> None:
    left, right = pa.table({"<RowID>": ["a"], "x": [1]}), pa.table({"name": ["a", "b"]})
    settings = {"join_columns": [{"left": "<RowID>", "right": "name"}], "merge_join_columns": True}
    table = output("Joiner", {**settings, "join_mode": "RIGHT_OUTER"}, left, right)
    assert table.to_pydict() == {"<RowID>": ["a_Row0", "?_Row1"], "x": [1, None], "name": ["a", "b"]}
    other_way = {**settings, "join_columns": [{"left": "name", "right": "<RowID>"}], "join_mode": "FULL_OUTER"}
    assert output("Joiner", other_way, right, left).column("name").to_pylist() == ["a", "b"]


def test_several_pairs_must_all_agree_and_integer_types_are_compatible(output: Callable[..., pa.Table]) -> None:
    pairs = [{"left": "customer", "right": "name"}, {"left": "year", "right": "since"}]
    assert joined(output, join_columns=pairs).column(0).to_pylist() == ["o1_c2", "o2_c1"]
    moved = CUSTOMERS.set_column(2, "since", pa.array([2026, 1999, 2026, 2020]))
    assert output("Joiner", {"join_columns": pairs}, ORDERS, moved).column(0).to_pylist() == ["o2_c1"]


def test_every_pair_of_equal_values_makes_a_row(output: Callable[..., pa.Table]) -> None:
    left, right = pa.table({"k": [1, 1, 2]}), pa.table({"k": [1.0, 1.0, 3.0], "v": ["a", "b", "c"]})
    table = output("Joiner", {"join_columns": [{"left": "k", "right": "k"}]}, left, right)
    assert table.column("v").to_pylist() == ["a", "b", "a", "b"]


def test_row_ids_can_be_join_columns_and_can_be_numbered(output: Callable[..., pa.Table]) -> None:
    by_id = {"join_columns": [{"left": "<RowID>", "right": "<RowID>"}], "row_ids": "SEQUENTIAL"}
    table = output("Joiner", by_id, ORDERS, ORDERS)
    assert table.column(0).to_pylist() == ["Row0", "Row1", "Row2", "Row3"]
    assert table.column("note (Right)").to_pylist() == ["n1", "n2", "n3", "n4"]


def test_joined_row_ids_stay_unique(output: Callable[..., pa.Table]) -> None:
    left = pa.table({"<RowID>": ["a", "a_b"], "k": [1, 2]})
    right = pa.table({"<RowID>": ["b_c", "c"], "k": [1, 2]})
    table = output("Joiner", {"join_columns": [{"left": "k", "right": "k"}]}, left, right)
    assert table.column(0).to_pylist() == ["a_b_c", "a_b_c_dup"]


def test_tools_are_carried_over(output: Callable[..., pa.Table]) -> None:
    tools = tool_table([MCPTool("search", "", {}, server_uri="http://127.0.0.1:1/sse")]).to_pyarrow()
    pair = {"join_columns": [{"left": "customer", "right": "<RowID>"}], "join_mode": "LEFT_OUTER"}
    left = pa.table({"customer": ["Row0", "x"]})
    found = output("Joiner", pair, left, tools).column("Tool").to_pylist()
    assert [None if tool is None else tool.name for tool in found] == ["search", None]


@pytest.mark.parametrize("mode", ["INNER", "LEFT_OUTER", "RIGHT_OUTER", "FULL_OUTER"])
def test_empty_tables_join(output: Callable[..., pa.Table], mode: str) -> None:
    table = output("Joiner", {**BY_NAME, "join_mode": mode}, ORDERS.slice(0, 0), CUSTOMERS.slice(0, 0))
    assert table.num_rows == 0
    assert table.schema.field("since").type == pa.int64()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "there are no join columns: add at least one pair of columns"),
        ({"join_columns": [{"left": "custmer", "right": "name"}]}, "no column 'custmer'; did you mean 'customer'?"),
        ({"join_columns": [{"left": "customer"}]}, "a column is not chosen"),
        (
            {"join_columns": [{"left": "customer", "right": "since"}]},
            "cannot join 'customer' (texts) with 'since' (whole numbers)",
        ),
        ({**BY_NAME, "suffix": ""}, "both tables have a column 'note': give a suffix"),
    ],
)
def test_settings_that_do_not_fit_are_explained(
    failure: Callable[..., str], settings: dict[str, Any], message: str
) -> None:
    assert message in failure("Joiner", settings, ORDERS, CUSTOMERS)


def test_a_join_that_would_explode_is_refused_before_it_is_made(failure: Callable[..., str]) -> None:
    same = pa.table({"k": pa.array([7] * 100_000)})
    message = failure("Joiner", {"join_columns": [{"left": "k", "right": "k"}]}, same, same)
    assert "the join would make 10,000,000,000 rows" in message


def test_a_hundred_thousand_rows_are_joined_quickly(output: Callable[..., pa.Table]) -> None:
    left = pa.table({"k": [f"k{number}" for number in range(100_000)], "n": range(100_000)})
    right = left.take(pa.array(range(99_999, -1, -1)))
    started = time.perf_counter()
    table = output("Joiner", {"join_columns": [{"left": "k", "right": "k"}], "merge_join_columns": True}, left, right)
    assert table.num_rows == 100_000
    assert table.column("n").equals(table.column("n (Right)"))
    assert time.perf_counter() - started < 10


KEYS = st.lists(st.tuples(st.none() | st.integers(0, 3), st.none() | st.sampled_from("xyζ")), max_size=8)


def side(keys: list[tuple[int | None, str | None]], name: str) -> pa.Table:
    ids = [f"{name}{number}" for number in range(len(keys))]
    numbers = pa.array([key[0] for key in keys], pa.int64())
    texts = pa.array([key[1] for key in keys], pa.string())
    return pa.table({"<RowID>": pa.array(ids, pa.string()), "n": numbers, "t": texts})


@given(left=KEYS, right=KEYS, mode=st.sampled_from(["INNER", "LEFT_OUTER", "RIGHT_OUTER", "FULL_OUTER"]))
def test_a_join_gives_the_pairs_that_comparing_every_row_with_every_row_gives(
    left: list[tuple[int | None, str | None]], right: list[tuple[int | None, str | None]], mode: str
) -> None:
    pairs = [
        (f"l{i}", f"r{j}")
        for i, one in enumerate(left)
        for j, other in enumerate(right)
        if one == other and None not in one
    ]
    matched = {side for pair in pairs for side in pair}
    if mode in ("LEFT_OUTER", "FULL_OUTER"):
        alone = [(f"l{i}", "?") for i in range(len(left)) if f"l{i}" not in matched]
        pairs = sorted(pairs + alone, key=lambda pair: int(pair[0][1:]))
    if mode in ("RIGHT_OUTER", "FULL_OUTER"):
        pairs += [("?", f"r{j}") for j in range(len(right)) if f"r{j}" not in matched]
    settings = JoinSettings(pairs=[("n", "n"), ("t", "t")], mode=mode)
    joined = join(side(left, "l"), side(right, "r"), settings)
    assert joined.column(0).to_pylist() == ["_".join(pair) for pair in pairs]
