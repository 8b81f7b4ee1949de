"""Writes the tool columns that the Java tests read: `python -m tests.cross_language.write_files FOLDER`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from knime.types.tool import CellReader, Tool, WorkflowTool, WorkflowToolValueFactory
from knime_ext.tools import encode_tools
from knime_ext.tools.codec import TOOL_STRUCT
from tests.cross_language.columns import DIGEST_FILE, columns, golden_digest, older_columns

__all__ = ["write_files"]

_FACTORIES = "org.knime.core.node.agentic.tool."
_TEXT = pa.utf8()
_PORTS = pa.list_(pa.struct([(str(index), _TEXT) for index in range(4)]))
_OLDER_STRUCT = pa.struct(
    [
        ("0", _TEXT),
        ("1", pa.struct([("0", _TEXT), ("1", _TEXT), ("2", _TEXT), ("3", _PORTS), ("4", _PORTS), ("5", pa.int32())])),
    ]
)


def write_files(folder: Path) -> None:
    """Writes one Arrow IPC file per column of the golden file, as KNIME's Python side lays them out.

    Three kinds of file: what the codec makes of the tools, the stored fields as they are (nulls included), and
    the older layout.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for stale in folder.glob("*.arrow"):
        stale.unlink()
    (folder / DIGEST_FILE).write_text(golden_digest(), encoding="utf-8")
    reader = CellReader()
    for column in columns():
        tools: list[Tool | None] = [None if cell is None else reader.tool(cell) for cell in column.cells]
        _write(folder / f"python-encoded-{column.name}.arrow", encode_tools(tools), "ToolValueFactory", column.batch)
        stored = pa.array([_storage(cell) for cell in column.cells], TOOL_STRUCT)
        _write(folder / f"python-stored-{column.name}.arrow", stored, "ToolValueFactory", column.batch)
    older = WorkflowToolValueFactory()
    for column in older_columns():
        stored = pa.array([older.encode(_workflow_tool(older.decode(cell))) for cell in column.cells], _OLDER_STRUCT)
        _write(folder / f"python-older-{column.name}.arrow", stored, "WorkflowToolValueFactory", column.batch)


def _storage(cell: Sequence[Any] | None) -> dict[str, Any] | None:
    return None if cell is None else {str(index): value for index, value in enumerate(cell)}


def _workflow_tool(tool: Tool | None) -> WorkflowTool | None:
    assert tool is None or isinstance(tool, WorkflowTool)
    return tool


def _write(path: Path, tools: pa.Array, factory: str, batch: int) -> None:
    logical = json.dumps({"value_factory_class": _FACTORIES + factory}, separators=(",", ":"))
    metadata = {"ARROW:extension:name": "knime.logical_type", "ARROW:extension:metadata": logical}
    schema = pa.schema([pa.field("<RowID>", _TEXT), pa.field("Tool", tools.type, metadata=metadata)])
    rows = pa.array([f"Row{row}" for row in range(len(tools))], _TEXT)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for start in range(0, len(tools), batch):
            writer.write_batch(
                pa.RecordBatch.from_arrays([rows.slice(start, batch), tools.slice(start, batch)], schema=schema)
            )


if __name__ == "__main__":
    write_files(Path(sys.argv[1]))
