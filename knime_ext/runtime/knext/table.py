"""Tables: rows on Arrow, with a row id each. Arrow is imported when the first table is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Self, cast

from knime_ext.runtime.knext.columnar import Columnar, ColumnarView, column_positions, materialised
from knime_ext.runtime.knext.schema import Schema

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["BatchOutputTable", "Table", "as_input", "checked_output"]


class Table(Columnar):
    """Rows and columns on Arrow. Make one with `from_pyarrow` or `from_pandas`.

    Slices (`table["a"]`, `table[["a", "b"]]`, `table[:, :10]`) are lazy and keep the row ids: a missing column
    raises IndexError when the slice is looked at.
    """

    _data: pa.Table

    def __init__(self) -> None:
        raise RuntimeError("a table is made by Table.from_pyarrow or Table.from_pandas, not by its constructor")

    @classmethod
    def _of(cls, data: pa.Table) -> Self:
        """Wraps data that already has row ids and the column types of tables."""
        table = object.__new__(cls)
        table._data = data
        return table

    @staticmethod
    def from_pyarrow(
        data: pa.Table | pa.RecordBatch, sentinel: str | int | None = None, row_ids: str = "auto"
    ) -> Table:
        """A table of Arrow data; nothing is copied where the types fit.

        Args:
            data: Columns of int32, int64, float64, string, bool, null, dates and times, lists of these, or KNIME's
                extension types. float32 and the other Arrow layouts of texts and lists are converted.
            sentinel: Whole number that stands for a missing one: a number, "min" or "max" of the type.
            row_ids: "auto" takes the first column if it is named "<RowID>" (numbers n become "Row<n>") and makes
                "Row0", "Row1", ... otherwise; "generate" always makes them; "keep" takes the first column.

        Raises:
            TypeError: Tables cannot hold a column's type; the error names it and the repair.
            ValueError: Uneven batches, duplicate column names, or unusable row ids.
        """
        return Table._of(_from_arrow(data, sentinel, row_ids))

    @staticmethod
    def from_pandas(data: pd.DataFrame, sentinel: str | int | None = None, row_ids: str = "auto") -> Table:
        """A table of a data frame.

        Args:
            data: The frame. A column of objects is written as the type of its first object.
            sentinel: Whole number that stands for a missing one: a number, "min" or "max" of the type.
            row_ids: "auto" makes "Row<i>" of the index if it holds whole numbers, and texts of any other index;
                "keep" makes texts of the index; "generate" makes "Row0", "Row1", ...

        Raises:
            TypeError: Tables cannot hold a column's type; the error names it and the repair.
            ValueError: The data is no data frame, or the row ids are unusable.
        """
        from knime_ext.runtime.knext import pandas_frames

        return Table._of(_from_arrow(*pandas_frames.to_arrow(data, sentinel, row_ids)))

    def to_pyarrow(self, sentinel: str | int | None = None) -> pa.Table:
        """The table as Arrow data, row ids first; logical columns keep their extension type.

        Args:
            sentinel: What missing whole numbers become: a number, "min" or "max" of the type.
        """
        if sentinel is None:
            return self._data
        from knime_ext.runtime.knext import arrow_columns

        return arrow_columns.missing_to_sentinel(self._data, sentinel)

    def to_pandas(self, sentinel: str | int | None = None) -> pd.DataFrame:
        """The table as a data frame with the row ids as its index; logical columns hold Python objects.

        Args:
            sentinel: What missing whole numbers become: a number, "min" or "max" of the type. Without it, a column
                of whole numbers with missing ones becomes floating point.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        from knime_ext.runtime.knext import pandas_frames

        return pandas_frames.to_frame(self.to_pyarrow(sentinel))

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self._data.num_rows

    @property
    def num_columns(self) -> int:
        """Number of columns, row ids not counted."""
        return self._data.num_columns - 1

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, without the row ids."""
        return self._data.column_names[1:]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of columns and number of rows, in this order."""
        return self.num_columns, self.num_rows

    @property
    def schema(self) -> Schema:
        """Names and types of the columns, without the row ids."""
        from knime_ext.runtime.knext import arrow_types

        fields = list(self._data.schema)[1:]
        return Schema([arrow_types.knime_type(f.type) for f in fields], [f.name for f in fields])

    if TYPE_CHECKING:

        def __getitem__(self, slicing: Any) -> Table: ...
        def remove(self, slicing: str | int | list[str]) -> Table: ...  # noqa: D102
        @property
        def num_batches(self) -> int: ...  # noqa: D102 - there is one in tables that a node gets as inputs

    else:

        def __getitem__(self, slicing):
            if isinstance(slicing, int) and slicing >= self.num_columns:  # ends a loop over the columns
                raise IndexError(f"the table has no column at index {slicing}; it has {self.num_columns} columns")
            return TableView(lambda: self._select(slicing), f"Table[{slicing!r}]")

    def _select(self, slicing: Any) -> Table:
        columns: Any = slicing
        rows: Any = slice(None)
        if isinstance(slicing, tuple):
            columns, rows = cast("tuple[Any, Any]", slicing)
        if not isinstance(rows, slice):
            raise IndexError(f"rows are picked by a slice such as table[:, 0:10], not by {type(rows).__name__}")
        positions = column_positions(self.column_names, columns, "the table")
        data = self._data.select([0, *(position + 1 for position in positions)])
        start, stop, step = rows.indices(self.num_rows)
        if step == 1:
            return Table._of(data.slice(start, max(0, stop - start)))
        return Table._of(data.take(list(range(start, stop, step))))

    def __iter__(self) -> Iterator[Table]:
        return (self[name] for name in self.column_names)

    def append(self, other: Any) -> Any:
        """Not possible, as in KNIME.

        Raises:
            NotImplementedError: Always; append to the Arrow table or data frame instead.
        """
        raise NotImplementedError("columns cannot be appended to a table; add them to its to_pyarrow() or to_pandas()")

    def insert(self, other: Any, at: int) -> Any:
        """Not possible, as in KNIME.

        Raises:
            NotImplementedError: Always; insert into the Arrow table or data frame instead.
        """
        return self.append(other)

    def batches(self) -> Iterator[Table]:
        """The parts of an input table, one after the other.

        Raises:
            RuntimeError: The table is no input of a node, or it was modified.
        """
        raise RuntimeError("only a table as it arrives at a node has batches; take to_pyarrow().to_batches() here")

    def to_batches(self) -> Iterator[Table]:
        """The same as `batches`."""
        return self.batches()

    def __str__(self) -> str:
        return f"{type(self).__name__}[columns={self.num_columns}, rows={self.num_rows}]"

    __repr__ = __str__


