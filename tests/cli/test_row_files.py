"""Tables in files of three kinds, a few rows at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, ipc

from knime_ext.cli.row_files import read_rows, write_rows
from knime_ext.errors import ConfigurationError

TABLE = pa.table({"number": list(range(2500)), "text": [f"text, {n}" for n in range(2500)]})


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_a_table_is_read_as_it_was_written(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"table.{kind}"
    assert write_rows(path, TABLE.schema, TABLE.to_batches(max_chunksize=700)) == 2500
    source = read_rows(path)
    assert source.num_rows == 2500
    assert pa.Table.from_batches(source.batches(["number", "text"])).equals(TABLE)
    assert list(source.rows(["text"]))[-1] == (2499, {"text": "text, 2499"})
    assert [number for number, _ in source.head(3).rows([])] == [0, 1, 2]
    assert source.head(3).num_rows == 3


def test_a_stream_of_arrow_is_read_too_and_tables_may_be_empty(tmp_path: Path) -> None:
    with ipc.new_stream(str(tmp_path / "stream.arrow"), TABLE.schema) as writer:
        writer.write_table(TABLE)
    assert read_rows(tmp_path / "stream.arrow").num_rows == 2500
    for kind in ("parquet", "arrow"):
        write_rows(tmp_path / f"empty.{kind}", TABLE.schema, ())
        source = read_rows(tmp_path / f"empty.{kind}")
        assert (source.schema, source.num_rows, list(source.rows([]))) == (TABLE.schema, 0, [])


def test_lists_and_structs_are_json_in_a_csv_file(tmp_path: Path) -> None:
    table = pa.table({"n": [1, 2], "deep": [[{"a": "é", "b": [1]}], None]})
    write_rows(tmp_path / "deep.csv", table.schema, table.to_batches())
    first, second = csv.read_csv(tmp_path / "deep.csv")["deep"].to_pylist()
    assert json.loads(first) == [{"a": "é", "b": [1]}]
    assert second == ""


def test_a_file_that_cannot_be_written_whole_is_not_there_at_all(tmp_path: Path) -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield from TABLE.to_batches(max_chunksize=1000)
        raise ConfigurationError("row 2501 is not there")

    for kind in ("csv", "parquet", "arrow"):
        with pytest.raises(ConfigurationError, match="row 2501"):
            write_rows(tmp_path / f"out.{kind}", TABLE.schema, broken())
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_read_is_said_before_anything_else(tmp_path: Path) -> None:
    (tmp_path / "text.parquet").write_text("no parquet", encoding="utf-8")
    (tmp_path / "odd.csv").write_text("n\n" + "1\n" * 5_000_000 + "many\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="damaged or of another kind"):
        read_rows(tmp_path / "text.parquet")
    with pytest.raises(ConfigurationError, match="invalid value 'many'"):
        read_rows(tmp_path / "odd.csv")
    with pytest.raises(ConfigurationError, match="there is no file"):
        read_rows(tmp_path / "none.csv")
    with pytest.raises(ConfigurationError, match=r"use \.csv, \.parquet or \.arrow"):
        read_rows(tmp_path / "table.xlsx")


def test_digits_that_are_no_numbers_stay_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("code,id,n,x\n12345,1,1,0.5\n01234,12345678901234567890,-20,-0.25\n", encoding="utf-8")
    rows = [cells for _, cells in read_rows(path).rows(["code", "id", "n", "x"])]
    assert rows == [
        {"code": "12345", "id": "1", "n": 1, "x": 0.5},
        {"code": "01234", "id": "12345678901234567890", "n": -20, "x": -0.25},
    ]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_csv_file_that_is_not_utf_8_is_refused_before_anything_is_asked(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "old.csv"
    path.write_text("question\nGrüße\n", encoding=encoding)
    with pytest.raises(ConfigurationError, match="not written in UTF-8; save it as UTF-8"):
        read_rows(path)


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow"])
def test_two_columns_of_one_name_are_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"twice.{kind}"
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["q", "q"])
    write_rows(path, table.schema, table.to_batches())
    with pytest.raises(ConfigurationError, match="two columns 'q'; rename one"):
        read_rows(path)
