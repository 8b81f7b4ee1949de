"""Tables as Arrow IPC files: written whole or not at all, read by memory mapping."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.atomic import atomic_file
from knime_ext.runtime.knext import arrow_columns, arrow_types
from knime_ext.runtime.knext.table import InputTable, Table

__all__ = ["read_table", "write_table"]

_ROWS_PER_BATCH = 65_536
_FEWEST_ROWS = 4_096

# Reading needs the extension type of logical columns, which that module registers with Arrow.
assert arrow_types.LogicalExtensionType


def write_table(table: Table, path: str | os.PathLike[str]) -> None:
    """Writes a table as an Arrow IPC file; the file appears when it is complete.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    data = _rebatched(table.to_pyarrow())
    with atomic_file(Path(path), durable=False) as partial, pa.ipc.new_file(str(partial), data.schema) as writer:
        writer.write_table(data, max_chunksize=_ROWS_PER_BATCH)


def _rebatched(data: pa.Table) -> pa.Table:
    """The data in chunks that become batches of even size; copied only where they are not."""
    first = data.to_batches()[0].num_rows if data.num_rows else 0
    fits = _FEWEST_ROWS <= first <= _ROWS_PER_BATCH and arrow_columns.has_even_chunks(data)
    return data if fits else data.combine_chunks()


def read_table(path: str | os.PathLike[str]) -> Table:
    """Reads a table from an Arrow IPC file without loading it: columns come from the disk as they are needed.

    A file without row ids gets "Row0", "Row1" and so on.

    Raises:
        ConfigurationError: There is no such file, or it is no Arrow IPC file.
        TypeError: A column has a type that tables cannot hold.
    """
    try:
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
            data = reader.read_all()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise ConfigurationError(f"cannot read the table {str(path)!r}: {reason}; check the path") from error
    except ValueError as error:  # Arrow's own, and broken metadata of extension types
        raise ConfigurationError(
            f"{str(path)!r} is no Arrow IPC file; write it with write_table, or pyarrow.ipc.new_file"
        ) from error
    return InputTable._of(arrow_columns.with_row_ids(arrow_columns.normalised(data), "auto"))  # pyright: ignore[reportPrivateUsage]
