from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from knime_ext.runtime.knext.settings import describe
from knime_ext.runtime.platform import NODES
from knime_ext.runtime.registry import NodeRegistry

IDS = [factory.__knext_node__.id for factory in NODES]


def test_the_registry_knows_every_node_under_knimes_name() -> None:
    names = {factory.__knext_node__.id: factory.__knext_node__.name for factory in NODES}
    assert names == {
        "TableCreator": "Table Creator",
        "CSVReader": "CSV Reader",
        "CSVWriter": "CSV Writer",
        "RowFilter": "Row Filter",
        "ColumnFilter": "Column Filter",
        "Concatenate": "Concatenate",
        "Joiner": "Joiner",
        "SQLQuery": "SQL Query",
        "StringConfiguration": "String Configuration",
        "IntegerConfiguration": "Integer Configuration",
        "DoubleConfiguration": "Double Configuration",
        "BooleanConfiguration": "Boolean Configuration",
        "WorkflowInput": "Workflow Input",
        "WorkflowOutput": "Workflow Output",
        "ToolMessageOutput": "Tool Message Output",
        "WorkflowToTool": "Workflow to Tool",
    }
    assert set(names) <= set(NodeRegistry.load())


@pytest.mark.parametrize("node_id", IDS)
def test_every_node_is_documented_for_its_users(node_id: str) -> None:
    declaration = NodeRegistry.load().declaration(node_id)
    summary, _, rest = declaration.description.partition("\n")
    assert summary.endswith(".")
    assert len(rest) > 100
    assert declaration.category.startswith("/")
    for port in (*declaration.input_ports, *declaration.output_ports):
        assert port.name
        assert port.description.endswith(".")
    parameters: list[dict[str, Any]] = describe(declaration.create())
    for parameter in parameters:
        assert parameter["name"] != parameter["key"], f"{parameter['key']} has no label"
        assert parameter["description"], f"{parameter['key']} is not described"


def test_loading_the_nodes_does_not_load_the_query_engine() -> None:
    code = (
        "import sys; from knime_ext.runtime.registry import provide_knime_extension; provide_knime_extension(); "
        "from knime_ext.runtime.platform import NODES; "
        "print(len(NODES), [name for name in ('duckdb', 'mcp', 'langchain_core', 'pandas') if name in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert output.stdout == "16 []\n"
