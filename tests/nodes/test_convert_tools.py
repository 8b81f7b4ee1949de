"""Convert Tools: older columns of tools become columns that hold tools of every kind."""

from typing import Any

import knime.extension as knext
import pyarrow as pa
import pytest

from knime.types.tool import MCPTool, ToolPort, WorkflowTool, WorkflowToolValueFactory
from knime_ext.extension import ConvertTools
from knime_ext.nodes.cells import tool_table
from knime_ext.nodes.columns import tool_type
from knime_ext.runtime.knext.arrow_types import LogicalExtensionType
from knime_ext.runtime.knext.contexts import ConfigurationContext, ExecutionContext
from knime_ext.runtime.knext.settings import set_parameters
from knime_ext.runtime.knext.value_types import logical_type_text
from knime_ext.tools import decode_tools
from tests.nodes.agent_bench import Bench, mcp_tool, workflow_tool

JAVA = "org.knime.core.node.agentic.tool."
PORTS = [ToolPort("rows", "The rows.", "Table", '{"columns": []}')]
RANK = WorkflowTool("rank", "Ranks.", {"n": {"type": "integer"}}, 1, PORTS, PORTS, "v1:a;v1:b")
ECHO = MCPTool("Echo", "Says it.", {"type": "object"}, "http://localhost:1/mcp", "echo")


def texts(*values: str | None) -> pa.Array:
    return pa.array(values, pa.utf8())


def older_workflow_tools(*tools: WorkflowTool | None) -> pa.Array:
    """Cells as KNIME makes them today."""
    ports = pa.list_(pa.struct([(str(at), pa.utf8()) for at in range(4)]))
    fields = [*(pa.utf8(),) * 3, ports, ports, pa.int32()]
    inner = pa.struct([(str(at), kind) for at, kind in enumerate(fields)])
    storage = pa.array(
        [WorkflowToolValueFactory().encode(tool) for tool in tools], pa.struct([("0", pa.utf8()), ("1", inner)])
    )
    return extension(storage, "WorkflowToolValueFactory")


def first_mcp_tools(*tools: MCPTool | None) -> pa.Array:
    """Cells as the first prototype for MCP tools made them."""
    kind = pa.struct([(str(at), pa.utf8()) for at in range(5)])
    cells = [
        tool and {"0": tool.name, "1": tool.description, "2": "{}", "3": tool.server_uri, "4": tool.tool_name}
        for tool in tools
    ]
    return extension(pa.array(cells, kind), "MCPToolValueFactory")


def extension(storage: pa.Array, factory: str) -> pa.Array:
    return pa.ExtensionArray.from_storage(
        LogicalExtensionType(storage.type, logical_type_text(JAVA + factory)), storage
    )


def convert(table: knext.Table, **settings: Any) -> knext.Table:
    node = ConvertTools()
    set_parameters(node, settings)
    promised = node.configure(ConfigurationContext(), table.schema)
    converted = node.execute(ExecutionContext(), table)
    assert converted.schema == promised
    return converted


def tools_of(table: knext.Table, column: str) -> list[Any]:
    return decode_tools(table.to_pyarrow().column(column))


@pytest.fixture
def mixed() -> knext.Table:
    """A table with two older columns between two others, and a missing cell in each."""
    return knext.Table.from_pyarrow(
        pa.table(
            {
                "<RowID>": ["a", "b", "c"],
                "Note": texts("x", None, "z"),
                "Flow": older_workflow_tools(RANK, None, RANK),
                "Number": pa.array([1, 2, None], pa.int64()),
                "Server": first_mcp_tools(None, ECHO, ECHO),
            }
        )
    )


def test_every_older_column_is_converted_and_all_else_is_kept(mixed: knext.Table) -> None:
    converted = convert(mixed)
    assert converted.column_names == ["Note", "Flow", "Number", "Server"]
    assert [column.ktype for column in converted.schema] == [
        knext.string(),
        tool_type(),
        knext.int64(),
        tool_type(),
    ]
    assert tools_of(converted, "Flow") == [RANK, None, RANK]
    assert [each and each.tool_name for each in tools_of(converted, "Server")] == [None, "echo", "echo"]
    arrow = converted.to_pyarrow()
    assert arrow.column("<RowID>").to_pylist() == ["a", "b", "c"]
    assert arrow.column("Note").to_pylist() == ["x", None, "z"]
    assert arrow.column("Number").to_pylist() == [1, 2, None]


