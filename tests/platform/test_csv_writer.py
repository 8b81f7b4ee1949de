from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from knime.types.tool import MCPTool
from knime_ext.runtime.platform.csv_reading import CSVFormat, read_csv
from knime_ext.runtime.platform.csv_writing import write_csv
from knime_ext.runtime.platform.tool_columns import tool_table

TABLE = pa.table(
    {
        "<RowID>": ["r0", "r1"],
        "名前": ['さくら "x"', None],
        "n": [1, None],
        "x": [0.1, None],
        "b": [True, None],
        "d": pa.array([date(2026, 1, 31), None]),
        "empty": ["", "a\nb,c"],
    }
)


def test_what_is_written_reads_back_equal(run_node: Callable[..., Any], tmp_path: Path) -> None:
    run_node("CSVWriter", {"path": "out.csv"}, TABLE)
    assert read_csv(tmp_path / "out.csv", CSVFormat()).equals(TABLE.remove_column(0))
    assert (tmp_path / "out.csv").read_text("utf-8").startswith('"名前","n","x","b","d","empty"\n"さくら ""x""",1,0.1')


@pytest.mark.parametrize(
    ("settings", "first_line"),
    [
        ({"column_delimiter": ";"}, '"a";"b"'),
        ({"column_delimiter": "\\t"}, '"a"\t"b"'),
        ({"write_column_header": False}, '1,"x"'),
        ({"write_row_id": True}, '"RowID","a","b"'),
    ],
)
def test_the_form_can_be_chosen(
    run_node: Callable[..., Any], tmp_path: Path, settings: dict[str, Any], first_line: str
) -> None:
    run_node("CSVWriter", {"path": "out.csv", **settings}, pa.table({"a": [1], "b": ["x"]}))
    assert (tmp_path / "out.csv").read_text("utf-8").splitlines()[0] == first_line


def test_an_existing_file_is_kept_unless_overwriting_is_allowed(
    run_node: Callable[..., Any], failure: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "out.csv").write_text("precious", "utf-8")
    assert "exists already: choose another name or allow overwriting" in failure(
        "CSVWriter", {"path": "out.csv"}, TABLE
    )
    assert (tmp_path / "out.csv").read_text("utf-8") == "precious"
    run_node("CSVWriter", {"path": "out.csv", "if_exists": "OVERWRITE"}, TABLE)
    assert (tmp_path / "out.csv").read_text("utf-8") != "precious"


def test_missing_folders_are_made_only_when_asked(
    run_node: Callable[..., Any], failure: Callable[..., str], tmp_path: Path
) -> None:
    path = "berichte/Mai/out.csv"
    assert "create it or switch on 'Create missing folders'" in failure("CSVWriter", {"path": path}, TABLE)
    assert list(tmp_path.iterdir()) == []
    run_node("CSVWriter", {"path": path, "create_missing_folders": True}, TABLE)
    assert [each.name for each in (tmp_path / "berichte" / "Mai").iterdir()] == ["out.csv"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            tool_table([MCPTool("t", "", {}, server_uri="http://127.0.0.1:1/sse")]).to_pyarrow(),
            "column 'Tool' holds tools",
        ),
        (pa.table({"l": [[1]]}), "column 'l' holds lists, which a CSV file cannot hold: remove it with Column Filter"),
    ],
)
def test_columns_that_text_cannot_hold_are_refused_and_nothing_is_written(
    failure: Callable[..., str], tmp_path: Path, table: pa.Table, message: str
) -> None:
    assert message in failure("CSVWriter", {"path": "out.csv"}, table)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "no file is chosen: set 'path'"),
        ({"path": "."}, "is a folder: give the name of a file"),
        ({"path": "out.csv", "column_delimiter": "ab"}, "the column delimiter 'ab' is not one plain character"),
        ({"path": "out.csv", "if_exists": "APPEND"}, "APPEND"),
    ],
)
def test_settings_that_cannot_be_are_explained(
    failure: Callable[..., str], tmp_path: Path, settings: dict[str, Any], message: str
) -> None:
    assert message in failure("CSVWriter", settings, TABLE)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("precious", "utf-8")
    lists = pa.table({"<RowID>": ["r"], "l": [[1]]})
    with pytest.raises(pa.ArrowInvalid):
        write_csv(lists, target)
    assert target.read_text("utf-8") == "precious"
    assert [each.name for each in tmp_path.iterdir()] == ["out.csv"]


def test_an_empty_table_writes_the_header(run_node: Callable[..., Any], tmp_path: Path) -> None:
    run_node("CSVWriter", {"path": "out.csv"}, TABLE.slice(0, 0))
    assert (tmp_path / "out.csv").read_text("utf-8") == '"名前","n","x","b","d","empty"\n'


def test_a_hundred_thousand_rows_are_written(run_node: Callable[..., Any], tmp_path: Path) -> None:
    run_node("CSVWriter", {"path": "out.csv"}, pa.table({"n": range(100_000)}))
    assert read_csv(tmp_path / "out.csv", CSVFormat()).num_rows == 100_000
