"""Reads what the Java tests wrote. `make java` runs both sides; without it these tests are skipped and say so."""

import os
from pathlib import Path

import pyarrow as pa
import pytest

from knime.types.tool import CellReader, Tool, WorkflowToolValueFactory
from knime_ext.tools import decode_tools
from tests.cross_language.columns import Column, OlderColumn, columns, older_columns

ROOT = Path(__file__).parent.parent.parent
EXCHANGE = Path(os.environ.get("KNIME_MCP_EXCHANGE", ROOT / "java-stub" / "target" / "exchange"))

pytestmark = pytest.mark.skipif(
    not list(EXCHANGE.glob("java-*.arrow")),
    reason="the Java side has written no files: run `make java` (needs a JDK 17 and Maven)",
)


def _read(name: str) -> pa.Table:
    with pa.memory_map(str(EXCHANGE / f"{name}.arrow")) as source:
        return pa.ipc.open_file(source).read_all()


def _check_rows(table: pa.Table, rows: int, batch: int) -> None:
    assert table.column(0).to_pylist() == [f"Row{row}" for row in range(rows)]
    assert [len(chunk) for chunk in table.column(1).chunks if len(chunk)] == [
        min(batch, rows - start) for start in range(0, rows, batch)
    ]


def _expected(column: Column) -> list[Tool | None]:
    reader = CellReader()
    return [None if cell is None else reader.tool(cell) for cell in column.cells]


# Made in Java; read from a file of Python's and kept as cells; copied from there without becoming cells.
@pytest.mark.parametrize("way", ["made", "kept", "copied"])
@pytest.mark.parametrize("column", columns(), ids=lambda column: column.name)
def test_python_reads_the_tools_that_java_wrote(column: Column, way: str) -> None:
    table = _read(f"java-{way}-{column.name}")
    _check_rows(table, len(column.cells), column.batch)
    assert decode_tools(table.column(1)) == _expected(column)


@pytest.mark.parametrize("column", columns(), ids=lambda column: column.name)
def test_java_keeps_every_field_as_it_was_stored(column: Column) -> None:
    stored = _read(f"java-copied-{column.name}").column(1).to_pylist()
    assert [None if cell is None else tuple(cell.values()) for cell in stored] == list(column.cells)


@pytest.mark.parametrize("way", ["made", "copied"])
@pytest.mark.parametrize("column", older_columns(), ids=lambda column: column.name)
def test_python_reads_the_older_layout_that_java_wrote(column: OlderColumn, way: str) -> None:
    table = _read(f"java-{way}-{column.name}")
    _check_rows(table, len(column.cells), column.batch)
    older = WorkflowToolValueFactory()
    assert decode_tools(table.column(1)) == [older.decode(cell) for cell in column.cells]


def test_java_names_the_value_factory_of_a_column() -> None:
    with pa.memory_map(str(EXCHANGE / "java-made-mixed.arrow")) as source:
        field = pa.ipc.open_file(source).schema.field(1)
    named = field.type.__arrow_ext_serialize__() if isinstance(field.type, pa.ExtensionType) else None
    found = named or (field.metadata or {})[b"ARROW:extension:metadata"]
    assert found == b'{"value_factory_class":"org.knime.core.node.agentic.tool.ToolValueFactory"}'
