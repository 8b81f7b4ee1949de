"""Tool rows as LangChain tools: the one place where a row's type decides who runs it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast
from urllib.parse import urlsplit

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool

from knime.types.tool import MCPTool, Tool, WorkflowTool
from knime_ext.agent.data import DataRepository
from knime_ext.agent.dispatch import Dispatch, Reply, ToolContext
from knime_ext.agent.mcp_dispatch import MCPDispatch
from knime_ext.agent.tool_gate import GatedDispatch
from knime_ext.agent.workflow_dispatch import DEFAULT_HINTS, WorkflowDispatch
from knime_ext.errors import ConfigurationError
from knime_ext.tools import (
    MAX_RESULT_CHARS,
    READ_MORE,
    ApprovalPolicy,
    Decision,
    NameMap,
    ResultShelf,
    ToolDefinition,
    ToolResult,
    safe_name,
)
from knime_ext.tools.approval import Approve
from knime_ext.tools.shortening import Shortener

__all__ = ["RowTool", "ToolContext", "to_langchain_tools", "tool_definitions"]


class RowTool(StructuredTool):
    """A LangChain tool made of a tool row; its arguments travel as one mapping.

    LangChain passes arguments by keyword, where a parameter called `config` or `callbacks` would clash with its own.

    Attributes:
        takes_data: True if the tool takes tables of the data repository by their ids.
        is_of_use: Whether there is anything to call it for at the moment; None for always. A model is not told of
            a tool without use.
    """

    takes_data: bool = False
    is_of_use: Callable[[], bool] | None = None

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self._parse_input(tool_input, tool_call_id),), {}

    async def _arun(self, arguments: Any, **options: Any) -> Any:
        # LangChain evaluates the annotations of what it calls, here and of the coroutine, on each call.
        return await cast("Any", self.coroutine)(arguments)

    _arun.__annotations__.clear()


@contextmanager
def _told_to_the_model(name: str, shortener: Shortener | None) -> Generator[None]:
    """Every failure of a call as LangChain's ToolException, with a text that the model can act on."""
    try:
        yield
    except Exception as error:
        text = str(error) or f"the tool {name!r} failed with {type(error).__name__}"
        # Without a limit, only results are of use at any length.
        raise ToolException(text[:MAX_RESULT_CHARS] if shortener is None else shortener.text(text)) from error


def _origin(tool: Tool) -> str:
    """Where a tool lives, in words that hold no credentials and no path."""
    if isinstance(tool, MCPTool):
        address = urlsplit(tool.server_uri)
        host = tool.provider or address.hostname or tool.server_uri
        return f"server {host}" + (f":{address.port}" if address.port and not tool.provider else "")
    return "workflow"


class _Workshop:
    """Makes LangChain tools of rows, all under the same rules."""

    def __init__(
        self,
        context: Any,
        data: DataRepository,
        hints: Mapping[str, str],
        shortener: Shortener | None,
        *,
        simple: bool,
    ) -> None:
        self._context = context
        self._data = data
        self._hints = hints
        self._shortener = shortener
        self._simple = simple

    def dispatch(self, tool: Tool) -> Dispatch:
        """Where calls of a row go."""
        if isinstance(tool, WorkflowTool):
            return WorkflowDispatch(
                tool=tool,
                context=self._context,
                data=self._data,
                hints=self._hints,
                simple=self._simple,
                shortener=self._shortener,
            )
        if isinstance(tool, MCPTool):
            return MCPDispatch(tool=tool, context=self._context, simple=self._simple, shortener=self._shortener)
        raise ConfigurationError(f"{tool!r} is neither a workflow tool nor an MCP tool; pass rows of a tool column.")

    def row_tool(self, name: str, tool: Tool, dispatch: Dispatch, *, shared_name: bool) -> RowTool:
        """A row under a name of its own."""

        def call(arguments: dict[str, Any]) -> Reply:
            with _told_to_the_model(tool.name, self._shortener):
                return dispatch.call(arguments)

        async def acall(arguments: dict[str, Any]) -> Reply:
            with _told_to_the_model(tool.name, self._shortener):
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


def _definition_of(tool: Tool, dispatch: Dispatch) -> ToolDefinition:
    """What an approval policy judges."""
    mcp = isinstance(tool, MCPTool)
    return ToolDefinition(
        name=tool.name,
        description=dispatch.description,
        parameters=dispatch.schema,
        wire_name=tool.tool_name if mcp else tool.name,
        display_name=tool.name,
        annotations=dict(tool.annotations or {}) if mcp else {},
        origin=_origin(tool),
    )


