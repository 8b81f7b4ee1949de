"""What leaves a run: tables at Workflow Output nodes, views, the message; as values, and as files if wanted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from knime_ext.runtime.atomic import write_text
from knime_ext.runtime.knext.table import Table
from knime_ext.runtime.port_store import write_table_file
from knime_ext.runtime.readable_cells import write_readable_csv
from knime_ext.runtime.run_folder import file_stem
from knime_ext.runtime.workflow_interface import WorkflowInterface, message_text

__all__ = ["RunExports"]


class RunExports:
    """Collects what leaves a run. Nodes that run side by side add at the same time, each to names of its own.

    Args:
        interface: What leaves the workflow.
        views: Nodes with a view.
        folder: Where files go; None for none.
    """

    def __init__(self, interface: WorkflowInterface, views: Iterable[str], folder: Path | None) -> None:
        self._interface = interface
        self._folder = folder
        self._stems: dict[str, str] = {}
        for port in interface.outputs:
            taken = {stem.casefold() for stem in self._stems.values()}
            self._stems[port.name] = file_stem(port.name, taken)
        self._views = list(views)
        self._tables: dict[str, Table] = {}
        self.pages: dict[str, str] = {}
        self.message: str | None = None

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables that left, by output name in the order of the document."""
        return {name: self._tables[name] for name in self._stems if name in self._tables}

    @property
    def files(self) -> dict[str, dict[str, dict[str, str]]]:
        """The files that the run writes: of each output its Arrow and CSV file, of each view its page."""
        outputs = {name: {"arrow": f"{stem}.arrow", "csv": f"{stem}.csv"} for name, stem in self._stems.items()}
        return {"outputs": outputs, "views": {node: {"html": f"{node}.html"} for node in self._views}}

    def collect(self, node: str, table: Table) -> None:
        """Takes the table that arrived at a Workflow Output or Tool Message Output; ignores it at any other node.

        Raises:
            ConfigurationError: A file cannot be written.
        """
        if node == self._interface.message_node:
            self.message = message_text(table)
        for port in self._interface.outputs:
            if port.node == node:
                self._export(port.name, table)
                self._tables[port.name] = table

    def _export(self, name: str, table: Table) -> None:
        if self._folder is not None:
            stem = self._stems[name]
            write_table_file(table, self._folder / f"{stem}.arrow", durable=True)
            write_readable_csv(table.to_pyarrow(), self._folder / f"{stem}.csv")

    def show(self, node: str, page: str) -> None:
        """Takes the view of a node.

        Raises:
            ConfigurationError: Its file cannot be written.
        """
        if self._folder is not None:
            write_text(self._folder / f"{node}.html", page)
        self.pages[node] = page
