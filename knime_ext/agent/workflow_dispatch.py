"""Calls of workflow tools: to the host's executor, with tables from and to the data repository."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from knime.types.tool import ToolPort, WorkflowTool
from knime_ext.agent.data import NEW_DATA, DataItem, DataRepository, DataTable
from knime_ext.agent.dispatch import Reply
from knime_ext.agent.threads import call_in_thread
from knime_ext.tools import ToolResult, check_arguments, simple_types_only, text_for_model, workflow_arguments_schema
from knime_ext.tools.schemas import CONFIGURATION, DATA_INPUTS, parse_json_texts
from knime_ext.tools.shortening import Shortener

__all__ = ["DEFAULT_HINTS", "WorkflowDispatch"]

DEFAULT_HINTS = {"execution-mode": "DEFAULT", "with-view-nodes": "false"}


def _columns_text(port: ToolPort) -> str:
    try:
        columns: list[dict[str, Any]] = json.loads(port.spec or "{}").get("columns", [])
        return ", ".join(f"{column['name']} ({column['type']})" for column in columns)
    except (ValueError, TypeError, KeyError, AttributeError):
        return ""


def _port_line(port: ToolPort) -> str:
    columns = _columns_text(port)
    about = f": {port.description}" if port.description else ""
    return f"- {port.name}{about}" + (f" [columns: {columns}]" if columns else "")


def _table_block(item: DataItem) -> dict[str, Any]:
    """The content block that tells about a table in the data repository."""
    return {
        "type": "table",
        "id": item.id,
        "name": item.name,
        "description": item.description,
        "columns": item.columns,
        "rows": item.rows,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowDispatch:
    """Runs a workflow through the host's executor; its tables come from and go to the data repository."""

    tool: WorkflowTool
    context: Any
    data: DataRepository
    hints: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_HINTS))
    simple: bool = False
    shortener: Shortener | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """Object with `configuration` and `data_inputs`; flat if only simple types are wanted."""
        if not self.simple:
            return workflow_arguments_schema(self.tool)
        full = workflow_arguments_schema(self.tool)["properties"]
        flat = {key: full[group]["properties"][name] for key, (group, name) in self._flat_keys().items()}
        required = [key for key, (group, name) in self._flat_keys().items() if name in full[group].get("required", ())]
        return simple_types_only({"type": "object", "properties": flat, "required": required})

    @property
    def description(self) -> str:
        """The workflow's description with its data ports."""
        parts = [self.tool.description]
        if self.tool.input_ports:
            parts.append("Data inputs:\n" + "\n".join(map(_port_line, self.tool.input_ports)))
        if self.tool.output_ports:
            parts.append("Data outputs:\n" + "\n".join(map(_port_line, self.tool.output_ports)))
        return "\n\n".join(part for part in parts if part)

    def call(self, arguments: Mapping[str, Any]) -> Reply:
        """Checks the arguments and runs the workflow, blocking."""
        configuration, inputs, reserved = self._prepare(arguments)
        return self._finish(reserved, self.context._execute_tool(self.tool, configuration, inputs, dict(self.hints)))

    async def acall(self, arguments: Mapping[str, Any]) -> Reply:
        """Checks the arguments and runs the workflow in a thread."""
        configuration, inputs, reserved = self._prepare(arguments)
        outcome = await call_in_thread(self.context._execute_tool, self.tool, configuration, inputs, dict(self.hints))
        return self._finish(reserved, outcome)

    def _flat_keys(self) -> dict[str, tuple[str, str]]:
        """Property of the flat schema to its group and its name there; a port yields to an equal parameter."""
        keys = {name: (CONFIGURATION, name) for name in self.tool.parameter_schema}
        for port in self.tool.input_ports or ():
            keys[port.name if port.name not in keys else f"{port.name}_data"] = (DATA_INPUTS, port.name)
        return keys

    def _nested(self, flat: Mapping[str, Any]) -> dict[str, Any]:
        nested: dict[str, Any] = {DATA_INPUTS: {}} if self.tool.input_ports else {}
        schema = {"properties": self.tool.parameter_schema}
        keys = self._flat_keys()
        for key, value in parse_json_texts(schema, flat).items():
            group, name = keys.get(key, (CONFIGURATION, key))
            nested.setdefault(group, {})[name] = value
        return nested

    def _prepare(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any], tuple[str, ...]]:
        values = self._nested(arguments) if self.simple else arguments
        check_arguments(workflow_arguments_schema(self.tool), values, self.tool.name)
        given: Mapping[str, Any] = values.get(DATA_INPUTS, {})
        inputs = [self.data.table(given[port.name]) for port in self.tool.input_ports or ()]
        defaults = {
            name: schema["default"]
            for name, schema in self.tool.parameter_schema.items()
            if schema.get("default") is not None
        }
        configuration = defaults | dict(values.get(CONFIGURATION, {}))
        return configuration, inputs, self.data.reserve(len(self.tool.output_ports or ()))

    def _finish(self, reserved: tuple[str, ...], outcome: tuple[str, Sequence[DataTable], Sequence[str]]) -> Reply:
        message, outputs, views = outcome
        message = text_for_model(message)
        if self.shortener is not None:  # only the words: what tables there are is to be read in any case
            message = self.shortener.text(message)
        ports = self.tool.output_ports or ()
        items = [
            self.data.add(port.name, port.description, table, reserved=identifier)
            for identifier, port, table in zip(reserved, ports, outputs, strict=False)
        ]
        blocks = [{"type": "text", "text": message}, *map(_table_block, items)]
        text = message
        if items:
            text += f"\n\n{NEW_DATA}\n" + "\n".join(item.line() for item in items)
        return text, ToolResult(content=tuple(blocks), structured={"view_nodes": list(views)} if views else None)
