"""What lies on the output ports during a run: tables in files, other objects in memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.atomic import atomic_file, cannot_write
from knime_ext.runtime.events import PortSize
from knime_ext.runtime.knext.arrow_files import read_table, write_table
from knime_ext.runtime.knext.table import Table
from knime_ext.runtime.plan import Source
from knime_ext.runtime.run_folder import RunFolder

__all__ = ["PortStore", "write_table_file"]


def write_table_file(table: Table, path: Path, *, durable: bool) -> None:
    """Writes a table so that its file appears whole or not at all.

    Raises:
        ConfigurationError: The file cannot be written.
    """
    try:
        with atomic_file(path, durable=durable) as partial:
            write_table(table, partial)
    except ConfigurationError as error:
        if isinstance(error.__cause__, OSError):  # it names the temporary file
            raise cannot_write(path, error.__cause__) from error.__cause__
        raise


class PortStore:
    """The outputs of a run's nodes. Nodes that run side by side put and get at the same time."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._values: dict[tuple[str, int], Any] = {}

    def put(self, node: str, outputs: tuple[Any, ...]) -> tuple[PortSize, ...]:
        """Keeps the outputs of a node: one per port, a list for a group. Returns the sizes of the tables.

        Raises:
            ConfigurationError: A table cannot be written.
        """
        sizes: list[PortSize] = []
        kept: list[Any] = []
        for port, value in enumerate(outputs):
            if isinstance(value, list):
                members = cast("list[Any]", value)
                kept.append([self._keep(node, port, slot, each, sizes) for slot, each in enumerate(members)])
            else:
                kept.append(self._keep(node, port, None, value, sizes))
        # Only when all of them are written: a node has either all of its outputs or none.
        self._values.update({(node, port): value for port, value in enumerate(kept)})
        return tuple(sizes)

    def _keep(self, node: str, port: int, slot: int | None, value: Any, sizes: list[PortSize]) -> Any:
        if not isinstance(value, Table):
            return value
        path = self._folder.table_path(node, port, slot)
        write_table_file(value, path, durable=self._folder.durable)
        sizes.append(PortSize(port=port, slot=slot or 0, rows=value.num_rows, columns=value.num_columns))
        return _TableFile(path)

    def get(self, source: Source) -> Any:
        """What a connection carries. Every reader of a table gets a mapping of its own."""
        value = self._values[source.node, source.port]
        return _opened(value[source.slot] if isinstance(value, list) else value)

    def opened(self) -> Mapping[tuple[str, int], Any]:
        """Everything that was put: node and port to object, a list for a group of ports."""
        return {
            key: [_opened(each) for each in value] if isinstance(value, list) else _opened(value)  # pyright: ignore[reportUnknownVariableType]
            for key, value in self._values.items()
        }


class _TableFile:
    """A table that lies in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path


def _opened(value: Any) -> Any:
    return read_table(value.path) if isinstance(value, _TableFile) else value
