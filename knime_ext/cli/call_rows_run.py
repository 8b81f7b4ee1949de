"""Calls a tool for every row of a table in a file, and writes the results into another.

The rows go through the node Tool Caller, in a workflow of two inputs and one output that is made here.
"""

from __future__ import annotations

import base64
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from knime_ext.cli.progress import watched
from knime_ext.cli.row_files import checked_suffix, read_rows, write_rows
from knime_ext.cli.terminal import counted
from knime_ext.cli.tool_file import read_tools
from knime_ext.errors import ConfigurationError, InvalidArguments
from knime_ext.runtime import NodeRegistry, run_workflow
from knime_ext.runtime.document import Workflow
from knime_ext.runtime.knext.arrow_types import UnsupportedColumn
from knime_ext.runtime.knext.table import Table

if TYPE_CHECKING:
    from knime.types.tool import Tool
    from knime_ext.runtime.events import Event

__all__ = ["CallOptions", "call_and_write"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """What the words of `knime-mcp tools call-rows` mean."""

    server: str
    tool: str
    rows: Path
    out: Path
    constants: Sequence[str]
    columns: Sequence[str]
    limits: Mapping[str, Any]
    fail: bool

    @property
    def run_folder(self) -> Path:
        """Where finished rows are kept until all are finished."""
        return self.out.with_name(f"{self.out.name}.run")


def call_and_write(options: CallOptions) -> None:
    """Does everything: reads, calls, writes, and says what came of it.

    Raises:
        KnimeExtError: A file, an argument or the tool is wrong; nothing was called then. Or a row failed that must not.
    """
    checked_suffix(options.out)
    NodeRegistry.load()  # provides what the tables of nodes need
    rows = _rows(options.rows)
    document = _document(options)
    inputs = {"tools": _tools(options.server), "rows": rows}
    with watched() as show:

        def show_calls(event: Event) -> None:
            if getattr(event, "node", None) == "call":  # the other nodes are nothing that anybody has drawn
                show(event)

        result = run_workflow(document, base_dir=Path.cwd(), inputs=inputs, out=options.run_folder, events=show_calls)
    table = result.workflow_outputs["results"].to_pyarrow().drop_columns(["<RowID>"])
    failed = 0 if options.fail else _failed(table, rows)
    written = _plain(table, as_text=checked_suffix(options.out) == ".csv")
    write_rows(options.out, written.schema, written.to_batches())
    shutil.rmtree(options.run_folder, ignore_errors=True)
    print(f"{counted(table.num_rows, 'row')} written to {options.out}")
    if failed:
        print(f"{counted(failed, 'call')} failed; the error column says why.", file=sys.stderr)


def _document(options: CallOptions) -> Workflow:
    arguments = [
        *({"argument": name, "constant": value} for name, value in map(_pair, options.constants)),
        *({"argument": name, "column": value} for name, value in map(_pair, options.columns)),
    ]
    settings = {
        "tool_name": options.tool,
        "arguments": arguments,
        "limits": options.limits,
        "errors": {"error_handling": "FAIL" if options.fail else "COLUMN"},
    }
    ends = [("tools", "WorkflowInput"), ("rows", "WorkflowInput"), ("results", "WorkflowOutput")]
    nodes: list[dict[str, Any]] = [
        *({"id": name, "factory": kind, "settings": {"parameter_name": name}} for name, kind in ends),
        {"id": "call", "factory": "ToolCaller", "settings": settings},
    ]
    connections = [
        {"from": ["tools", 0], "to": ["call", 0]},
        {"from": ["rows", 0], "to": ["call", 1]},
        {"from": ["call", 0], "to": ["results", 0]},
    ]
    document = {"format": 1, "name": "Calls", "nodes": nodes, "connections": connections}
    return Workflow.model_validate(document)


def _pair(word: str) -> tuple[str, str]:
    name, found, value = word.partition("=")
    if not found or not name:
        raise InvalidArguments(f"{word!r} is no argument; write name=value")
    return name, value


def _rows(path: Path) -> Table:
    source = read_rows(path)
    names = [name for name in source.schema.names if name != "<RowID>"]
    schema = pa.schema([source.schema.field(name) for name in names])
    try:
        return Table.from_pyarrow(pa.Table.from_batches(source.batches(names), schema))
    except UnsupportedColumn as error:
        raise ConfigurationError(f"the file {str(path)!r}: {error}") from None


def _tools(server: str) -> Table:
    """The tools of a server, or of a file."""
    from knime_ext.runtime.platform.tool_columns import tool_table

    if server.endswith(".arrow"):
        decoded = read_tools(Path(server))
        if decoded.damaged:
            raise ConfigurationError(f"the file {server!r} has a damaged tool in {decoded.damaged[0]}; make it again")
        tools: list[Tool] = [tool for tool in decoded.tools if tool is not None]
        return tool_table(tools)
    from knime_ext.cli.tools import tools_of_server
    from knime_ext.mcp import MCPToolCaller

    with MCPToolCaller() as caller:
        return tool_table(tools_of_server(caller, server))


def _failed(table: pa.Table, rows: Table) -> int:
    """How many rows have no result: every result has a text, and it stands right behind the columns of the data."""
    return table.column(len(rows.column_names)).null_count


def _plain(table: pa.Table, *, as_text: bool) -> pa.Table:
    """The table with bytes as bytes, or as base64 where a file can only hold texts."""
    for place, field in enumerate(table.schema):
        if isinstance(field.type, pa.BaseExtensionType) and pa.types.is_large_binary(field.type.storage_type):
            column = pa.chunked_array([chunk.storage for chunk in table.column(place).chunks], pa.large_binary())
            if as_text:
                cells = [
                    None if cell is None else base64.b64encode(cell).decode("ascii") for cell in column.to_pylist()
                ]
                column = pa.chunked_array([pa.array(cells, pa.utf8())])
            table = table.set_column(place, field.name, column)
    return table
