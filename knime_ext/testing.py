"""Test doubles for code that uses chat models and tools: scripted, recorded, without network or keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, SkipValidation

from knime_ext.errors import UnknownTool
from knime_ext.tools import ToolDefinition, ToolResult, Toolset

__all__ = ["RecordingToolset", "ScriptedChatModel", "ScriptedReply", "call"]

ScriptedReply = AIMessage | str | Callable[[list[BaseMessage]], AIMessage]
"""A message, its text, or a function of the messages that gives one."""


def call(name: str, arguments: Mapping[str, Any] | None = None, *, id: str | None = None) -> AIMessage:
    """A reply that asks for one tool call.

    Args:
        name: Name of the tool.
        arguments: Its arguments; none if not given.
        id: Identifier of the call; "call_" and the name if not given.
    """
    request = {"name": name, "args": dict(arguments or {}), "id": id or f"call_{name}", "type": "tool_call"}
    return AIMessage(content="", tool_calls=[request])


class ScriptedChatModel(BaseChatModel):
    """A chat model that replies as told and writes down what it was asked.

    Attributes:
        replies: The replies, one per request, in order.
        received: The messages of each request so far.
        bound: Names of the tools that were bound for each request.
        bound_tools: The tools bound for the newest request, in OpenAI's form.
    """

    replies: SkipValidation[list[ScriptedReply]]
    received: list[list[BaseMessage]] = Field(default_factory=list[list[BaseMessage]])
    bound: list[list[str]] = Field(default_factory=list[list[str]])
    bound_tools: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        """Offers tools to the script, which ignores them but writes them down."""
        return super().bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.bound_tools = cast("list[dict[str, Any]]", kwargs.get("tools", []))
        self.bound.append([tool["function"]["name"] for tool in self.bound_tools])
        self.received.append(list(messages))
        number = len(self.received)
        if number > len(self.replies):
            raise AssertionError(f"the script has {len(self.replies)} replies, but was asked {number} times")
        reply = self.replies[number - 1]
        if isinstance(reply, str):
            message = AIMessage(content=reply)
        elif isinstance(reply, AIMessage):
            message = reply.model_copy()
        else:
            message = reply(list(messages))
        return ChatResult(generations=[ChatGeneration(message=message)])


Handler = Callable[[Mapping[str, Any]], ToolResult | str]
"""What a recorded tool answers for its arguments."""


class RecordingToolset(Toolset):
    """A toolset of functions that writes down every call.

    Attributes:
        calls: Name and arguments of each call, in order.
    """

    def __init__(self, tools: Mapping[str, Handler | ToolResult | str] | Sequence[str]) -> None:
        """Offers tools without a schema of arguments.

        Args:
            tools: Name to answer (a result, its text, or a function of the arguments); or names alone, for tools
                that answer "ok".
        """
        self._tools = dict(tools) if isinstance(tools, Mapping) else dict.fromkeys(tools, "ok")
        self.calls: list[tuple[str, dict[str, Any]]] = []

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        """One definition per tool."""
        return [ToolDefinition(name=name, wire_name=name, display_name=name) for name in self._tools]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Writes the call down and gives the tool's answer.

        Raises:
            UnknownTool: There is no tool of that name.
        """
        self.calls.append((name, dict(arguments)))
        if name not in self._tools:
            raise UnknownTool(f"there is no tool {name!r}; the tools are: {', '.join(self._tools)}.")
        answer = self._tools[name]
        result = answer(arguments) if callable(answer) else answer
        return ToolResult.of_text(result) if isinstance(result, str) else result
