"""The tools of the orders-agent example, with a host that answers for the workflows and a real server behind MCP."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from knime.types.tool import MCPTool, Tool, ToolPort, WorkflowTool
from knime_ext.agent.data import DataRepository

EXAMPLE = Path(__file__).parents[2] / "examples" / "orders-agent"
ORDERS_COLUMNS = ("customer", "product", "quantity", "unit_price", "country", "ordered_on")

MESSAGES = {
    "customer_revenue": "Northwind Traders has the highest revenue: 18342.50 USD (8 customers ranked)",
    "orders_by_country": "Germany is the country with the highest revenue: 21000.00 USD in 12 orders (7 counted)",
    "product_sales": "Coffee beans 1 kg is the best-selling product: 900 pieces worth 22410.00 USD (5 compared)",
}


@dataclass
class Column:
    name: str
    ktype: Any = "string"


@dataclass
class Table:
    """As much of a host's table as the agent room asks for."""

    names: Sequence[str]
    num_rows: int = 3

    @property
    def schema(self) -> list[Column]:
        return [Column(name) for name in self.names]


@cache
def server_module() -> Any:
    """The example's server, imported."""
    spec = importlib.util.spec_from_file_location("orders_agent_server", EXAMPLE / "server.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _parameter(node: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    kind = {"IntegerConfiguration": "integer", "BooleanConfiguration": "boolean"}.get(node["factory"])
    settings = node.get("settings", {})
    if kind is None:
        return None
    default = settings.get("default_value", False)
    return settings["parameter_name"], {"type": kind, "default": default, "description": settings["description"]}


def _port(node: dict[str, Any], columns: Sequence[str]) -> ToolPort:
    settings = node["settings"]
    spec = json.dumps({"columns": [{"name": name, "type": "string"} for name in columns]}) if columns else ""
    return ToolPort(settings["parameter_name"], settings["description"], "Table", spec)


def workflow_tool(name: str) -> WorkflowTool:
    """A workflow of the example as a tool."""
    document = json.loads((EXAMPLE / "tools" / f"{name}.json").read_text(encoding="utf-8"))
    nodes = document["nodes"]
    return WorkflowTool(
        name=name,
        description=document["description"],
        parameter_schema=dict(found for node in nodes if (found := _parameter(node))),
        input_ports=[_port(node, ORDERS_COLUMNS[:5]) for node in nodes if node["factory"] == "WorkflowInput"],
        output_ports=[_port(node, ()) for node in nodes if node["factory"] == "WorkflowOutput"],
        _filestore_keys="v1:store:0:tool:-1",
    )


@cache
def orders_tools() -> tuple[Tool, ...]:
    """All tools of the example: three workflows and three tools of the server."""
    listed = asyncio.run(server_module().server.list_tools())
    served = [
        MCPTool(tool.title or tool.name, tool.description, tool.input_schema, "http://h/sse", tool.name)
        for tool in listed
    ]
    return (*(workflow_tool(name) for name in MESSAGES), *served)


@dataclass
class OrdersHost:
    """A host: says what the workflows would say, and asks the example's server."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])

    def _execute_tool(
        self, tool: WorkflowTool, parameters: dict[str, Any], inputs: list[Any], execution_hints: dict[str, str]
    ) -> tuple[str, list[Any], list[str]]:
        self.calls.append((tool.name, parameters))
        return MESSAGES[tool.name], [Table(["name", "value"], 8)], []

    def _execute_mcp_tool(self, tool: MCPTool, parameters: dict[str, Any]) -> str:
        self.calls.append((tool.tool_name, parameters))
        result = asyncio.run(server_module().server.call_tool(tool.tool_name, parameters))
        return "".join(block.text for block in result.content)


def orders_data() -> DataRepository:
    """A repository with the table of orders."""
    data = DataRepository()
    data.add("orders", "Input table 1", Table(ORDERS_COLUMNS, 40))
    return data
