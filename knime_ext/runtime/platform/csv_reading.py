"""Reads CSV files into typed columns and says in one sentence what is wrong with a file that is none."""

from __future__ import annotations

import codecs
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.platform.arrow_columns import ROW_ID

__all__ = ["CSVFormat", "csv_schema", "read_csv"]

_FIRST_BLOCK = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CSVFormat:
    """How a CSV file is written.

    Attributes:
        delimiter: Between two values; for a tab, backslash and t will do.
        quote: Around values that contain the delimiter; "" for none.
        header: Whether the first line has the column names.
        row_ids: Whether the first column has the row ids.
        encoding: Name of the character encoding.
        skip_lines: Lines to ignore before the first one that counts.
    """

    delimiter: str = ","
    quote: str = '"'
    header: bool = True
    row_ids: bool = False
    encoding: str = "utf-8"
    skip_lines: int = 0


def read_csv(path: Path, form: CSVFormat) -> pa.Table:
    """The whole file as a table; types are found by looking at all values of a column.

    Empty values are missing cells; a quoted empty value is an empty text.

    Raises:
        ConfigurationError: The file is missing, ragged, empty or not in this encoding.
    """
    with _explained(path, form):
        table = csv.read_csv(path, **_options(form))
    return _as_knime_table(table, path, form)


def csv_schema(path: Path, form: CSVFormat) -> pa.Schema:
    """Columns of the file, found by reading its first block only (4 MB).

    Raises:
        ConfigurationError: As for `read_csv`, as far as the first block shows it.
    """
    with _explained(path, form), csv.open_csv(path, **_options(form, _FIRST_BLOCK)) as reader:
        first = next(iter(reader), None)
    table = pa.Table.from_batches([] if first is None else [first], reader.schema)
    return _as_knime_table(table.slice(0, 0), path, form).schema


def _options(form: CSVFormat, block_size: int | None = None) -> dict[str, Any]:
    delimiter = form.delimiter.replace("\\t", "\t")
    for what, sign in (("column delimiter", delimiter), ("quote character", form.quote or '"')):
        if len(sign) != 1 or not sign.isascii() or sign in "\r\n":
            raise ConfigurationError(f"the {what} {sign!r} is not one plain character: give one, such as ',' or '\"'")
    return {
        "read_options": csv.ReadOptions(
            skip_rows=form.skip_lines,
            autogenerate_column_names=not form.header,
            encoding="utf8" if _is_utf8(form.encoding) else form.encoding,
            block_size=block_size,
        ),
        "parse_options": csv.ParseOptions(
            delimiter=delimiter, quote_char=form.quote or False, newlines_in_values=bool(form.quote)
        ),
        # "NA" and "null" are texts that people write; only an empty value is a missing one.
        "convert_options": csv.ConvertOptions(
            null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    }


def _is_utf8(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    except LookupError:
        raise ConfigurationError(f"there is no encoding {encoding!r}: choose another, such as 'utf-8'") from None


@contextmanager
def _explained(path: Path, form: CSVFormat) -> Generator[None]:
    try:
        yield
    except FileNotFoundError:
        raise ConfigurationError(f"there is no file {str(path)!r}: check the path") from None
    except pa.ArrowInvalid as error:
        raise ConfigurationError(_what_is_wrong(path, form, str(error))) from error
    except UnicodeError as error:
        raise ConfigurationError(_wrong_encoding(path, form)) from error
    except OSError as error:
        reason = "it is a folder" if path.is_dir() else error.strerror or str(error)
        raise ConfigurationError(f"cannot read the file {str(path)!r}: {reason}; choose a CSV file") from error


def _wrong_encoding(path: Path, form: CSVFormat) -> str:
    return (
        f"the file {path.name!r} is not written in {form.encoding!r}: "
        "choose its encoding, such as 'latin-1' or 'utf-16'"
    )


def _what_is_wrong(path: Path, form: CSVFormat, message: str) -> str:
    if "Empty CSV" in message:
        return f"the file {path.name!r} is empty: it needs at least a line with column names"
    if "UTF8" in message or "UTF-8" in message:
        return _wrong_encoding(path, form)
    ragged = _first_ragged_row(path, form)
    if ragged is not None:
        return (
            f"row {ragged.number or '?'} of the file {path.name!r} has {ragged.actual_columns} values instead of "
            f"{ragged.expected_columns} ({ragged.text[:60]!r}): repair the row, or check column delimiter and quotes"
        )
    return f"cannot read the file {path.name!r} as CSV: {message.partition(': ')[2] or message}"


def _first_ragged_row(path: Path, form: CSVFormat) -> csv.InvalidRow | None:
    """Reads once more, in one thread, because only then Arrow counts the rows."""
    found: list[csv.InvalidRow] = []

    def note(row: csv.InvalidRow) -> str:
        found.append(row)
        return "error"

    options = _options(form)
    options["read_options"].use_threads = False
    options["parse_options"].invalid_row_handler = note
    try:
        csv.read_csv(path, **options)
    except (pa.ArrowInvalid, UnicodeError):
        return found[0] if found else None
    return None


def _as_knime_table(table: pa.Table, path: Path, form: CSVFormat) -> pa.Table:
    columns: dict[str, Any] = {}
    for position, field in enumerate(table.schema):
        if pa.types.is_binary(field.type):
            raise ConfigurationError(_wrong_encoding(path, form))
        name = field.name.strip() if form.header else f"Column{position}"
        columns[_unique(name or f"Column{position}", columns)] = _knime_column(table.column(position))
    result = pa.table(columns)
    return _with_row_ids(result, path) if form.row_ids and columns else result


def _unique(name: str, taken: dict[str, Any]) -> str:
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name} (#{number})"
    return free


def _knime_column(column: Any) -> Any:
    """Arrow's finer types as those that KNIME has: no column of nothing, times in microseconds."""
    if pa.types.is_null(column.type):
        return column.cast(pa.string())
    return column.cast(pa.time64("us")) if pa.types.is_time32(column.type) else column


def _with_row_ids(table: pa.Table, path: Path) -> pa.Table:
    ids = pc.cast(table.column(0), pa.string())
    if ids.null_count or pc.count_distinct(ids).as_py() != table.num_rows:
        raise ConfigurationError(
            f"the first column of {path.name!r} has empty or repeated values and cannot be the RowIDs: "
            "switch off 'First column contains RowIDs'"
        )
    return table.remove_column(0).add_column(0, ROW_ID, ids)
