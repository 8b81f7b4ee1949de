from __future__ import annotations

import json
from collections.abc import Callable

import pyarrow as pa
import pytest

COLUMNS = [
    {"name": "Ort", "type": "STRING"},
    {"name": "Zahl", "type": "INTEGER"},
    {"name": "viel", "type": "LONG"},
    {"name": "Anteil", "type": "DOUBLE"},
    {"name": "aktiv", "type": "BOOLEAN"},
]


def test_rows_become_typed_columns_with_numbered_row_ids(output: Callable[..., pa.Table]) -> None:
    rows = '[["大阪", 1, 9007199254740993, 2, true], [null, null, null, null, null], ["", -5, 0, 0.5, false]]'
    table = output("TableCreator", {"columns": COLUMNS, "rows": rows})
    assert table.schema == pa.schema(
        [
            ("<RowID>", pa.string()),
            ("Ort", pa.string()),
            ("Zahl", pa.int32()),
            ("viel", pa.int64()),
            ("Anteil", pa.float64()),
            ("aktiv", pa.bool_()),
        ]
    )
    assert table.to_pylist() == [
        {"<RowID>": "Row0", "Ort": "大阪", "Zahl": 1, "viel": 9007199254740993, "Anteil": 2.0, "aktiv": True},
        {"<RowID>": "Row1", "Ort": None, "Zahl": None, "viel": None, "Anteil": None, "aktiv": None},
        {"<RowID>": "Row2", "Ort": "", "Zahl": -5, "viel": 0, "Anteil": 0.5, "aktiv": False},
    ]


def test_rows_may_be_objects_by_column_name_and_leave_columns_out(output: Callable[..., pa.Table]) -> None:
    table = output("TableCreator", {"columns": COLUMNS, "rows": '[{"Zahl": 3}, {"Ort": "Αθήνα", "aktiv": true}]'})
    assert table.column("Zahl").to_pylist() == [3, None]
    assert table.column("Ort").to_pylist() == [None, "Αθήνα"]


@pytest.mark.parametrize("rows", ["[]", "", "  "])
def test_no_rows_give_an_empty_table_with_all_columns(output: Callable[..., pa.Table], rows: str) -> None:
    table = output("TableCreator", {"columns": COLUMNS, "rows": rows})
    assert table.num_rows == 0
    assert table.column_names == ["<RowID>", "Ort", "Zahl", "viel", "Anteil", "aktiv"]


def test_a_table_without_any_column_is_empty(output: Callable[..., pa.Table]) -> None:
    assert output("TableCreator").column_names == ["<RowID>"]


def test_a_hundred_thousand_rows_are_created(output: Callable[..., pa.Table]) -> None:
    rows = json.dumps([[str(number), number] for number in range(100_000)])
    table = output("TableCreator", {"columns": COLUMNS[:2], "rows": rows})
    assert table.num_rows == 100_000
    assert table.column("Zahl")[99_999].as_py() == 99_999


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("[[", "the rows are not valid JSON"),
        ("{}", "the rows must be a JSON array"),
        ('["x"]', "row 1 is no array of cells and no object"),
        ('[["x", 1]]', "row 1 has 2 cells for 5 columns"),
        ('[["x", 1, 1, 1, true], [7, 1, 1, 1, true]]', "row 2, column 'Ort': 7 does not fit type STRING"),
        ('[["x", 1.5, 1, 1, true]]', "row 1, column 'Zahl': 1.5 does not fit type INTEGER"),
        ('[["x", 2147483648, 1, 1, true]]', "row 1, column 'Zahl': 2147483648 does not fit"),
        ('[["x", true, 1, 1, true]]', "row 1, column 'Zahl': true does not fit"),
        ('[["x", 1, 9223372036854775808, 1, true]]', "row 1, column 'viel'"),
        ('[["x", 1, 1, "1", true]]', "row 1, column 'Anteil': \"1\" does not fit"),
        ('[["x", 1, 1, 1, 0]]', "row 1, column 'aktiv': 0 does not fit type BOOLEAN, which takes true or false"),
        ('[{"ort": "x"}]', "row 1 has a value for 'ort', which is no column; did you mean 'Ort'?"),
    ],
)
def test_a_row_that_does_not_fit_is_named(failure: Callable[..., str], rows: str, message: str) -> None:
    assert message in failure("TableCreator", {"columns": COLUMNS, "rows": rows})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([{"name": "a"}, {"name": "a"}], "two columns are named 'a'"),
        ([{"name": " "}], "column 1 has no name"),
        ([{"name": "a", "type": "TEXT"}], "TEXT"),
    ],
)
def test_columns_that_cannot_be_are_refused(
    failure: Callable[..., str], columns: list[dict[str, str]], message: str
) -> None:
    assert message in failure("TableCreator", {"columns": columns})


def test_rows_without_columns_are_refused(failure: Callable[..., str]) -> None:
    assert "there are rows but no columns" in failure("TableCreator", {"rows": "[[]]"})
