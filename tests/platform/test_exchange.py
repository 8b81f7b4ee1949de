from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

import pyarrow as pa
import pytest

from knime_ext.runtime.knext.arrow_types import LogicalExtensionType, arrow_type
from knime_ext.runtime.knext.table import Table
from knime_ext.runtime.knext.time_types import DURATION, LOCAL_DATE, LOCAL_DATE_TIME, LOCAL_TIME
from knime_ext.runtime.platform.exchange import empty_arrow, knime_schema, knime_table, to_arrow

DAY, CLOCK = date(1969, 12, 31), time(23, 59, 59, 123456)
MOMENT, SPAN = datetime(1969, 12, 31, 23, 59, 59, 5), timedelta(days=-1, seconds=5, microseconds=7)


def logical_times() -> pa.Table:
    """A table with KNIME's logical types of date and time, one value and one missing cell each."""
    columns: dict[str, Any] = {}
    for name, ktype, value in (
        ("day", LOCAL_DATE, DAY),
        ("clock", LOCAL_TIME, CLOCK),
        ("moment", LOCAL_DATE_TIME, MOMENT),
        ("span", DURATION, SPAN),
    ):
        kind = arrow_type(ktype)
        assert isinstance(kind, LogicalExtensionType)
        storage = pa.array([ktype.value_factory.encode(value), None], kind.storage_type)
        columns[name] = pa.ExtensionArray.from_storage(kind, storage)
    return pa.table(columns)


def test_logical_dates_and_times_become_arrows_own_with_equal_values() -> None:
    arrow = to_arrow(Table.from_pyarrow(logical_times()))
    assert arrow.schema.types == [
        pa.string(),
        pa.date32(),
        pa.time64("ns"),
        pa.timestamp("us"),
        pa.duration("us"),
    ]
    values = {name: arrow.column(name).to_pylist() for name in ("day", "moment", "span")}
    assert values == {"day": [DAY, None], "moment": [MOMENT, None], "span": [SPAN, None]}
    assert arrow.column("clock").cast(pa.time64("us")).to_pylist() == [CLOCK, None]


def test_a_schema_without_rows_computes_to_the_same_columns_as_the_table() -> None:
    table = Table.from_pyarrow(
        logical_times().append_column("n", pa.array([1, 2])).append_column("l", pa.array([["x"], []]))
    )
    assert empty_arrow(table.schema).schema.types == to_arrow(table).schema.types
    assert knime_schema(empty_arrow(table.schema)) == table.schema
    assert knime_table(to_arrow(table)).schema == table.schema


def test_logical_and_plain_dates_concatenate_join_and_query_as_equals(output: Callable[..., pa.Table]) -> None:
    logical = logical_times().select(["day"])
    plain = pa.table({"day": pa.array([DAY], pa.date32())})
    stacked = output("Concatenate", {}, logical, plain, ports=[0, 0])
    assert stacked.column("day").to_pylist() == [DAY, None, DAY]
    pair = {"join_columns": [{"left": "day", "right": "day"}]}
    assert output("Joiner", pair, logical, plain).num_rows == 1
    query = {"query": "SELECT count(*) AS c FROM table1 JOIN table2 USING (day)"}
    assert output("SQLQuery", query, logical, plain, ports=[0, 0]).column("c").to_pylist() == [1]


@pytest.mark.parametrize(
    ("column", "value"), [("day", "1970-01-01"), ("clock", "23:59:59.2"), ("moment", "1970-01-01T00:00:00")]
)
def test_logical_times_are_filtered_by_value_and_stay_logical(
    output: Callable[..., pa.Table], column: str, value: str
) -> None:
    table = logical_times()
    kept = output("RowFilter", {"criteria": [{"column": column, "operator": "LT", "value": value}]}, table)
    assert kept.num_rows == 1
    assert kept.schema.field(column).type == table.schema.field(column).type
