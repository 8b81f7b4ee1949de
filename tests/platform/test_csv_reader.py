from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from knime_ext.runtime.platform.csv_reading import CSVFormat, csv_schema, read_csv

TEXT = """customer,pieces,price,paid,day,when,note
Café Lumière,3,1.5,true,2026-01-31,2026-01-31T12:00:00,"a, ""b""
second line"
株式会社さくら,,,false,,,
,-5,2,,2026-02-01,2026-02-01 00:00:00,""
"""


def test_values_give_the_types_and_relative_paths_start_at_the_workflow(
    output: Callable[..., pa.Table], tmp_path: Path
) -> None:
    (tmp_path / "données").mkdir()
    (tmp_path / "données" / "orders.csv").write_text(TEXT, "utf-8")
    table = output("CSVReader", {"path": "données/orders.csv"})
    assert table.to_pylist() == [
        {
            "<RowID>": "Row0",
            "customer": "Café Lumière",
            "pieces": 3,
            "price": 1.5,
            "paid": True,
            "day": date(2026, 1, 31),
            "when": datetime(2026, 1, 31, 12),
            "note": 'a, "b"\nsecond line',
        },
        {
            "<RowID>": "Row1",
            "customer": "株式会社さくら",
            "pieces": None,
            "price": None,
            "paid": False,
            "day": None,
            "when": None,
            "note": None,
        },
        {
            "<RowID>": "Row2",
            "customer": None,
            "pieces": -5,
            "price": 2.0,
            "paid": None,
            "day": date(2026, 2, 1),
            "when": datetime(2026, 2, 1),
            "note": "",
        },
    ]


@pytest.mark.parametrize(
    ("content", "settings", "expected"),
    [
        (b"a;b\n1;2\n", {"column_delimiter": ";"}, {"a": [1], "b": [2]}),
        (b"a\tb\n1\t'x\ty'\n", {"column_delimiter": "\\t", "quote_char": "'"}, {"a": [1], "b": ["x\ty"]}),
        (b"1,x\n2,y\n", {"first_row_contains_column_names": False}, {"Column0": [1, 2], "Column1": ["x", "y"]}),
        (b"a\n" + "Zürich\n".encode("latin-1"), {"file_encoding": "latin-1"}, {"a": ["Zürich"]}),
        ("a\nΑθήνα\n".encode("utf-16"), {"file_encoding": "utf-16"}, {"a": ["Αθήνα"]}),
        (b"\xef\xbb\xbfa,b\r\n1,2\r\n", {}, {"a": [1], "b": [2]}),
        (b"a,a, ,a\n1,2,3,4\n", {}, {"a": [1], "a (#1)": [2], "Column2": [3], "a (#2)": [4]}),
        (b"# made by hand\n\na,b\n1,2\n", {"skip_first_lines": 1}, {"a": [1], "b": [2]}),
        (b"code\nNA\nnull\nNaN\n", {}, {"code": ["NA", "null", "NaN"]}),
        (b"a,b\n", {}, {"a": [], "b": []}),
        (b"a,b\n,\n", {}, {"a": [None], "b": [None]}),
        (b'a,b\n"1"",2\n', {"quote_char": ""}, {"a": ['"1""'], "b": [2]}),
    ],
)
def test_files_of_many_forms_are_read(
    output: Callable[..., pa.Table],
    tmp_path: Path,
    content: bytes,
    settings: dict[str, Any],
    expected: dict[str, list[Any]],
) -> None:
    (tmp_path / "f.csv").write_bytes(content)
    table = output("CSVReader", {"path": "f.csv", **settings})
    assert table.remove_column(0).to_pydict() == expected


def test_the_first_column_can_be_the_row_ids(output: Callable[..., pa.Table], tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("id,v\n7,a\n9,b\n", "utf-8")
    settings = {"path": "f.csv", "first_column_contains_row_ids": True}
    assert output("CSVReader", settings).to_pydict() == {"<RowID>": ["7", "9"], "v": ["a", "b"]}


def test_columns_are_known_from_the_first_block_without_reading_the_file(tmp_path: Path) -> None:
    file = tmp_path / "big.csv"
    file.write_text("n,s,none\n" + "".join(f"{number},text {number},\n" for number in range(400_000)), "utf-8")
    assert file.stat().st_size > 6_000_000
    schema = csv_schema(file, CSVFormat())
    assert schema == pa.schema([("n", pa.int64()), ("s", pa.string()), ("none", pa.string())])
    started = time.perf_counter()
    table = read_csv(file, CSVFormat())
    assert (table.num_rows, table.schema) == (400_000, schema)
    assert time.perf_counter() - started < 10


@pytest.mark.parametrize(
    ("content", "settings", "message"),
    [
        (b"", {}, "the file 'f.csv' is empty"),
        (b"a,b\n1,2\n3\n", {}, "row 3 of the file 'f.csv' has 1 values instead of 2 ('3'): repair the row"),
        (b"a,b\n1,2\n3,4,5\n", {}, "row 3 of the file 'f.csv' has 3 values instead of 2 ('3,4,5')"),
        (b"a\nZ\xfcrich\n", {}, "the file 'f.csv' is not written in 'utf-8': choose its encoding"),
        (b"a\nZ\xfcrich\n", {"file_encoding": "ascii"}, "the file 'f.csv' is not written in 'ascii'"),
        (b"a\n1\n", {"file_encoding": "utf-88"}, "there is no encoding 'utf-88'"),
        (b"a\n1\n", {"column_delimiter": ",,"}, "the column delimiter ',,' is not one plain character"),
        (b"a\n1\n", {"column_delimiter": ""}, "the column delimiter '' is not one plain character"),
        (b"a\n1\n", {"quote_char": "\u201c"}, "the quote character '\u201c' is not one plain character"),
        (b"a,b\n1,2\n1,3\n", {"first_column_contains_row_ids": True}, "cannot be the RowIDs"),
        (b"a\n1\n", {"skip_first_lines": -1}, "skip_first_lines"),
    ],
)
def test_a_file_that_cannot_be_read_is_explained_in_one_sentence(
    failure: Callable[..., str], tmp_path: Path, content: bytes, settings: dict[str, Any], message: str
) -> None:
    (tmp_path / "f.csv").write_bytes(content)
    text = failure("CSVReader", {"path": "f.csv", **settings})
    assert message in text
    assert "\n" not in text


def test_a_missing_file_a_folder_and_no_path_are_explained(failure: Callable[..., str], tmp_path: Path) -> None:
    assert f"there is no file '{tmp_path / 'gone.csv'}': check the path" in failure("CSVReader", {"path": "gone.csv"})
    assert "it is a folder" in failure("CSVReader", {"path": "."})
    assert "no file is chosen: set 'path'" in failure("CSVReader")
