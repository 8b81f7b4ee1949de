"""Data frames on their way into and out of tables. pandas is optional: nothing else here needs it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from knime_ext.runtime.knext import value_types
from knime_ext.runtime.knext.arrow_columns import ROW_ID
from knime_ext.runtime.knext.arrow_types import UnsupportedColumn

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["is_frame", "to_arrow", "to_frame"]


def _pandas() -> Any:
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pandas is not installed; install it with: pip install 'knime-mcp[pandas]'", name="pandas"
        ) from error
    return pandas


def is_frame(value: Any) -> bool:
    """Whether a value is a data frame; pandas is not imported for that."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, pandas.DataFrame)


def _typed(column: Any) -> Any:
    """Gives a column of objects the dtype of its first object, if cells can hold that."""
    if column.dtype != object:
        return column
    present = column.dropna()
    if not len(present):
        return column
    try:
        dtype = value_types.logical(type(present.iloc[0])).to_pandas()
    except TypeError:
        return column
    # Dates and times need no objects: Arrow has types for them.
    if dtype.logical_type.value_type.startswith("datetime."):
        return column
    return column.astype(dtype)


def _row_ids(frame: Any, row_ids: str) -> list[str]:
    if row_ids == "auto" and frame.index.dtype.kind in "iu":
        return [f"Row{i}" for i in frame.index]
    return [str(i) for i in frame.index]


def to_arrow(frame: Any, sentinel: str | int | None, row_ids: str) -> tuple[pa.Table, str | int | None, str]:
    """The frame as Arrow data, with the sentinel and the way to get row ids that are left to apply.

    Raises:
        UnsupportedColumn: A column holds objects that cells cannot hold.
        ValueError: It is no data frame, or `row_ids` is unknown.
    """
    if not is_frame(frame):
        raise ValueError(f"Table.from_pandas takes a pandas.DataFrame, not {type(frame).__name__}")
    if row_ids not in ("auto", "keep", "generate"):
        raise ValueError(f"row_ids must be 'auto', 'keep' or 'generate', not {row_ids!r}")
    names = [str(name) for name in frame.columns]
    columns = [_column(name, frame.iloc[:, i]) for i, name in enumerate(names)]
    if row_ids == "generate" or frame.shape == (0, 0):
        return pa.table(columns, names=names), sentinel, "generate"
    ids = pa.array(_row_ids(frame, row_ids), pa.string())
    return pa.table([ids, *columns], names=[ROW_ID, *names]), sentinel, "keep"


def _column(name: str, column: Any) -> Any:
    try:
        return pa.array(_typed(column), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise UnsupportedColumn(
            f"column {name!r} holds objects that cells cannot hold ({error}); "
            "give it a dtype, for example with knext.logical(T).to_pandas()"
        ) from error


def to_frame(data: pa.Table) -> pd.DataFrame:
    """The Arrow data of a table as a data frame with the row ids as its index.

    Raises:
        ModuleNotFoundError: pandas is not installed.
    """
    pandas = _pandas()
    text = pandas.StringDtype()

    def mapped(dtype: pa.DataType) -> Any:
        return text if dtype == pa.string() else None

    return data.to_pandas(types_mapper=mapped).set_index(ROW_ID)