class TableView(ColumnarView):
    """A slice of a table that is computed when it is first looked at."""

    def to_pandas(self, sentinel: str | int | None = None) -> pd.DataFrame:
        """The slice as a data frame; see `Table.to_pandas`."""
        return self.get().to_pandas(sentinel)

    def to_pyarrow(self, sentinel: str | int | None = None) -> pa.Table:
        """The slice as Arrow data; see `Table.to_pyarrow`."""
        return self.get().to_pyarrow(sentinel)


class InputTable(Table):
    """A table as it arrives at a node; only such tables have batches."""

    @property
    def num_batches(self) -> int:
        """Number of batches."""
        return len(self._data.to_batches())

    def batches(self) -> Iterator[Table]:
        """The parts of the table, one after the other."""
        import pyarrow as pa

        for batch in self._data.to_batches():
            yield Table._of(pa.Table.from_batches([batch]))


def _check_names(data: pa.Table) -> None:
    names = data.column_names
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"there are two columns named {name!r}; give each column a name of its own")


def _from_arrow(data: Any, sentinel: str | int | None, row_ids: str, start: int = 0) -> pa.Table:
    import pyarrow as pa

    from knime_ext.runtime.knext import arrow_columns

    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if not isinstance(data, pa.Table):
        raise TypeError(f"Table.from_pyarrow takes a pyarrow.Table or RecordBatch, not {type(data).__name__}")
    arrow_columns.check_chunks(data)
    table = arrow_columns.with_row_ids(arrow_columns.normalised(data), row_ids, start)
    _check_names(table)
    return table if sentinel is None else arrow_columns.sentinel_to_missing(table, sentinel)


def _described(data: pa.Table) -> str:
    return ", ".join(f"{field.name!r} ({field.type})" for field in data.schema)


