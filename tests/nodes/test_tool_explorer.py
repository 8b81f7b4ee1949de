"""Tool Explorer: what is in a tool, as plain columns that table nodes understand."""

import json
import time
from pathlib import Path
from typing import Any

import knime.extension as knext
import pyarrow as pa
import pytest

from knime.types.tool import MCPTool, ToolPort, WorkflowTool
from knime_ext.extension import ToolExplorer
from knime_ext.nodes.cells import tool_table
from knime_ext.nodes.columns import tool_type
from knime_ext.runtime import run_workflow
from knime_ext.runtime.document import Workflow
from knime_ext.runtime.knext.contexts import ConfigurationContext, ExecutionContext, NodeHost
from knime_ext.runtime.knext.settings import set_parameters
from knime_ext.tools import ToolDefinition, decode_tools, encode_tools, estimated_tokens, workflow_arguments_schema
from tests.nodes.test_convert_tools import older_workflow_tools

CONVERT = MCPTool(
    "Convert currency",
    "Converts an amount, auch in €.",
    {
        "type": "object",
        "properties": {"amount": {"type": "number"}, "to": {"type": "string", "default": "EUR"}},
        "required": ["amount"],
    },
    "https://example.org/mcp",
    "convert_currency",
    provider="bank",
    annotations={"readOnlyHint": True, "openWorldHint": False, "destructiveHint": "perhaps"},
    fingerprint="ab" * 32,
    output_schema={"type": "object", "properties": {"result": {"type": "number"}}},
)
RANK = WorkflowTool(
    "rank",
    "Ranks.",
    {"n": {"type": "integer", "default": 3}, "by": {"type": "string", "default": None}},
    0,
    [ToolPort("orders", "The orders.", "Table", ""), ToolPort("customers", "", "Table", "")],
    [ToolPort("ranking", "", "Table", "")],
    "v1:a",
)


def explore(table: knext.Table, warnings: list[str] | None = None, **settings: Any) -> pa.Table:
    node = ToolExplorer()
    set_parameters(node, settings)
    promised = node.configure(ConfigurationContext(), table.schema)
    said: list[str] = [] if warnings is None else warnings
    explored = node.execute(ExecutionContext(NodeHost(warn=said.append)), table)
    assert explored.schema == promised
    return explored.to_pyarrow()


def row(arrow: pa.Table, number: int = 0) -> dict[str, Any]:
    """The plain cells of a row."""
    return {name: arrow.column(name)[number].as_py() for name in arrow.column_names if name not in ("<RowID>", "Tool")}


def test_a_tool_of_a_server_unfolds_into_plain_columns() -> None:
    definition = ToolDefinition(name=CONVERT.name, description=CONVERT.description, parameters=CONVERT.parameter_schema)
    assert row(explore(tool_table([CONVERT]))) == {
        "Type": "MCP",
        "Name": "Convert currency",
        "Description": "Converts an amount, auch in €.",
        "Server": "https://example.org/mcp",
        "Provider": "bank",
        "Wire name": "convert_currency",
        "Parameters": json.dumps(CONVERT.parameter_schema),
        "Parameter names": "amount, to",
        "Required parameters": "amount",
        "Read-only": True,
        "Destructive": None,
        "Idempotent": None,
        "Open world": False,
        "Fingerprint": "ab" * 32,
        "Input ports": None,
        "Output ports": None,
        "Output schema": json.dumps(CONVERT.output_schema),
        "Tokens (estimated)": estimated_tokens(definition),
        "Problem": None,
    }


def test_a_workflow_unfolds_too() -> None:
    cells = row(explore(tool_table([RANK])))
    schema = workflow_arguments_schema(RANK)
    assert {name: cell for name, cell in cells.items() if cell is not None} == {
        "Type": "Workflow",
        "Name": "rank",
        "Description": "Ranks.",
        "Parameters": json.dumps(RANK.parameter_schema),
        "Parameter names": "n, by",
        "Required parameters": "by",
        "Input ports": "orders, customers",
        "Output ports": "ranking",
        "Tokens (estimated)": estimated_tokens({"name": "rank", "description": "Ranks.", "parameters": schema}),
    }


