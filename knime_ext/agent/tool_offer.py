"""Which tools the model is told about at the moment: all of them, or those that it has searched for.

An agent with more tools than the model should read gets one tool to search with. What a run has found stays bound to
the end of that run; other runs of the same agent have offers of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, ToolException

from knime_ext.agent.langchain_tools import RowTool, tool_definitions
from knime_ext.agent.origin import AGENT
from knime_ext.agent.run_tools import RunScoped
from knime_ext.errors import InvalidArguments
from knime_ext.tools import ToolDefinition, ToolResult, check_arguments, estimated_tokens, safe_name, text_for_model
from knime_ext.tools.tool_search import FOUND, SEARCH_TOOLS, ToolSearch, first_line

__all__ = ["ToolCatalogue", "ToolOffer"]


class ToolCatalogue:
    """The tools of an agent and the search over them; holds nothing of a run.

    Args:
        tools: All tools by name.
        max_tokens: Estimated tokens that their definitions may have together before they are searched; None for any.
    """

    def __init__(self, tools: Mapping[str, BaseTool], max_tokens: int | None) -> None:
        self._tools = tools
        self._max_tokens = max_tokens

    @cached_property
    def searchable(self) -> tuple[str, ...]:
        """The tools that the model only sees when it has found them; none if all fit.

        Tools of the agent itself, such as the one to read on with, are always seen.
        """
        if self._max_tokens is None:
            return ()
        if sum(map(estimated_tokens, tool_definitions(list(self._tools.values())))) <= self._max_tokens:
            return ()
        return tuple(name for name, tool in self._tools.items() if not _is_always_seen(tool))

    @cached_property
    def search(self) -> ToolSearch:
        """The index over the searchable tools; made at the first search of any run."""
        return ToolSearch([_definition(self._tools[name]) for name in self.searchable])

    @cached_property
    def search_name(self) -> str:
        """Name of the tool that searches."""
        return safe_name(SEARCH_TOOLS.name, self._tools)


class ToolOffer:
    """The tools of one run.

    Args:
        catalogue: What the runs of the agent share.
        tools: The tools of this run by name.
        history: Earlier messages; the tools that they call stay in sight.

    Attributes:
        tools: Everything that can be called, the search included.
    """

    def __init__(
        self, catalogue: ToolCatalogue, tools: Mapping[str, BaseTool], history: Sequence[BaseMessage] = ()
    ) -> None:
        self._catalogue = catalogue
        self._hidden = dict.fromkeys(catalogue.searchable)
        self.tools = dict(tools)
        if self._hidden:
            self.tools = {catalogue.search_name: self._search_tool(), **self.tools}
        self.bind(call["name"] for message in history if isinstance(message, AIMessage) for call in message.tool_calls)

    @property
    def bound(self) -> list[BaseTool]:
        """The tools that the model is told about now, in the order of all tools."""
        return [tool for name, tool in self.tools.items() if name not in self._hidden]

    def bind(self, names: Iterable[str]) -> None:
        """Lets the model see some tools from now on; names of others are ignored."""
        for name in names:
            self._hidden.pop(name, None)

    def _search_tool(self) -> BaseTool:
        name = self._catalogue.search_name

        def search(arguments: dict[str, Any]) -> tuple[str, ToolResult]:
            try:
                check_arguments(SEARCH_TOOLS.parameters, arguments, name)
            except InvalidArguments as error:
                raise ToolException(str(error)) from error
            text = self._found(arguments["query"], int(arguments.get("limit", FOUND)))
            return text, ToolResult.of_text(text)

        async def asearch(arguments: dict[str, Any]) -> tuple[str, ToolResult]:
            return search(arguments)

        return RowTool(
            name=name,
            description=(
                f"{SEARCH_TOOLS.description} There are {len(self._hidden)} more than you see; those that are found can "
                "be called from your next message on. Search before you say that something cannot be done."
            ),
            args_schema=SEARCH_TOOLS.parameters,
            func=search,
            coroutine=asearch,
            response_format="content_and_artifact",
            metadata={
                "tool_type": "agent",
                "display_name": name,
                "server": None,
                "provider": None,
                "wire_name": SEARCH_TOOLS.wire_name,
                "annotations": dict(SEARCH_TOOLS.annotations),
                "origin": AGENT,
            },
        )

    def _found(self, query: str, limit: int) -> str:
        names = self._catalogue.search.find(query, limit)
        if not names:
            return "No tool fits; search with other words."
        self.bind(names)
        lines = [f"- {name}: {text_for_model(first_line(self.tools[name].description))}" for name in names]
        return "\n".join(["These tools can be called now:", *lines])


def _is_always_seen(tool: BaseTool) -> bool:
    return isinstance(tool, RunScoped) or _facts(tool).get("tool_type") == "agent"


def _facts(tool: BaseTool) -> Mapping[str, Any]:
    return tool.metadata or {}


def _definition(tool: BaseTool) -> ToolDefinition:
    shown = tool_definitions([tool])
    function: Mapping[str, Any] = shown[0]["function"] if shown else {}
    facts = _facts(tool)
    return ToolDefinition(
        name=tool.name,
        description=str(function.get("description", "")),
        parameters=function.get("parameters") or {},
        wire_name=str(facts.get("wire_name") or ""),
        display_name=str(facts.get("display_name") or ""),
    )
