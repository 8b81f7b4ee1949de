"""Tools of an MCP server as LangChain tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from knime_ext.errors import ToolFailed
from knime_ext.mcp.offered_tools import OfferedTool
from knime_ext.tools import ToolDefinition, ToolResult, check_arguments, definition_for_model

__all__ = ["ServerTool", "ToolCalls", "langchain_tool"]


class ServerTool(StructuredTool):
    """A LangChain tool whose arguments travel as one mapping.

    LangChain passes arguments by keyword, where one called `config` or `callbacks` would clash with its own.
    """

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self._parse_input(tool_input, tool_call_id),), {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalls:
    """How calls go out, and what LangChain shall know about their origin.

    Attributes:
        call: Calls a tool, blocking; takes its name and arguments.
        acall: Calls a tool.
        provider: Name of the registered provider, if the server is one.
        labels: More entries for the `metadata` of each tool.
    """

    call: Callable[[str, Mapping[str, Any]], ToolResult]
    acall: Callable[[str, Mapping[str, Any]], Awaitable[ToolResult]]
    provider: str | None = None
    labels: Mapping[str, Any] = field(default_factory=dict[str, Any])


def langchain_tool(tool: OfferedTool, calls: ToolCalls) -> BaseTool:
    """A LangChain tool that can be invoked blocking or awaited, from any thread and any event loop.

    It gives the text of the result and, as artifact, the whole `ToolResult`. Whatever goes wrong is a
    `ToolException` with a text that a model can act on.

    Args:
        tool: The tool.
        calls: How its calls go out.
    """
    definition = definition_for_model(tool.definition)

    def invoke(arguments: dict[str, Any]) -> tuple[str, ToolResult]:
        with _told_to_the_model(tool.name):
            check_arguments(definition.parameters, arguments, tool.name)
            return _reply(calls.call(definition.name, arguments))

    async def ainvoke(arguments: dict[str, Any]) -> tuple[str, ToolResult]:
        with _told_to_the_model(tool.name):
            check_arguments(definition.parameters, arguments, tool.name)
            return _reply(await calls.acall(definition.name, arguments))

    return ServerTool(
        name=tool.name,
        description=definition.description,
        args_schema={"type": "object", "properties": dict[str, Any](), **definition.parameters},
        func=invoke,
        coroutine=ainvoke,
        response_format="content_and_artifact",
        metadata=_metadata(definition, calls),
    )


@contextmanager
def _told_to_the_model(name: str) -> Generator[None]:
    try:
        yield
    except ToolException:
        raise
    except Exception as error:
        raise ToolException(str(error) or f"the tool {name!r} failed with {type(error).__name__}") from error


def _reply(result: ToolResult) -> tuple[str, ToolResult]:
    if result.is_error:
        raise ToolFailed(result.text)
    return result.text, result


def _metadata(definition: ToolDefinition, calls: ToolCalls) -> dict[str, Any]:
    return {
        "tool_type": "mcp",
        "display_name": definition.display_name or definition.name,
        "server": definition.origin,
        "provider": calls.provider,
        "wire_name": definition.wire_name or definition.name,
        "annotations": dict(definition.annotations),
        **calls.labels,
    }
