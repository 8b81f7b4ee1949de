"""A table of answers with their conversations, as a batch wrote it, as rows of a page."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import ipc, parquet

from knime_ext.agent.page.batch_page import BatchPageRow
from knime_ext.agent.page.saved import trace_from_json
from knime_ext.errors import ConfigurationError

__all__ = ["answer_rows"]

_TRACE = "__trace"
_ROW_ID = "<RowID>"
_FIGURES = ("stop_reason", "turns", "tool_calls", "tokens", "seconds", "error")
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class _File:
    names: Sequence[str]
    batches: Iterable[pa.RecordBatch]


def answer_rows(path: Path, answer: str | None = None) -> Iterator[BatchPageRow]:
    """The rows of an Arrow or Parquet file that has a column of conversations, read a few at a time.

    Args:
        path: The file.
        answer: Name of the answer's column; the only one that has a column `{answer}__trace` if not given.

    Raises:
        ConfigurationError: The file cannot be read, or has no such columns.
    """
    with _opened(path) as file:
        column = _answer_column(file.names, answer, path)
        wanted = {f"{column}{ending}" for ending in ("", _TRACE, *(f"__{figure}" for figure in _FIGURES))}
        names = [name for name in file.names if name in wanted or name == _ROW_ID]
        rows = (row for batch in file.batches for row in _cells(batch, names))
        for number, row in enumerate(rows):
            yield _page_row(row, column, number, path)


@contextmanager
def _opened(path: Path) -> Generator[_File]:
    try:
        with path.open("rb") as file:
            magic = file.read(6)
            file.seek(0)
            if magic[:4] == b"PAR1":
                table = parquet.ParquetFile(file)
                yield _File(table.schema_arrow.names, table.iter_batches(batch_size=_AT_ONCE))
            elif magic == b"ARROW1":
                reader = ipc.open_file(file)
                yield _File(reader.schema.names, (reader.get_batch(n) for n in range(reader.num_record_batches)))
            else:
                stream = ipc.open_stream(file)
                yield _File(stream.schema.names, stream)
    except (OSError, pa.ArrowInvalid) as error:
        raise ConfigurationError(f"cannot read {str(path)!r} as Arrow or Parquet: {error}; check the file") from error


def _answer_column(names: Sequence[str], wanted: str | None, path: Path) -> str:
    there = [name.removesuffix(_TRACE) for name in names if name.endswith(_TRACE)]
    if wanted is None and len(there) == 1:
        return there[0]
    if wanted in there:
        return str(wanted)
    if not there:
        raise ConfigurationError(
            f"{str(path)!r} has no column of conversations, whose name ends with {_TRACE!r}; let the batch save traces"
        )
    known = ", ".join(map(repr, there))
    asked = "several answers have conversations" if wanted is None else f"there is no conversation of {wanted!r}"
    raise ConfigurationError(f"{str(path)!r}: {asked}; name one of {known} with --answer")


def _cells(batch: pa.RecordBatch, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows of a batch, of which only a few are Python values at a time."""
    chosen = batch.select(list(names))
    for start in range(0, chosen.num_rows, _AT_ONCE):
        yield from chosen.slice(start, _AT_ONCE).to_pylist()


def _page_row(row: Mapping[str, Any], column: str, number: int, path: Path) -> BatchPageRow:
    figures = {name: row.get(f"{column}__{name}") for name in _FIGURES}
    messages = row[f"{column}{_TRACE}"]
    label = str(row.get(_ROW_ID) or f"Row {number + 1}")
    trace = trace_from_json(messages or [], f"{path.name}, {label}")
    stop_reason = str(figures["stop_reason"] or trace.stop_reason)
    error = None if figures["error"] is None else str(figures["error"])
    seconds = float(figures["seconds"] or 0.0)
    return BatchPageRow(
        label=label,
        prompt=trace.question,
        answer=str(row.get(column) or ""),
        stop_reason=stop_reason,
        turns=int(figures["turns"] or 0),
        tool_calls=int(figures["tool_calls"] or trace.tool_calls),
        tokens=int(figures["tokens"] or 0),
        seconds=seconds,
        error=error,
        trace=replace(trace, stop_reason=stop_reason, error=error, seconds=seconds) if messages else None,
    )
