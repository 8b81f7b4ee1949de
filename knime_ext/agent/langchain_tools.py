"""Tool rows as LangChain tools: the one place where a row's type decides who runs it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool

from knime.types.tool import MCPTool, Tool, WorkflowTool
from knime_ext.agent.data import DataRepository
from knime_ext.agent.dispatch import Dispatch, Reply, ToolContext
from knime_ext.agent.mcp_dispatch import MCPDispatch
from knime_ext.agent.workflow_dispatch import DEFAULT_HINTS, WorkflowDispatch
from knime_ext.errors import ConfigurationError
from knime_ext.tools import NameMap

__all__ = ["RowTool", "ToolContext", "to_langchain_tools", "tool_definitions"]


class RowTool(StructuredTool):
    """A LangChain tool made of a tool row; its arguments travel as one mapping.

    LangChain passes arguments by keyword, where a parameter called `config` or `callbacks` would clash with its own.

    Attributes:
        takes_data: True if the tool takes tables of the data repository by their ids.
    """

    takes_data: bool = False

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self._parse_input(tool_input, tool_call_id),), {}


@contextmanager
def _told_to_the_model(name: str) -> Generator[None]:
    """Every failure of a call as LangChain's ToolException, with a text that the model can act on."""
    try:
        yield
    except ToolException:
        raise
    except Exception as error:
        raise ToolException(str(error) or f"the tool {name!r} failed with {type(error).__name__}") from error


def _origin(tool: Tool) -> str:
    """Where a tool lives, in words that hold no credentials and no path."""
    if isinstance(tool, MCPTool):
        address = urlsplit(tool.server_uri)
        host = tool.provider or address.hostname or tool.server_uri
        return f"server {host}" + (f":{address.port}" if address.port and not tool.provider else "")
    return "workflow"


def _dispatch(tool: Tool, context: Any, data: DataRepository, hints: Mapping[str, str], simple: bool) -> Dispatch:
    if isinstance(tool, WorkflowTool):
        return WorkflowDispatch(tool=tool, context=context, data=data, hints=hints, simple=simple)
    if isinstance(tool, MCPTool):
        return MCPDispatch(tool=tool, context=context, simple=simple)
    raise ConfigurationError(f"{tool!r} is neither a workflow tool nor an MCP tool; pass rows of a tool column.")


def _metadata(tool: Tool) -> dict[str, Any]:
    mcp = isinstance(tool, MCPTool)
    return {
        "tool_type": "mcp" if mcp else "workflow",
        "display_name": tool.name,
        "server": tool.server_uri if mcp else None,
        "provider": tool.provider if mcp else None,
        "wire_name": tool.tool_name if mcp else tool.name,
        "annotations": dict(tool.annotations or {}) if mcp else {},
    }


def _row_tool(name: str, tool: Tool, dispatch: Dispatch, *, shared_name: bool) -> RowTool:
    def call(arguments: dict[str, Any]) -> Reply:
        with _told_to_the_model(tool.name):
            return dispatch.call(arguments)

    async def acall(arguments: dict[str, Any]) -> Reply:
        with _told_to_the_model(tool.name):
            return await dispatch.acall(arguments)

    # Models can only choose between tools of one name if the description tells them apart.
    where = f"\n\nOrigin: {_origin(tool)}." if shared_name else ""
    return RowTool(
        name=name,
        description=(dispatch.description + where).strip(),
        args_schema=dispatch.schema,
        func=call,
        coroutine=acall,
        response_format="content_and_artifact",
        metadata=_metadata(tool),
        takes_data=isinstance(tool, WorkflowTool) and bool(tool.input_ports),
    )


def to_langchain_tools(
    tools: Sequence[Tool],
    context: ToolContext,
    *,
    data: DataRepository | None = None,
    simple_types_only: bool = False,
    execution_hints: Mapping[str, str] | None = None,
) -> list[StructuredTool]:
    """Makes tool rows callable for a chat model.

    Each tool can be invoked blocking or awaited, from any thread, also where an event loop runs, and concurrently.
    A failed call raises LangChain's `ToolException` with a text for the model; a good one gives the text for the
    model and the whole `ToolResult` as artifact.

    Args:
        tools: Rows of a tool column, workflows and MCP tools mixed. Equal names are allowed: every tool gets a
            name of its own, and calls reach the row that it was made of.
        context: The host's execution context, or anything with its two methods.
        data: The tables that workflows take and give; a new repository if not given.
        simple_types_only: Offer only texts and numbers as arguments, for models that handle nothing else.
        execution_hints: Hints to the host's workflow executor, such as `execution-mode`.

    Returns:
        One tool per row, in order. `metadata` tells `tool_type` ("workflow" or "mcp"), `display_name`, `server`,
        `provider`, `wire_name` and `annotations`.

    Raises:
        ConfigurationError: A row is no tool.
    """
    repository = DataRepository() if data is None else data
    hints = DEFAULT_HINTS | dict(execution_hints or {})
    dispatches = [_dispatch(tool, context, repository, hints, simple_types_only) for tool in tools]
    displayed = [tool.name for tool in tools]
    names = NameMap(displayed)
    return [
        _row_tool(names.to_safe(index), tool, dispatch, shared_name=displayed.count(tool.name) > 1)
        for index, (tool, dispatch) in enumerate(zip(tools, dispatches, strict=True))
    ]


def tool_definitions(tools: Sequence[BaseTool]) -> list[dict[str, Any]]:
    """The tools in the form that `bind_tools` of every LangChain chat model takes, schemas unchanged.

    LangChain's own conversion resolves `$ref`, drops `$defs` and removes titles; servers' schemas reach the model
    as they are.
    """
    return [_definition(tool) for tool in tools]


def _definition(tool: BaseTool) -> dict[str, Any]:
    if not isinstance(tool.args_schema, dict):
        return convert_to_openai_tool(tool)
    function = {"name": tool.name, "description": tool.description, "parameters": tool.args_schema}
    return {"type": "function", "function": function}
