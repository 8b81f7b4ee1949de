from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.agent.data import DataRepository, read_data_lines
from knime_ext.errors import InvalidArguments
from tests.agent.orders import Column, Table


def test_tables_get_ids_from_zero_and_come_back_by_them() -> None:
    data, table = DataRepository(), Table(["a"])
    assert [data.add("one", "", table).id, data.add("two", "", Table(["b"])).id] == ["0", "1"]
    assert data.table("0") is table
    assert data.table(0) is table


@pytest.mark.parametrize("wrong", ["7", 7, "-1", "x", "", "²"])
def test_an_unknown_id_lists_the_known_ones(wrong: str | int) -> None:
    data = DataRepository()
    data.add("one", "", Table(["a"]))
    data.add("two", "", Table(["a"]))
    with pytest.raises(InvalidArguments, match="known ids are 0, 1"):
        data.table(wrong)


def test_without_data_an_id_gets_the_advice_to_produce_some() -> None:
    with pytest.raises(InvalidArguments, match="no data yet"):
        DataRepository().table(0)


def test_the_summary_tells_names_descriptions_and_columns_but_no_rows() -> None:
    class WithRows(Table):
        secret = "a cell"

    data = DataRepository()
    table = WithRows(["customer"])
    data.add("orders", "All orders", table)
    summary = data.summary()
    assert '{"id": 0, "name": "orders", "description": "All orders", "columns": {"customer": "string"}}' in summary
    assert "a cell" not in summary


def test_reserved_ids_keep_the_order_of_the_reservations() -> None:
    data = DataRepository()
    first, second = data.reserve(1), data.reserve(1)
    data.add("late", "", Table(["b"]), reserved=second[0])
    data.add("early", "", Table(["a"]), reserved=first[0])
    assert [item.name for item in data.items] == ["early", "late"]
    assert [table.names for table in data.last_tables(1)] == [["b"]]


def test_threads_that_add_tables_never_share_an_id() -> None:
    data = DataRepository()
    threads = [threading.Thread(target=lambda: [data.add("t", "", Table(["a"])) for _ in range(50)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert [item.id for item in data.items] == [str(number) for number in range(400)]


@given(name=st.text(), about=st.text(), columns=st.lists(st.text(), unique=True))
def test_whatever_the_names_say_a_summary_reads_back_as_the_same_tables(
    name: str, about: str, columns: list[str]
) -> None:
    data = DataRepository()
    data.add(name, about, Table(columns))
    data.add("second", "", Table(["x"]))
    rest, found = read_data_lines(data.summary())
    assert rest == ""
    assert [(item.id, item.name, item.description, list(item.columns)) for item in found] == [
        (0, name, about, columns),
        (1, "second", "", ["x"]),
    ]


def test_column_types_are_shown_as_the_host_names_them() -> None:
    class Typed(Table):
        @property
        def schema(self) -> list[Column]:
            return [Column("n", ktype=int)]

    data = DataRepository()
    assert data.add("t", "", Typed([])).columns == {"n": str(int)}
