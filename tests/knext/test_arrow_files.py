"""Tables in Arrow IPC files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from knime.types.tool import MCPTool, Tool
from knime_ext.errors import ConfigurationError
from knime_ext.runtime import knext
from knime_ext.runtime.knext.arrow_files import read_table, write_table
from knime_ext.tools import encode_tools


def sample() -> knext.Table:
    tools: list[Tool | None] = [MCPTool("echo", "Says it.", {}, server_uri="http://localhost/mcp"), None]
    dtype = cast("Any", knext.logical(Tool).to_pyarrow())
    column: Any = pa.ExtensionArray.from_storage(dtype, encode_tools(tools).cast(dtype.storage_type))
    return knext.Table.from_pyarrow(pa.table({"<RowID>": ["p", "q"], "t": column, "n": [1, None]}))


def test_a_table_survives_its_file(tmp_path: Path) -> None:
    write_table(sample(), tmp_path / "table.arrow")
    back = read_table(tmp_path / "table.arrow")
    assert back.schema == sample().schema
    assert back.to_pyarrow().to_pylist() == sample().to_pyarrow().to_pylist()
    assert back.num_batches == 1


def test_a_written_file_is_plain_arrow_with_the_extension_type_of_knime(tmp_path: Path) -> None:
    write_table(sample(), tmp_path / "table.arrow")
    with pa.ipc.open_file(str(tmp_path / "table.arrow")) as reader:
        field: Any = reader.schema.field("t")
    assert field.type.extension_name == "knime.logical_type"
    text = '{"value_factory_class":"org.knime.core.node.agentic.tool.ToolValueFactory"}'
    assert field.type.__arrow_ext_serialize__().decode() == text
    assert pa.types.is_struct(field.type.storage_type)


def test_an_empty_table_keeps_its_columns(tmp_path: Path) -> None:
    write_table(sample()[:, :0].get(), tmp_path / "empty.arrow")
    back = read_table(tmp_path / "empty.arrow")
    assert (back.shape, back.schema) == ((2, 0), sample().schema)


def test_uneven_chunks_become_even_batches(tmp_path: Path) -> None:
    rows = 150_000
    big = knext.Table.from_pyarrow(pa.table({"a": pa.array(range(rows))}))
    write_table(big, tmp_path / "big.arrow")
    back = read_table(tmp_path / "big.arrow")
    assert [batch.num_rows for batch in back.batches()] == [65_536, 65_536, rows - 2 * 65_536]
    assert knext.Table.from_pyarrow(back.to_pyarrow()).num_rows == rows


def test_many_small_or_large_chunks_become_even_batches(tmp_path: Path) -> None:
    for size in (10, 5_000, 70_000):
        chunk = pa.table({"a": pa.array(range(size))})
        write_table(knext.Table.from_pyarrow(pa.concat_tables([chunk] * 3)), tmp_path / "chunks.arrow")
        sizes = [batch.num_rows for batch in read_table(tmp_path / "chunks.arrow").batches()]
        assert sum(sizes) == 3 * size
        assert len(set(sizes[:-1])) <= 1
        assert len(sizes) < 5


def test_reading_maps_the_file_instead_of_loading_it(tmp_path: Path) -> None:
    write_table(knext.Table.from_pyarrow(pa.table({"a": pa.array(range(500_000))})), tmp_path / "big.arrow")
    before = pa.total_allocated_bytes()
    table = read_table(tmp_path / "big.arrow")
    assert pa.total_allocated_bytes() - before < 100_000
    assert table[:, -1:].to_pyarrow()["a"].to_pylist() == [499_999]


def test_a_file_without_row_ids_gets_some(tmp_path: Path) -> None:
    data = pa.table({"a": pa.array(["x", "y"], pa.large_string())})
    with pa.ipc.new_file(str(tmp_path / "foreign.arrow"), data.schema) as writer:
        writer.write_table(data)
    table = read_table(tmp_path / "foreign.arrow")
    assert table.to_pyarrow().to_pydict() == {"<RowID>": ["Row0", "Row1"], "a": ["x", "y"]}


def test_a_missing_file_and_one_that_is_no_table_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot read the table '.*nothing\.arrow': No such file"):
        read_table(tmp_path / "nothing.arrow")
    (tmp_path / "text.arrow").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"text\.arrow' is no Arrow IPC file"):
        read_table(tmp_path / "text.arrow")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "table.arrow"
    target.mkdir()
    with pytest.raises(ConfigurationError, match="cannot write"):
        write_table(sample(), target)
    assert [path.name for path in tmp_path.iterdir()] == ["table.arrow"]
