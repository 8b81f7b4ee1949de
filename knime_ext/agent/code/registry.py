"""The tools of any number of sources as Python functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Protocol, Self, cast, runtime_checkable

from langchain_core.tools import BaseTool, StructuredTool, ToolException

from knime.types.tool import Tool
from knime_ext.agent.code.functions import ToolFunction, tool_functions
from knime_ext.agent.data import DataRepository
from knime_ext.agent.langchain_tools import ToolContext, to_langchain_tools
from knime_ext.bridge import shared_bridge
from knime_ext.errors import ConfigurationError, KnimeExtError, UnknownTool
from knime_ext.tools import ToolDefinition, ToolResult, Toolset, check_arguments, definition_for_model, unknown_tool

__all__ = ["MCPToolRegistry", "ToolSource"]


@runtime_checkable
class HasLangChainTools(Protocol):
    """Anything that gives its tools for LangChain, such as an `MCPClient`."""

    def as_langchain_tools(self) -> Sequence[BaseTool]:
        """The tools at this moment."""
        ...


ToolSource = HasLangChainTools | Toolset | BaseTool | Tool | Sequence[BaseTool | Tool]
"""Where tools come from: a client, a toolset, LangChain tools, or rows of a tool table."""


class MCPToolRegistry:
    """Tools of servers, toolsets and tables by name, as functions of Python.

    The sources are asked when the tools are first needed. A source that fails then is in `problems` and hides no
    other; it is asked again by `refresh`.

        with MCPToolRegistry([client_a, client_b]) as registry:
            search = registry.get_tool("search_web")
            search(query="coffee")
    """

    def __init__(
        self,
        sources: Iterable[ToolSource] = (),
        *,
        context: ToolContext | None = None,
        data: DataRepository | None = None,
        seconds_per_call: float | None = None,
    ) -> None:
        """Names the sources; nothing is asked yet.

        Args:
            sources: Where the tools come from. Of equal names, the first keeps its name and the others get a number.
            context: What runs rows of a tool table; only needed for those.
            data: The tables that workflows among those rows take and give.
            seconds_per_call: Time limit of a call made through a function; None for none.

        Raises:
            ConfigurationError: Something is no source, or there are rows and no context.
        """
        self._sources = list(sources)
        self._context = context
        self._data = data
        self._seconds = seconds_per_call
        self._functions: dict[str, ToolFunction] | None = None
        self._open = ExitStack()
        self.problems: tuple[str, ...] = ()
        """Why sources gave no tools, one sentence each."""
        for source in self._sources:
            self._check(source)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.functions)

    def close(self) -> None:
        """Closes the sources that can be closed. Clients connect again if they are used again."""
        for source in self._sources:
            close = getattr(source, "close", None)
            if callable(close):
                close()
        self._functions = None
        self._open.close()

    def list_tools(self) -> list[str]:
        """The names of all tools."""
        return list(self.functions)

    def get_tool(self, name: str) -> ToolFunction:
        """The function of that name; the tool's own name is taken, too.

        Raises:
            UnknownTool: There is none; the message names the nearest.
        """
        functions = self.functions
        if name in functions:
            return functions[name]
        for function in functions.values():
            if name in (function.tool.name, function.definition.wire_name):
                return function
        error = unknown_tool(name, list(functions))
        raise UnknownTool(" ".join([str(error), *self.problems]))

    def get_all_tools(self) -> dict[str, ToolFunction]:
        """All functions by name."""
        return dict(self.functions)

    def definitions(self) -> list[ToolDefinition]:
        """All tools as a chat model sees them."""
        return [function.definition for function in self.functions.values()]

    @property
    def functions(self) -> Mapping[str, ToolFunction]:
        """All functions by name; the sources are asked if they were not yet."""
        if self._functions is None:
            self.refresh()
        return self._functions or {}

    def refresh(self) -> None:
        """Asks the sources again."""
        tools: list[BaseTool] = []
        problems: list[str] = []
        for source in self._sources:
            try:
                tools += self._tools_of(source)
            except KnimeExtError as error:
                problems.append(str(error))
        self.problems = tuple(problems)
        self._functions = tool_functions(tools, seconds=self._seconds)

    def _check(self, source: Any) -> None:
        parts = cast("Sequence[Any]", source) if isinstance(source, (list, tuple)) else [source]
        for part in parts:
            if isinstance(part, Tool) and self._context is None:
                raise ConfigurationError(
                    f"the tool row {part.name!r} needs something that runs it; pass context=tool_context(), or the "
                    "execution context of a node."
                )
            if not isinstance(part, (BaseTool, Tool, Toolset, HasLangChainTools)):
                raise ConfigurationError(
                    f"{type(part).__name__!r} is no source of tools; pass clients, toolsets, LangChain tools or rows "
                    "of a tool table."
                )

    def _tools_of(self, source: Any) -> list[BaseTool]:
        if isinstance(source, (list, tuple)):
            parts = cast("Sequence[Any]", source)
            rows = [part for part in parts if isinstance(part, Tool)]
            others = [tool for part in parts if not isinstance(part, Tool) for tool in self._tools_of(part)]
            return [*others, *self._row_tools(rows)]
        if isinstance(source, BaseTool):
            return [source]
        if isinstance(source, Tool):
            return self._row_tools([source])
        if isinstance(source, Toolset):
            return self._toolset_tools(source)
        return list(cast("HasLangChainTools", source).as_langchain_tools())

    def _row_tools(self, rows: Sequence[Tool]) -> list[BaseTool]:
        if not rows or self._context is None:
            return []
        # Code gets results whole, whatever their size: no model reads them.
        return list(to_langchain_tools(rows, self._context, data=self._data, max_result_chars=None))

    def _toolset_tools(self, toolset: Toolset) -> list[BaseTool]:
        # What a toolset opens belongs to the bridge's event loop, which has to stay as long as the registry does.
        bridge = self._open.enter_context(shared_bridge())
        definitions = bridge.run(_definitions(toolset))
        return [_toolset_tool(toolset, definition_for_model(definition)) for definition in definitions]


async def _definitions(toolset: Toolset) -> Sequence[ToolDefinition]:
    return await toolset.list_definitions()


class ToolsetTool(StructuredTool):
    """A LangChain tool whose arguments travel as one mapping, whatever they are called."""

    def _to_args_and_kwargs(
        self, tool_input: str | dict[str, Any], tool_call_id: str | None
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (self._parse_input(tool_input, tool_call_id),), {}


def _toolset_tool(toolset: Toolset, definition: ToolDefinition) -> BaseTool:
    async def ask(arguments: dict[str, Any]) -> tuple[str, ToolResult]:
        result = await toolset.call(definition.name, arguments)
        if result.is_error:
            raise ToolException(result.text)
        return result.text, result

    async def acall(arguments: dict[str, Any]) -> tuple[str, ToolResult]:
        check_arguments(definition.parameters, arguments, definition.name)
        with shared_bridge() as bridge:
            return await bridge.arun(ask(arguments))

    def call(arguments: dict[str, Any]) -> tuple[str, ToolResult]:
        check_arguments(definition.parameters, arguments, definition.name)
        with shared_bridge() as bridge:
            return bridge.run(ask(arguments))

    return ToolsetTool(
        name=definition.name,
        description=definition.description,
        args_schema={"type": "object", "properties": dict[str, Any](), **definition.parameters},
        func=call,
        coroutine=acall,
        response_format="content_and_artifact",
        metadata={
            "tool_type": "mcp" if "://" in definition.origin else "",
            "display_name": definition.display_name or definition.name,
            "server": definition.origin,
            "wire_name": definition.wire_name or definition.name,
            "annotations": dict(definition.annotations),
        },
    )
