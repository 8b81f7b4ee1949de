"""Tool rows of both kinds as one toolset, to be served to clients that are no host of ours."""

from __future__ import annotations

import asyncio
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import anyio

from knime.types.tool import MCPTool, Tool, ToolPort, WorkflowTool
from knime_ext.agent.threads import call_in_thread
from knime_ext.errors import ConfigurationError, ToolFailed
from knime_ext.mcp.progress import Progress, ProgressListener, current_listener
from knime_ext.runtime.events import Event, NodeFinished, NodeProgress, RunStarted
from knime_ext.runtime.filestore import FileStore
from knime_ext.runtime.mcp_calls import MCPCalls
from knime_ext.runtime.registry import NodeRegistry
from knime_ext.runtime.run_folder import temporary_directory
from knime_ext.runtime.served_tables import ServedTables
from knime_ext.runtime.services import Services
from knime_ext.runtime.workflow_tools import execute_tool
from knime_ext.tools import (
    NameMap,
    ToolDefinition,
    ToolResult,
    Toolset,
    unknown_tool,
    workflow_arguments_schema,
)
from knime_ext.tools.schemas import argument_check

if TYPE_CHECKING:
    from knime_ext.mcp import Server
    from knime_ext.runtime.knext.contexts import Credential

__all__ = ["TableToolset", "table_toolset"]

T = TypeVar("T")

WORKFLOWS_AT_ONCE = 8
"""Workflows that run at the same time; further calls wait."""

_STOP_SECONDS = 5.0
_DATA_INPUTS = "data_inputs"
_CONFIGURATION = "configuration"

_TABLE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "handle": {"type": "string", "description": "Names the table in calls of other tools."},
        "columns": {"type": "object", "description": "Column names and types."},
        "row_count": {"type": "integer"},
        "rows": {"type": "array", "items": {"type": "object"}, "description": "The first rows."},
    },
    "required": ["name", "handle", "columns", "row_count", "rows"],
}
_OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {"message": {"type": "string"}, "tables": {"type": "array", "items": _TABLE}},
    "required": ["message", "tables"],
}


class _Entry(ABC):
    """One served row."""

    @abstractmethod
    def definition(self, name: str) -> ToolDefinition:
        """What clients see of it."""

    @abstractmethod
    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Runs it with arguments that fit its schema."""


class _ServerTool(_Entry):
    """A tool of an MCP server; everything about it goes through as it comes."""

    def __init__(self, tool: MCPTool, services: Services) -> None:
        self._tool = tool
        self._services = services

    def definition(self, name: str) -> ToolDefinition:
        tool = self._tool
        return ToolDefinition(
            name=name,
            description=tool.description,
            parameters={"type": "object", **tool.parameter_schema},
            wire_name=tool.tool_name,
            display_name=tool.name,
            output_schema=tool.output_schema,
            annotations=tool.annotations or {},
            origin=_origin(tool),
        )

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        return await self._services.mcp.acall(self._tool, dict(arguments))


class _Workflow(_Entry):
    """A workflow; its tables come from the client or from earlier calls, and stay for later ones."""

    def __init__(self, tool: WorkflowTool, services: Services, tables: ServedTables, places: asyncio.Semaphore) -> None:
        self._tool = tool
        self._services = services
        self._tables = tables
        self._places = places

    def definition(self, name: str) -> ToolDefinition:
        tool = self._tool
        parameters = workflow_arguments_schema(tool)
        if tool.input_ports:
            ports = {port.name: self._tables.input_schema(port) for port in tool.input_ports}
            parameters["properties"][_DATA_INPUTS]["properties"] = ports
        return ToolDefinition(
            name=name,
            description=tool.description + _outputs_text(tool.output_ports or ()),
            parameters=parameters,
            wire_name=tool.name,
            display_name=tool.name,
            output_schema=_OUTPUT,
            origin="workflow",
        )

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        given: Mapping[str, Any] = arguments.get(_DATA_INPUTS, {})
        inputs = [self._tables.table(given[port.name], port) for port in self._tool.input_ports or ()]
        async with self._places:
            message, outputs = await self._run(dict(arguments.get(_CONFIGURATION, {})), inputs)
        ports = self._tool.output_ports or ()
        tables = [self._tables.described(port, table) for port, table in zip(ports, outputs, strict=False)]
        text = "\n\n".join([message, *map(_table_text, tables)])
        return replace(ToolResult.of_text(text), structured={"message": message, "tables": tables})

    async def _run(self, configuration: dict[str, Any], inputs: Sequence[Any]) -> tuple[str, Sequence[Any]]:
        stop = threading.Event()
        services = replace(self._services, is_canceled=stop.is_set, mcp=self._services.mcp.canceled_by(stop.is_set))

        steps = _Steps(current_listener())

        def execute() -> tuple[str, Sequence[Any], Sequence[str]]:
            try:
                return execute_tool(self._tool, configuration, inputs, {}, services, steps)
            except RuntimeError as error:
                # This is how KNIME's hosts say that a tool failed; the text was written for whoever calls.
                raise ToolFailed(str(error)) from error

        message, outputs, _ = await _stoppable(execute, stop)
        return message, outputs


class _Steps:
    """Tells the caller how many nodes of a workflow are done. Which ones, and what they say, is nobody's business."""

    def __init__(self, listener: ProgressListener | None) -> None:
        self._listener = listener
        self._total = 0
        self._fractions: dict[str, float] = {}
        self._told = -1.0

    def __call__(self, event: Event) -> None:
        match event:
            case RunStarted(nodes=nodes):
                self._total = len(nodes)
            case NodeProgress(node=node, fraction=fraction):
                self._fractions[node] = min(max(fraction, 0.0), 1.0)
            case NodeFinished(node=node):
                self._fractions[node] = 1.0
            case _:
                return
        done = sum(self._fractions.values())
        if self._listener is not None and done > self._told:
            self._told = done
            self._listener(Progress(done=done, total=self._total))