def test_tools_rows_pieces_and_missing_cells_stay() -> None:
    kind = tool_type().to_pyarrow()
    pieces = [pa.ExtensionArray.from_storage(kind, encode_tools(tools)) for tools in ([CONVERT, None], [RANK])]
    identifiers = pa.chunked_array([pa.array(["a", "b"]), pa.array(["c"])])
    given = pa.table({"<RowID>": identifiers, "Tool": pa.chunked_array(pieces)})
    explored = explore(knext.Table.from_pyarrow(given))
    assert decode_tools(explored.column("Tool")) == [CONVERT, None, RANK]
    assert explored.column("<RowID>").to_pylist() == ["a", "b", "c"]
    assert explored.column("Type").to_pylist() == ["MCP", None, "Workflow"]
    assert {tuple(map(len, column.chunks)) for column in explored.columns} == {(2, 1)}
    assert set(row(explored, 1).values()) == {None}


def test_only_the_wanted_columns_are_appended_and_equal_names_get_numbers() -> None:
    given = tool_table([CONVERT]).to_pyarrow().append_column("Name", pa.array(["mine"]))
    explored = explore(knext.Table.from_pyarrow(given), columns=["NAME", "SERVER"])
    assert explored.column_names == ["<RowID>", "Tool", "Name", "Name (#1)", "Server"]
    assert row(explored) == {"Name": "mine", "Name (#1)": "Convert currency", "Server": "https://example.org/mcp"}


def tools_of_texts(*schemas: str) -> knext.Table:
    """Tools whose parameter schemas are these texts, whatever they hold."""
    fields = encode_tools([CONVERT] * len(schemas)).flatten()
    fields[3] = pa.array(schemas)
    kind = tool_type().to_pyarrow()
    storage = pa.StructArray.from_arrays(fields, fields=list(kind.storage_type))
    return knext.Table.from_pyarrow(pa.table({"Tool": pa.ExtensionArray.from_storage(kind, storage)}))


def test_a_damaged_cell_has_its_reason_and_the_others_are_there() -> None:
    warnings: list[str] = []
    explored = explore(tools_of_texts("{", "{}"), warnings)
    assert row(explored)["Problem"] == "field 'parameter_schema': is not JSON"
    assert row(explored)["Name"] is None
    assert row(explored, 1)["Name"] == "Convert currency"
    assert warnings == ["1 cell of column 'Tool' is damaged; the column 'Problem' says why."]


def test_odd_schemas_of_servers_do_no_harm() -> None:
    half = '{"properties": {"\\ud800": true}, "required": [1, "z"]}'
    explored = explore(tools_of_texts('{"properties": ["x"], "required": "y"}', half, "{}"))
    assert explored.column("Parameter names").to_pylist() == ["", "\ufffd", ""]
    assert explored.column("Required parameters").to_pylist() == ["", "z", ""]
    assert row(explored, 1)["Parameters"] == half


def test_older_columns_and_empty_tables_are_explored() -> None:
    older = explore(knext.Table.from_pyarrow(pa.table({"Old": older_workflow_tools(RANK, None)})))
    assert older.column("Name").to_pylist() == ["rank", None]
    assert explore(tool_table([])).num_rows == 0


def test_a_table_without_tools_is_refused() -> None:
    with pytest.raises(knext.InvalidParametersError, match="The table has no column of tools"):
        explore(knext.Table.from_pyarrow(pa.table({"Note": ["x"]})))


def test_a_hundred_thousand_tools_take_moments() -> None:
    schemas = [{"type": "object", "properties": {f"p{n}_{i}": {"type": "string"} for i in range(8)}} for n in range(50)]
    tools = [MCPTool(f"t{n}", "Does.", schemas[n % 50], "https://example.org/mcp") for n in range(100_000)]
    table = tool_table(tools)
    began = time.process_time()
    explored = explore(table)
    assert explored.num_rows == 100_000
    # About 1 s; a machine that is busy with other things may take longer.
    assert time.process_time() - began < 15


def test_a_row_filter_chooses_tools_in_a_workflow(tmp_path: Path) -> None:
    document = Workflow.model_validate(
        {
            "format": 1,
            "name": "choose",
            "nodes": [
                {"id": "in", "factory": "WorkflowInput", "settings": {"parameter_name": "tools"}},
                {"id": "explore", "factory": "ToolExplorer"},
                {
                    "id": "filter",
                    "factory": "RowFilter",
                    "settings": {"criteria": [{"column": "Type", "operator": "EQ", "value": "MCP"}]},
                },
            ],
            "connections": [
                {"from": ["in", 0], "to": ["explore", 0]},
                {"from": ["explore", 0], "to": ["filter", 0]},
            ],
        }
    )
    result = run_workflow(document, base_dir=tmp_path, inputs={"tools": tool_table([CONVERT, RANK, CONVERT])})
    kept = result.table("filter", 0).to_pyarrow()
    assert decode_tools(kept.column("Tool")) == [CONVERT, CONVERT]
