"""Tables in CSV, Parquet and Arrow files, read and written a few rows at a time."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, ipc, parquet

from knime_ext.agent.batch.row_source import RowSource
from knime_ext.errors import ConfigurationError
from knime_ext.runtime.atomic import atomic_file

__all__ = ["checked_suffix", "read_rows", "write_rows"]

_ROWS_AT_ONCE = 1024
_ROWS_PER_GROUP = 10_000

_CODE = r"^\s*-?(0[0-9]|[0-9]{19})"
"""Digits that are no number: with a leading zero, or too many to be kept exactly."""


def read_rows(path: Path) -> RowSource:
    """The table in a file.

    Raises:
        ConfigurationError: The file cannot be read or is of another kind.
    """
    readers: dict[str, Callable[[Path], RowSource]] = {".csv": _csv, ".parquet": _parquet, ".arrow": _arrow}
    reader = readers[checked_suffix(path)]
    if not path.is_file():
        raise ConfigurationError(f"there is no file {str(path)!r}; correct the path.")
    with _readable(path):
        source = reader(path)
    names = source.schema.names
    if twice := sorted({name for name in names if names.count(name) > 1}):
        # Columns are chosen by name, so that the second one would get the values of the first.
        raise ConfigurationError(f"the file {str(path)!r} has two columns {twice[0]!r}; rename one of them.")
    return source


def checked_suffix(path: Path) -> str:
    """The ending that says what kind of file it is.

    Raises:
        ConfigurationError: It is of another kind.
    """
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".parquet", ".arrow"):
        raise ConfigurationError(f"the file {str(path)!r} is of no known kind; use .csv, .parquet or .arrow.")
    return suffix


@contextmanager
def _readable(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise ConfigurationError(f"the file {str(path)!r} cannot be read: {error.strerror or error}.") from None
    except pa.ArrowException as error:
        raise ConfigurationError(f"the file {str(path)!r} is damaged or of another kind: {error}.") from None


def _csv(path: Path) -> RowSource:
    texts: dict[str, Any] = {}

    def opened(names: Sequence[str] | None) -> Any:
        options = csv.ConvertOptions(include_columns=None if names is None else list(names), column_types=texts)
        # Column types come from the first block, so that is a large one.
        return csv.open_csv(path, csv.ReadOptions(block_size=8 << 20), convert_options=options)

    def batches(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with _readable(path), opened(names) as reader:
            yield from reader

    texts |= dict.fromkeys(_codes(path), pa.string())
    with opened(None) as reader:  # to the end: a cell of the wrong type is to be known before anything is asked
        schema, rows = reader.schema, sum(batch.num_rows for batch in reader)
    if any(pa.types.is_binary(field.type) for field in schema):
        raise _no_utf8(path)
    return RowSource(schema=schema, batches=batches, num_rows=rows)


def _codes(path: Path) -> set[str]:
    """The columns that only look like numbers: those with postal codes and long ids, which numbers would change."""
    with path.open("rb") as file:
        if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            raise _no_utf8(path)
    large = csv.ReadOptions(block_size=8 << 20)
    with csv.open_csv(path, large) as reader:
        numbers = [field.name for field in reader.schema if _is_number(field.type)]
    if len(set(numbers)) < len(numbers) or not numbers:
        return set()
    options = csv.ConvertOptions(include_columns=numbers, column_types=dict.fromkeys(numbers, pa.string()))
    found: set[str] = set()
    with csv.open_csv(path, large, convert_options=options) as reader:
        for batch in reader:
            found |= {name for name in numbers if pc.any(pc.match_substring_regex(batch[name], _CODE)).as_py()}
    return found


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def _no_utf8(path: Path) -> ConfigurationError:
    return ConfigurationError(f"the file {str(path)!r} is not written in UTF-8; save it as UTF-8.")


def _parquet(path: Path) -> RowSource:
    def batches(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with _readable(path), parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(_ROWS_AT_ONCE, columns=list(names)):
                yield batch.select(list(names))

    with parquet.ParquetFile(path) as file:
        return RowSource(schema=file.schema_arrow, batches=batches, num_rows=file.metadata.num_rows)


def _arrow(path: Path) -> RowSource:
    def batches(names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with _readable(path), pa.memory_map(str(path)) as mapped:
            for batch in _ipc(mapped):
                yield batch.select(list(names))

    with pa.memory_map(str(path)) as mapped:
        reader = _ipc(mapped)
        first = next(reader, None)
        schema = first.schema if first is not None else _empty_schema(path)
        rows = (first.num_rows if first is not None else 0) + sum(batch.num_rows for batch in reader)
    return RowSource(schema=schema, batches=batches, num_rows=rows)


def _ipc(mapped: Any) -> Iterator[Any]:
    """The batches of a file, which may be of Arrow's file kind or of its stream kind."""
    try:
        reader = ipc.open_file(mapped)
    except pa.ArrowInvalid:
        mapped.seek(0)
        yield from ipc.open_stream(mapped)
        return
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


def _empty_schema(path: Path) -> pa.Schema:
    with pa.memory_map(str(path)) as mapped:
        try:
            return ipc.open_file(mapped).schema
        except pa.ArrowInvalid:
            mapped.seek(0)
            return ipc.open_stream(mapped).schema


def write_rows(path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    """Writes a table; the file appears whole or not at all. Lists and structs are JSON texts in a CSV file.

    Returns:
        The number of rows.

    Raises:
        ConfigurationError: The file cannot be written or is of another kind.
    """
    suffix, rows = checked_suffix(path), 0
    shown = _flat_schema(schema) if suffix == ".csv" else schema
    with atomic_file(path) as partial, _writer(suffix, partial, shown) as write:
        for batch in batches:
            write(_flat(batch, shown) if suffix == ".csv" else batch)
            rows += batch.num_rows
    return rows


@contextmanager
def _writer(suffix: str, path: Path, schema: pa.Schema) -> Generator[Callable[[pa.RecordBatch], None]]:
    if suffix == ".arrow":
        with ipc.new_file(str(path), schema) as writer:
            yield writer.write_batch
        return
    if suffix == ".csv":
        with csv.CSVWriter(str(path), schema) as writer:
            yield writer.write_batch
        return
    with parquet.ParquetWriter(str(path), schema) as writer:
        waiting: list[pa.RecordBatch] = []

        def write(batch: pa.RecordBatch) -> None:
            waiting.append(batch)
            if sum(each.num_rows for each in waiting) >= _ROWS_PER_GROUP:
                flush()

        def flush() -> None:
            writer.write_table(pa.Table.from_batches(waiting, schema))
            waiting.clear()

        yield write
        flush()


def _is_nested(kind: pa.DataType) -> bool:
    return pa.types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType)


def _flat_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(field.name, pa.string()) if _is_nested(field.type) else field for field in schema])


def _flat(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [_json(column) if _is_nested(column.type) else column for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _json(column: Any) -> pa.Array:
    cells = column.to_pylist()
    texts = [None if cell is None else json.dumps(cell, ensure_ascii=False, default=str) for cell in cells]
    return pa.array(texts, pa.string())
