"""Between the tables that nodes exchange and the Arrow tables that the platform nodes compute with.

Dates and times come in two forms, Arrow's own and KNIME's logical types; here they always become Arrow's own, so that
they compare, join and concatenate. The way back needs nothing: a table takes both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import knime.extension as knext
import pyarrow as pa
import pyarrow.compute as pc

from knime_ext.runtime.knext.arrow_types import LogicalExtensionType, arrow_type
from knime_ext.runtime.knext.time_types import DURATION, LOCAL_DATE, LOCAL_DATE_TIME, LOCAL_TIME
from knime_ext.runtime.platform.arrow_columns import ROW_ID, storage_of

__all__ = ["empty_arrow", "knime_schema", "knime_table", "to_arrow"]

_DAY = 86_400_000_000
_SECOND = 1_000_000


def to_arrow(table: knext.Table) -> pa.Table:
    """The rows of a node's input, `<RowID>` first."""
    return _with_arrow_times(table.to_pyarrow())


def empty_arrow(schema: knext.Schema) -> pa.Table:
    """A table of these columns without rows: what a node's `configure` computes with."""
    fields = [pa.field(ROW_ID, pa.string()), *(pa.field(each.name, arrow_type(each.ktype)) for each in schema)]
    arrays: list[Any] = [_empty(field.type) for field in fields]
    return _with_arrow_times(pa.Table.from_arrays(arrays, schema=pa.schema(fields)))


def knime_table(table: pa.Table) -> knext.Table:
    """A node's output. Row ids are numbered unless the first column is `<RowID>`."""
    return knext.Table.from_pyarrow(table.combine_chunks())


def knime_schema(table: pa.Table) -> knext.Schema:
    """The columns that `knime_table` would give."""
    return knext.Table.from_pyarrow(table.slice(0, 0).combine_chunks()).schema


def _empty(kind: pa.DataType) -> pa.Array:
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.array([], kind.storage_type))
    return pa.array([], kind)


def _with_arrow_times(table: pa.Table) -> pa.Table:
    for position, field in enumerate(table.schema):
        convert = _TIMES.get(field.type.logical_type) if isinstance(field.type, LogicalExtensionType) else None
        if convert is not None:
            table = table.set_column(position, field.name, convert(storage_of(table.column(position))))
    return table


def _dates(storage: pa.ChunkedArray) -> Any:
    return pc.cast(pc.cast(storage, pa.int32()), pa.date32())


def _times(storage: pa.ChunkedArray) -> Any:
    return pc.cast(storage, pa.time64("ns"))


def _dates_with_time(storage: pa.ChunkedArray) -> Any:
    days, nanos = pc.struct_field(storage, ["0"]), pc.struct_field(storage, ["1"])
    return pc.cast(pc.add(pc.multiply(days, _DAY), pc.divide(nanos, 1000)), pa.timestamp("us"))


def _durations(storage: pa.ChunkedArray) -> Any:
    seconds, nanos = pc.struct_field(storage, ["0"]), pc.cast(pc.struct_field(storage, ["1"]), pa.int64())
    return pc.cast(pc.add(pc.multiply(seconds, _SECOND), pc.divide(nanos, 1000)), pa.duration("us"))


_TIMES: dict[str, Callable[[pa.ChunkedArray], Any]] = {
    LOCAL_DATE.logical_type: _dates,
    LOCAL_TIME.logical_type: _times,
    LOCAL_DATE_TIME.logical_type: _dates_with_time,
    DURATION.logical_type: _durations,
}