class BatchOutputTable:
    """A table that a node writes batch by batch. Make one with `create` or `from_batches`."""

    _batches: list[Any]
    _row_ids: str
    _num_rows: int

    def __init__(self) -> None:
        raise RuntimeError("a batch output table is made by create or from_batches, not by its constructor")

    @staticmethod
    def create(row_ids: str = "keep") -> BatchOutputTable:
        """An empty table to append to.

        Args:
            row_ids: "keep": each batch brings its row ids; "generate": they are made over all batches.

        Raises:
            ValueError: `row_ids` is something else.
        """
        if row_ids not in ("keep", "generate"):
            raise ValueError(f"row_ids must be 'keep' or 'generate', not {row_ids!r}")
        output = object.__new__(BatchOutputTable)
        output._batches, output._row_ids, output._num_rows = [], row_ids, 0
        return output

    @staticmethod
    def from_batches(generator: Iterable[Any], row_ids: str = "generate") -> BatchOutputTable:
        """A table of all batches of an iterable."""
        output = BatchOutputTable.create(row_ids)
        for batch in generator:
            output.append(batch)
        return output

    def append(self, batch: Table | pd.DataFrame | pa.Table | pa.RecordBatch) -> None:
        """Adds a batch with the same columns as the ones before; all batches but the last have the same size.

        Raises:
            TypeError: The batch is something else.
            ValueError: Its columns differ from those of the first batch, it is larger than that one, or the batch
                before was smaller.
        """
        data = self._arrow(materialised(batch))
        self._check_fit(data)
        self._batches.append(data)
        self._num_rows += data.num_rows

    def _arrow(self, batch: Any) -> pa.Table:
        import pyarrow as pa

        if isinstance(batch, Table):
            data = batch.to_pyarrow()
            return (
                data
                if self._row_ids == "keep"
                else _from_arrow(data.remove_column(0), None, "generate", self._num_rows)
            )
        if isinstance(batch, (pa.Table, pa.RecordBatch)):
            return _from_arrow(batch, None, self._row_ids, self._num_rows)
        from knime_ext.runtime.knext import pandas_frames

        if not pandas_frames.is_frame(batch):
            raise TypeError(
                f"a batch is a knext.Table, pyarrow.Table, RecordBatch or pandas.DataFrame, not {type(batch).__name__}"
            )
        return _from_arrow(*pandas_frames.to_arrow(batch, None, self._row_ids), self._num_rows)

    def _check_fit(self, data: pa.Table) -> None:
        if not self._batches:
            return
        first, last = self._batches[0], self._batches[-1]
        if data.schema != first.schema:
            raise ValueError(f"the batch has the columns {_described(data)}, but the first one has {_described(first)}")
        if last.num_rows != first.num_rows or data.num_rows > first.num_rows:
            raise ValueError(
                f"all batches but the last must have {first.num_rows} rows as the first one has; "
                f"the one before has {last.num_rows}, this one {data.num_rows}"
            )

    @property
    def num_batches(self) -> int:
        """Number of batches so far."""
        return len(self._batches)

    def _table(self) -> Table:
        """The whole table."""
        import pyarrow as pa

        empty = pa.schema([("<RowID>", pa.string())])
        data = pa.concat_tables(self._batches) if self._batches else empty.empty_table()
        return Table._of(data)  # pyright: ignore[reportPrivateUsage]


def checked_output(value: Any) -> Table:
    """What a node returned for a table port, as a whole table that the next node can use.

    Args:
        value: A table, a slice of one, or a batch output table.

    Raises:
        TypeError: The value is something else.
        ValueError: Two rows have the same row id.
    """
    value = materialised(value)
    table = value._table() if isinstance(value, BatchOutputTable) else value  # pyright: ignore[reportPrivateUsage]
    if not isinstance(table, Table):
        raise TypeError(f"a table port needs a knext.Table or knext.BatchOutputTable, not {type(value).__name__}")
    _check_row_ids(table)
    return table


def _check_row_ids(table: Table) -> None:
    import pyarrow.compute as pc

    ids = table.to_pyarrow().column(0)
    if pc.count_distinct(ids).as_py() == len(ids):
        return
    counts = pc.value_counts(ids)
    double = next(entry["values"] for entry in counts.to_pylist() if entry["counts"] > 1)
    raise ValueError(f"two rows have the row id {double!r}; row ids must be unique")


def as_input(table: Table) -> Table:
    """The table as a node gets it at an input: with batches."""
    return InputTable._of(table.to_pyarrow())  # pyright: ignore[reportPrivateUsage]
