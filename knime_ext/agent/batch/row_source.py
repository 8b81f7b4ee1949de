"""Tables that are read a few rows at a time, as often as needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import pyarrow as pa

__all__ = ["RowSource"]

_ROWS_AT_ONCE = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSource:
    """A table that need not fit into memory.

    Attributes:
        schema: Its columns.
        batches: Gives its rows from the beginning, each time it is called; only the named columns, in the table's
            order.
        num_rows: How many there are; None if that is unknown before they are read.
    """

    schema: pa.Schema
    batches: Callable[[Sequence[str]], Iterable[pa.RecordBatch]]
    num_rows: int | None = None

    @classmethod
    def of_table(cls, table: pa.Table) -> RowSource:
        """A table in memory, or one that is memory-mapped."""
        return cls(
            schema=table.schema,
            batches=lambda names: table.select(list(names)).to_batches(max_chunksize=_ROWS_AT_ONCE),
            num_rows=table.num_rows,
        )

    def head(self, rows: int | None) -> RowSource:
        """The first rows alone; the whole table for None."""
        if rows is None:
            return self
        number = rows if self.num_rows is None else min(rows, self.num_rows)
        return RowSource(schema=self.schema, batches=lambda names: _head(self.batches(names), rows), num_rows=number)

    def rows(self, names: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Number and cells of each row, as Python values; nothing is kept of rows that were given."""
        numbers = count()
        # Without any column Arrow would forget how many rows there are.
        read = list(names) or self.schema.names[:1]
        for batch in self.batches(read):
            for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
                for row in batch.slice(start, _ROWS_AT_ONCE).to_pylist():
                    yield next(numbers), row


def _head(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if rows <= 0:
            return
        yield batch.slice(0, rows)
        rows -= batch.num_rows
