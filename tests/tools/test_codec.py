import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime.types.tool import Field, MCPTool, Tool, ToolPort, ToolValueFactory, WorkflowTool, WorkflowToolValueFactory
from knime_ext.errors import ConfigurationError, DamagedCell
from knime_ext.tools import decode_tools, encode_tools
from knime_ext.tools.codec import TOOL_STRUCT

GOLDEN = Path(__file__).parent.parent / "golden" / "tool_struct.json"

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
names = texts.filter(bool)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, json_values, max_size=4)
ports = st.builds(ToolPort, names, texts, names, st.none() | texts)
workflow_tools = st.builds(
    WorkflowTool,
    name=names,
    description=texts,
    parameter_schema=objects,
    message_output_port_index=st.integers(-1, 5),
    input_ports=st.lists(ports, max_size=2),
    output_ports=st.lists(ports, max_size=2),
    _filestore_keys=names,
)
mcp_tools = st.builds(
    MCPTool,
    name=names,
    description=texts,
    parameter_schema=objects,
    server_uri=st.just("https://example.org/mcp") | st.just("stdio:files"),
    tool_name=names,
    provider=st.none() | names,
    annotations=st.none() | objects.filter(bool),
    fingerprint=st.none() | names,
    output_schema=st.none() | objects,
)
cells = st.none() | workflow_tools | mcp_tools


@given(st.lists(cells, max_size=8))
def test_a_column_decodes_to_the_tools_that_were_encoded(tools: list[Tool | None]) -> None:
    assert decode_tools(encode_tools(tools)) == tools


@given(st.lists(cells, max_size=8))
def test_the_column_codec_agrees_with_the_value_factory_value_for_value(tools: list[Tool | None]) -> None:
    factory = ToolValueFactory()
    column = encode_tools(tools)
    assert column.to_pylist() == [factory.encode(tool) for tool in tools]
    assert decode_tools(column) == [factory.decode(cell) for cell in column.to_pylist()]


@given(st.lists(cells, min_size=2, max_size=8), st.data())
def test_a_sliced_or_chunked_column_decodes_as_the_whole(tools: list[Tool | None], data: st.DataObject) -> None:
    column, cut = encode_tools(tools), data.draw(st.integers(0, len(tools)))
    assert decode_tools(column.slice(cut)) == tools[cut:]
    assert decode_tools(pa.chunked_array([column.slice(0, cut), column.slice(cut)], column.type)) == tools


def test_the_storage_type_is_the_one_in_the_golden_file() -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    kinds = {"int8": pa.int8(), "int32": pa.int32(), "utf8": pa.utf8()}
    assert TOOL_STRUCT == pa.struct([(str(field["index"]), kinds[field["arrow"]]) for field in golden["fields"]])
    assert [field["name"] for field in golden["fields"]] == [at.label for at in Field]


def test_columns_of_the_older_layouts_are_read() -> None:
    tool = WorkflowTool("old", "d", {"p": {"type": "string"}}, 0, [ToolPort("in", "d", "Table", "")], [], "v1:a")
    two_level = pa.array([WorkflowToolValueFactory().encode(tool), None])
    assert decode_tools(two_level) == [tool, None]
    keys = ("name", "description", "{}", "http://127.0.0.1/sse", "wire", None, None)
    prototype = pa.array([dict(zip("0123456", keys, strict=True))])
    assert decode_tools(prototype) == [MCPTool("name", "description", {}, "http://127.0.0.1/sse", "wire")]


def _damaged_column() -> pa.StructArray:
    good = MCPTool("good", "", {}, "https://example.org/mcp")
    cell = ToolValueFactory().encode(good) or {}
    changes: list[dict[str, Any]] = [{}, {"0": 7}, {"3": "{"}, {"4": "[]"}, {"8": None}, {"0": 0}, {"1": None}, {}]
    return pa.array([cell | change for change in changes], TOOL_STRUCT)


def test_a_damaged_cell_names_row_field_and_reason() -> None:
    with pytest.raises(DamagedCell, match=r"row 1, field 'tool_type': unknown tool type 7"):
        decode_tools(_damaged_column())


def test_the_other_rows_still_decode_when_the_caller_asks_for_a_report() -> None:
    decoded = decode_tools(_damaged_column(), on_damage="report")
    assert [tool is not None for tool in decoded.tools] == [True] + [False] * 6 + [True]
    assert [(cell.row, cell.field) for cell in decoded.damaged] == [
        (1, "tool_type"),
        (2, "parameter_schema"),
        (3, "input_spec"),
        (4, "server_uri"),
        (5, "workflow_filestore"),
        (6, "name"),
    ]
    assert "is not JSON" in decoded.damaged[1].reason


def test_rows_are_counted_over_all_chunks() -> None:
    good = encode_tools([MCPTool("a", "", {}, "https://example.org/mcp")] * 3)
    with pytest.raises(DamagedCell, match="row 4"):
        decode_tools(pa.chunked_array([good, _damaged_column()]))


def test_a_column_that_holds_no_tools_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="holds no tools"):
        decode_tools(pa.array(["a"]))
    with pytest.raises(ConfigurationError, match="is no tool"):
        decode_tools(pa.array([{"a": 1}]))


def test_an_address_with_a_password_is_never_written() -> None:
    tool = MCPTool("a", "", {}, "https://user:secret@example.org/mcp")
    with pytest.raises(DamagedCell, match="server_uri") as caught:
        encode_tools([tool])
    assert "secret" not in str(caught.value)


def test_equal_schemas_of_one_column_are_parsed_once() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    first, second = decode_tools(encode_tools([MCPTool(name, "", schema, "https://e.org") for name in "ab"]))
    assert first is not None
    assert second is not None
    assert first.parameter_schema is second.parameter_schema