async def _stoppable(work: Callable[[], T], stop: threading.Event) -> T:
    """Runs blocking work in a thread; when the waiting task is cancelled, asks it to stop and waits for a while."""
    running = asyncio.ensure_future(call_in_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        with anyio.move_on_after(_STOP_SECONDS, shield=True):
            await asyncio.wait({running})
        running.cancel()
        if running.done() and not running.cancelled():
            running.exception()  # looked at, so that asyncio does not report it as forgotten
        raise


def _origin(tool: Tool) -> str:
    """Where a tool lives, in words without path and credentials."""
    if not isinstance(tool, MCPTool):
        return "workflow"
    return f"server {tool.provider or urlsplit(tool.server_uri).netloc or tool.server_uri}"


def _outputs_text(ports: Sequence[ToolPort]) -> str:
    lines = [f"- {port.name}{f': {port.description}' if port.description else ''}" for port in ports]
    return "\n\nReturns tables:\n" + "\n".join(lines) if lines else ""


def _table_text(table: Mapping[str, Any]) -> str:
    rows = [json.dumps(row, ensure_ascii=False) for row in table["rows"]]
    shown = "" if len(rows) == table["row_count"] else f", the first {len(rows)} of them"
    columns = ", ".join(f"{name} ({kind})" for name, kind in table["columns"].items())
    head = f"Table {table['name']!r}, handle {table['handle']!r}: {table['row_count']} rows{shown}. Columns: {columns}."
    return "\n".join([head, *rows])


class TableToolset(Toolset):
    """The tools of a table, workflows and tools of servers mixed, under unique safe names.

    Used from one event loop, by any number of tasks. Arguments are checked before every call.
    """

    def __init__(self, tools: Sequence[Tool], services: Services, tables: ServedTables) -> None:
        places = asyncio.Semaphore(WORKFLOWS_AT_ONCE)
        displayed = [tool.name for tool in tools]
        self._entries: dict[str, _Entry] = {}
        self._definitions: dict[str, ToolDefinition] = {}
        self._checks: dict[str, Callable[[Mapping[str, Any]], None]] = {}
        for name, tool in zip(NameMap(displayed).safe, tools, strict=True):
            entry = _entry(tool, services, tables, places)
            definition = entry.definition(name)
            if displayed.count(tool.name) > 1:
                # Models can only choose between tools of one name if the description tells them apart.
                text = f"{definition.description}\n\nOrigin: {definition.origin}.".strip()
                definition = replace(definition, description=text)
            self._entries[name], self._definitions[name] = entry, definition

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        """The tools in the order of their rows."""
        return tuple(self._definitions.values())

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Checks the arguments and calls the tool.

        Raises:
            UnknownTool: The table has no such tool.
            InvalidArguments: The arguments do not fit, or there is no table of that handle.
            ToolFailed: A workflow failed.
            MCPError: A server, or the way to it, failed.
        """
        if name not in self._entries:
            raise unknown_tool(name, list(self._entries))
        if name not in self._checks:
            self._checks[name] = argument_check(self._definitions[name].parameters, name)
        self._checks[name](arguments)
        return await self._entries[name].call(arguments)


def _entry(tool: Tool, services: Services, tables: ServedTables, places: asyncio.Semaphore) -> _Entry:
    if isinstance(tool, MCPTool):
        return _ServerTool(tool, services)
    if isinstance(tool, WorkflowTool):
        return _Workflow(tool, services, tables, places)
    raise ConfigurationError(f"{tool!r} is neither a workflow tool nor an MCP tool; pass rows of a tool column")


@contextmanager
def table_toolset(
    tools: Sequence[Tool],
    tables: ServedTables | None = None,
    *,
    providers: Mapping[str, Server] | None = None,
    credentials: Mapping[str, Credential] | None = None,
    registry: NodeRegistry | None = None,
    filestore: FileStore | None = None,
) -> Generator[TableToolset]:
    """The tools of a table, callable; leaving it closes every session that a call opened.

    Args:
        tools: Rows of a tool column.
        tables: The tables that clients can use.
        providers: Registered MCP servers by name; None for those in the operator's own file.
        credentials: Credentials by name, for the nodes of workflows.
        registry: The nodes that can be used; those of the extension and the platform if not given.
        filestore: Where the content of workflow tools lies; the user's own file store if not given.
    """
    with temporary_directory() as folder, MCPCalls(providers, lambda: False) as mcp:
        services = Services(
            registry=registry or NodeRegistry.load(),
            filestore=filestore or FileStore.default(),
            base_dir=Path.cwd(),
            temp_dir=folder,
            mcp=mcp,
            is_canceled=lambda: False,
            credentials=credentials or {},
        )
        yield TableToolset(tools, services, tables or ServedTables())