def _metadata(tool: Tool) -> dict[str, Any]:
    mcp = isinstance(tool, MCPTool)
    return {
        "tool_type": "mcp" if mcp else "workflow",
        "display_name": tool.name,
        "server": tool.server_uri if mcp else None,
        "provider": tool.provider if mcp else None,
        "wire_name": tool.tool_name if mcp else tool.name,
        "annotations": dict(tool.annotations or {}) if mcp else {},
        "origin": _origin(tool),
    }


def _reader(name: str, shortener: Shortener) -> RowTool:
    """The tool to read on with in long results."""

    def call(arguments: dict[str, Any]) -> Reply:
        with _told_to_the_model(name, None):
            text = shortener.read(arguments)
        return text, ToolResult.of_text(text)

    async def acall(arguments: dict[str, Any]) -> Reply:
        return call(arguments)

    return RowTool(
        name=name,
        description=READ_MORE.description,
        args_schema=READ_MORE.parameters,
        func=call,
        coroutine=acall,
        response_format="content_and_artifact",
        metadata={
            "tool_type": "agent",
            "display_name": name,
            "server": None,
            "provider": None,
            "wire_name": READ_MORE.wire_name,
            "annotations": dict(READ_MORE.annotations),
            "origin": "agent",
        },
        is_of_use=lambda: shortener.has_shortened,
    )


def to_langchain_tools(
    tools: Sequence[Tool],
    context: ToolContext,
    *,
    data: DataRepository | None = None,
    simple_types_only: bool = False,
    execution_hints: Mapping[str, str] | None = None,
    approval: ApprovalPolicy | None = None,
    approve: Approve | None = None,
    shelf: ResultShelf | None = None,
    max_result_chars: int | None = MAX_RESULT_CHARS,
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
        approval: Which calls go out, by the rows' names and the servers' own; all if not given.
        approve: Asks a person about a call that the policy wants approved; without it, such calls are refused.
        shelf: Where results are kept that are longer than `max_result_chars`; in memory if not given.
        max_result_chars: How much of a result the model gets at once. None passes everything on, whatever its size.

    Returns:
        One tool per row that is not denied, in order, and last the tool `read_more`, with which the model reads on in
        long results. `metadata` tells `tool_type` ("workflow", "mcp", or "agent" for `read_more`), `display_name`,
        `server`, `provider`, `wire_name`, `annotations` and `origin`, a word for where the tool lives.

    Raises:
        ConfigurationError: A row is no tool.
    """
    names = NameMap([tool.name for tool in tools])
    reader = safe_name(READ_MORE.name, set(names.safe))
    shortener = None if max_result_chars is None else Shortener(shelf, max_result_chars, reader)
    repository = DataRepository() if data is None else data
    hints = DEFAULT_HINTS | dict(execution_hints or {})
    workshop = _Workshop(context, repository, hints, shortener, simple=simple_types_only)
    displayed = [tool.name for tool in tools]
    made: list[StructuredTool] = []
    for index, tool in enumerate(tools):
        dispatch = workshop.dispatch(tool)
        if approval is not None:
            definition = _definition_of(tool, dispatch)
            verdict = approval.judge(definition)
            if verdict.decision is Decision.DENY:
                continue
            dispatch = GatedDispatch(wrapped=dispatch, tool=definition, verdict=verdict, approve=approve)
        shared = displayed.count(tool.name) > 1
        made.append(workshop.row_tool(names.to_safe(index), tool, dispatch, shared_name=shared))
    return [*made, _reader(reader, shortener)] if made and shortener is not None else made


def tool_definitions(tools: Sequence[BaseTool]) -> list[dict[str, Any]]:
    """The tools in the form that `bind_tools` of every LangChain chat model takes, schemas unchanged.

    LangChain's own conversion resolves `$ref`, drops `$defs` and removes titles; servers' schemas reach the model
    as they are. A tool that there is nothing to call for at the moment is left out.
    """
    return [_definition(tool) for tool in tools if not isinstance(tool, RowTool) or _is_of_use(tool)]


def _is_of_use(tool: RowTool) -> bool:
    return tool.is_of_use is None or tool.is_of_use()


def _definition(tool: BaseTool) -> dict[str, Any]:
    if not isinstance(tool.args_schema, dict):
        return convert_to_openai_tool(tool)
    function = {"name": tool.name, "description": tool.description, "parameters": tool.args_schema}
    return {"type": "function", "function": function}