def test_a_single_column_can_be_converted(mixed: knext.Table) -> None:
    converted = convert(mixed, all_columns=False, tool_column="Flow")
    assert converted.schema["Flow"].ktype == tool_type()
    assert converted.schema["Server"].ktype == mixed.schema["Server"].ktype


def test_without_a_selection_it_is_the_last_column_of_tools(mixed: knext.Table) -> None:
    converted = convert(mixed, all_columns=False)
    assert converted.schema["Flow"].ktype == mixed.schema["Flow"].ktype
    assert converted.schema["Server"].ktype == tool_type()


def test_the_two_kinds_fit_into_one_column_afterwards() -> None:
    converted = convert(knext.Table.from_pyarrow(pa.table({"Tool": older_workflow_tools(RANK)})))
    listed = tool_table([ECHO])
    assert converted.schema == listed.schema
    both = pa.concat_tables([converted.to_pyarrow(), listed.to_pyarrow()])
    assert decode_tools(both.column("Tool")) == [RANK, ECHO]


def test_columns_of_todays_type_pass_through() -> None:
    assert tools_of(convert(tool_table([ECHO, None])), "Tool") == [ECHO, None]


def test_empty_and_missing_columns_are_converted_too() -> None:
    empty = convert(knext.Table.from_pyarrow(pa.table({"Tool": older_workflow_tools()})))
    assert (empty.num_rows, empty.schema["Tool"].ktype) == (0, tool_type())
    missing = convert(knext.Table.from_pyarrow(pa.table({"Tool": older_workflow_tools(None, None)})))
    assert tools_of(missing, "Tool") == [None, None]


def test_several_batches_stay_as_they_are() -> None:
    pieces = [older_workflow_tools(RANK, None), older_workflow_tools(RANK)]
    table = knext.Table.from_pyarrow(pa.table({"Tool": pa.chunked_array(pieces)}))
    converted = convert(table)
    assert tools_of(converted, "Tool") == [RANK, None, RANK]
    assert [len(chunk) for chunk in converted.to_pyarrow().column("Tool").chunks] == [2, 1]


def test_a_damaged_cell_is_named() -> None:
    damaged = first_mcp_tools(ECHO, MCPTool("no address", "", {}))
    with pytest.raises(knext.InvalidParametersError) as caught:
        convert(knext.Table.from_pyarrow(pa.table({"Server": damaged})))
    assert "'Server'" in str(caught.value)
    assert "row 1" in str(caught.value)
    assert "server_uri" in str(caught.value)


def test_a_table_without_tools_is_refused() -> None:
    with pytest.raises(knext.InvalidParametersError) as caught:
        convert(knext.Table.from_pyarrow(pa.table({"Note": texts("x")})))
    assert str(caught.value) == "The table has no column of tools; connect a table that has one."


def test_the_agent_reads_older_columns_as_they_are() -> None:
    older = knext.Table.from_pyarrow(
        pa.table({"Note": texts("x", "y"), "Old": older_workflow_tools(workflow_tool(inputs=(), outputs=()), None)})
    )
    outcome = Bench(replies=["Fine."], tools_table=older, settings={"tool_column": "Old"}).ask()
    assert outcome.port.model.bound == [["double"]]


def test_the_agent_takes_the_last_column_of_either_kind() -> None:
    table = knext.Table.from_pyarrow(
        pa.table(
            {
                "New": tool_table([mcp_tool("echo")]).to_pyarrow().column("Tool"),
                "Old": older_workflow_tools(workflow_tool(inputs=(), outputs=())),
            }
        )
    )
    assert Bench(replies=["Fine."], tools_table=table).ask().port.model.bound == [["double"]]
    settings = {"tool_column": "New"}
    assert Bench(replies=["Fine."], tools_table=table, settings=settings).ask().port.model.bound == [["echo"]]
