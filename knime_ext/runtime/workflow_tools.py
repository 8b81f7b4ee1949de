"""Workflows as tools: a document becomes a cell, and the cell runs, also in another process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from knime.types.tool import MCPTool, Tool, ToolPort, WorkflowTool
from knime_ext.errors import ConfigurationError, KnimeExtError, NodeFailed, WorkflowError
from knime_ext.runtime.document import Workflow, load_workflow
from knime_ext.runtime.engine import configure_workflow, run_prepared
from knime_ext.runtime.events import Event
from knime_ext.runtime.filestore import FileStore
from knime_ext.runtime.graph_configuration import GraphConfiguration
from knime_ext.runtime.knext.schema import Schema
from knime_ext.runtime.knext.table import Table
from knime_ext.runtime.mcp_calls import MCPCalls
from knime_ext.runtime.plan import Plan, Source, plan_workflow
from knime_ext.runtime.registry import NodeRegistry
from knime_ext.runtime.result import RunResult
from knime_ext.runtime.run_folder import temporary_directory
from knime_ext.runtime.services import Services
from knime_ext.runtime.workflow_interface import InterfacePort, interface_of
from knime_ext.runtime.workflow_package import pack, unpack
from knime_ext.tools import check_arguments

__all__ = ["MAX_DEPTH", "execute_tool", "workflow_to_tool"]

MAX_DEPTH = 8
"""How deep workflow tools may call workflow tools."""

NO_MESSAGE = "Done; the workflow has no message."


def workflow_to_tool(path: Path, *, registry: NodeRegistry, filestore: FileStore) -> WorkflowTool:
    """The tool of a workflow document; the document and the files that it reads go to the file store.

    Name and description are the document's; Configuration nodes become parameters, Workflow Inputs and Workflow
    Outputs become data ports, the Tool Message Output becomes the message.

    Args:
        path: The document.
        registry: The nodes.
        filestore: Where the content goes.

    Raises:
        ConfigurationError: A file cannot be read, or the file store not be written.
        WorkflowError: The workflow cannot be planned; the message names file and place.
    """
    workflow = load_workflow(path)
    try:
        interface = interface_of(workflow, registry)
        plan = plan_workflow(workflow, registry.shapes)
        known = _configured_on_its_own(workflow, path.parent, registry, filestore)
    except WorkflowError as error:
        raise type(error)(f"{str(path)!r}: {error}") from error
    return WorkflowTool(
        name=workflow.name,
        description=workflow.description,
        parameter_schema={name: dict(schema) for name, schema in interface.parameters.items()},
        message_output_port_index=interface.message_index,
        input_ports=[_port(port, _output_spec(port, known)) for port in interface.inputs],
        output_ports=[_port(port, _input_spec(port, known, plan)) for port in interface.outputs],
        _filestore_keys=filestore.put(pack(path, registry), f"{workflow.name}.zip"),
    )


def _configured_on_its_own(
    workflow: Workflow, folder: Path, registry: NodeRegistry, filestore: FileStore
) -> GraphConfiguration:
    """What is known of the tables without a caller; often little, as the caller's tables decide.

    Raises:
        WorkflowError: A setting is wrong, whoever calls.
    """
    with temporary_directory() as temp, MCPCalls({}, lambda: False) as mcp:
        services = Services(
            registry=registry,
            filestore=filestore,
            base_dir=folder,
            temp_dir=temp,
            mcp=mcp,
            is_canceled=lambda: False,
        )
        try:
            return configure_workflow(workflow, services)
        except NodeFailed:
            return GraphConfiguration()


def _output_spec(port: InterfacePort, known: GraphConfiguration) -> Any:
    return known.spec(Source(port.node, 0))


def _input_spec(port: InterfacePort, known: GraphConfiguration, plan: Plan) -> Any:
    source = next(node for node in plan.nodes if node.id == port.node).inputs[0]
    return known.spec(source) if isinstance(source, Source) else None


def _port(port: InterfacePort, schema: Any) -> ToolPort:
    spec = ""
    if isinstance(schema, Schema):
        columns = [{"name": column.name, "type": str(column.ktype)} for column in schema]
        spec = json.dumps({"name": port.name, "columns": columns}, ensure_ascii=False)
    return ToolPort(name=port.name, description=port.description, type="Table", spec=spec)


def execute_tool(
    tool: Tool,
    parameters: Mapping[str, Any],
    inputs: Sequence[Table],
    hints: Mapping[str, str],
    services: Services,
    events: Callable[[Event], None] | None = None,
) -> tuple[str, list[Table], list[str]]:
    """Runs a tool of either kind for a node.

    Args:
        tool: The tool.
        parameters: Parameter name to value; what is absent takes its default.
        inputs: One table per input port of a workflow tool.
        hints: KNIME's execution hints; "with-view-nodes": "true" asks for the nodes with a view.
        services: What the run of the calling node offers.
        events: Told what happens in a workflow, from the threads of its run.

    Returns:
        The message, the output tables, and the identifiers of nodes with a view.

    Raises:
        RuntimeError: The tool failed; the text says why.
    """
    try:
        if isinstance(tool, MCPTool):
            return services.mcp.text(tool, parameters), [], []
        if not isinstance(tool, WorkflowTool):
            raise ConfigurationError(f"a {type(tool).__name__} cannot be executed; give a workflow tool or an MCP tool")
        return _execute_workflow(tool, parameters, inputs, hints, services, events)
    except KnimeExtError as error:
        raise RuntimeError(f"tool {tool.name!r} failed: {error}") from error


def _execute_workflow(
    tool: WorkflowTool,
    parameters: Mapping[str, Any],
    inputs: Sequence[Table],
    hints: Mapping[str, str],
    services: Services,
    events: Callable[[Event], None] | None,
) -> tuple[str, list[Table], list[str]]:
    if services.depth >= MAX_DEPTH:
        raise ConfigurationError(
            f"workflow tools call each other more than {MAX_DEPTH} deep; check whether the tool calls itself"
        )
    _check_call(tool, parameters, inputs)
    with temporary_directory() as folder, temporary_directory() as temp:
        workflow = unpack(services.filestore.get(_package_key(tool)), folder)
        result = run_prepared(
            workflow,
            replace(
                services,
                base_dir=folder,
                temp_dir=temp,
                inputs={port.name: table for port, table in zip(tool.input_ports or (), inputs, strict=True)},
                parameters=dict(parameters),
                kept=None,  # what the nodes of a tool's workflow keep ends with it
                depth=services.depth + 1,
            ),
            events=events,
        )
    if result.state == "canceled":
        raise WorkflowError("the run was canceled")
    views = list(result.views) if hints.get("with-view-nodes", "").lower() == "true" else []
    return result.message or NO_MESSAGE, _outputs(tool, result), views


def _package_key(tool: WorkflowTool) -> str:
    if not tool.filestore_keys:
        raise ConfigurationError("the tool has no content in a file store; make it with the Workflow to Tool node")
    return tool.filestore_keys[0]


def _check_call(tool: WorkflowTool, parameters: Mapping[str, Any], inputs: Sequence[Table]) -> None:
    schema = {"type": "object", "properties": tool.parameter_schema, "additionalProperties": False}
    check_arguments(schema, parameters, tool.name)
    wanted = len(tool.input_ports or ())
    if len(inputs) != wanted:
        raise ConfigurationError(f"it takes {wanted} tables, {len(inputs)} were given; give one per input port")


def _outputs(tool: WorkflowTool, result: RunResult) -> list[Table]:
    tables = [result.workflow_outputs.get(port.name) for port in tool.output_ports or ()]
    found = [table for table in tables if table is not None]
    if len(found) != len(tables):
        raise ConfigurationError("its workflow does not have the outputs that the tool promises; make the tool again")
    return found
