"""Reads what the Java tests wrote. `make java` runs both sides; without it these tests are skipped and say so."""

import os
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pytest

from knime.types.tool import CellReader, Tool, WorkflowToolValueFactory
from knime_ext.tools import decode_tools
from tests.cross_language.columns import DIGEST_FILE, Column, OlderColumn, columns, golden_digest, older_columns

JAVA = Path(__file__).parent.parent.parent / "java-stub"
EXCHANGE = Path(os.environ.get("KNIME_MCP_EXCHANGE", JAVA / "target" / "exchange"))


def _why_not() -> str:
    """Why there is nothing to read; empty if there is. `make java` wants to fail then instead."""
    if os.environ.get("KNIME_MCP_JAVA") == "required":
        return ""
    if not list(EXCHANGE.glob("java-*.arrow")):
        return "the Java side has written no files: run `make java` (needs a JDK 17 and Maven)"
    digest = EXCHANGE / DIGEST_FILE
    if not digest.exists() or digest.read_text(encoding="utf-8") != golden_digest():
        return "the files of the Java side are of another golden file: run `make java` again"
    return ""


pytestmark = pytest.mark.skipif(bool(_why_not()), reason=_why_not())


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
        field: Any = pa.ipc.open_file(source).schema.field(1)
    if isinstance(field.type, pa.ExtensionType):  # another test in this process may have registered it
        found = field.type.__arrow_ext_serialize__()
    else:
        found = field.metadata[b"ARROW:extension:metadata"]
    assert found == b'{"value_factory_class":"org.knime.core.node.agentic.tool.ToolValueFactory"}'


def test_the_jar_holds_our_classes_and_no_stand_in() -> None:
    (jar,) = (JAVA / "target").glob("knime-mcp-java-*.jar")
    with zipfile.ZipFile(jar) as archive:
        names = {PurePosixPath(name) for name in archive.namelist() if not name.endswith("/")}
    shipped = {name for name in names if name.suffix == ".class"}
    sources = JAVA / "src" / "main" / "java"
    ours = {PurePosixPath(path.relative_to(sources).as_posix()) for path in sources.rglob("*.java")}
    assert {name.with_name(name.stem.partition("$")[0] + ".java") for name in shipped} == ours
    assert PurePosixPath("plugin.xml") in names
