"""Tools as functions of Python, for people and for the sandbox."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from knime_ext.agent.code.signatures import ToolSignature, identifier
from knime_ext.agent.code.values import tool_value
from knime_ext.agent.langchain_tools import tool_definitions
from knime_ext.agent.threads import call_in_thread
from knime_ext.bridge import shared_bridge
from knime_ext.errors import KnimeExtError, ToolFailed
from knime_ext.tools import ToolDefinition, ToolResult

__all__ = ["CalledTool", "ToolFunction", "tool_functions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledTool:
    """What a call gave.

    Attributes:
        value: The result as Python value.
        result: The whole result, if the tool gives one.
    """

    value: Any
    result: ToolResult | None = None


class ToolFunction:
    """A tool as a function: `search(query="x")` gives a Python value; a failure is a `ToolFailed`.

    It has the name, documentation, signature and annotations that the tool's schema gives, so that `help`, `inspect`
    and frameworks that read them work as with any function.

    Attributes:
        tool: The LangChain tool that it calls.
        signature: How it is called.
        definition: The tool as a chat model sees it.
        kind: "workflow", "mcp", or "" for any other tool.
    """

    def __init__(self, tool: BaseTool, name: str | None = None, *, seconds: float | None = None) -> None:
        """Makes a function of a tool.

        Args:
            tool: The tool.
            name: The function's name; made of the tool's name if not given.
            seconds: Time limit of a call; None for none of its own.
        """
        [definition] = tool_definitions([tool])
        schema: Mapping[str, Any] = definition["function"].get("parameters") or {}
        facts: Mapping[str, Any] = tool.metadata or {}
        self.tool = tool
        self.signature = ToolSignature.of(name or identifier(tool.name), tool.description, schema)
        self.definition = ToolDefinition(
            name=self.signature.name,
            description=self.signature.description,
            parameters=dict(schema),
            wire_name=str(facts.get("wire_name") or tool.name),
            display_name=str(facts.get("display_name") or tool.name),
            annotations=facts.get("annotations") or {},
            origin=str(facts.get("origin") or facts.get("server") or ""),
        )
        self._seconds = seconds
        self.kind = str(facts.get("tool_type") or "")
        self.__name__ = self.__qualname__ = self.signature.name
        self.__doc__ = self.signature.documentation
        self.__signature__: inspect.Signature = self.signature.inspected
        self.__annotations__ = {p.name: p.annotation for p in self.__signature__.parameters.values()} | {"return": Any}

    def __repr__(self) -> str:
        return f"<tool {self.signature.text}>"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Calls the tool and waits for it, in any thread but the bridge's own.

        Raises:
            TypeError: The arguments do not fit the signature.
            ToolFailed: The call failed; the message says why.
        """
        with shared_bridge() as bridge:
            return bridge.run(self.acall(*args, **kwargs))

    async def acall(self, /, *args: Any, **kwargs: Any) -> Any:
        """The same for async code."""
        return (await self.called(self.signature.arguments(args, kwargs))).value

    async def called(self, arguments: Mapping[str, Any], seconds: float | None = None) -> CalledTool:
        """Calls the tool with arguments under the names of its schema.

        Args:
            arguments: JSON object.
            seconds: Time limit, instead of the function's own.

        Raises:
            ToolFailed: The call failed.
        """
        limit = self._seconds if seconds is None else seconds
        timeout = asyncio.timeout(limit)
        try:
            async with timeout:
                return self._taken(await self._invoke(dict(arguments)))
        except TimeoutError as error:
            if not timeout.expired():
                raise self._failed(error) from error
            raise ToolFailed(
                f"the tool {self.__name__!r} gave no result within {limit:g} seconds and was stopped; "
                "it is unknown whether it took effect"
            ) from None
        except Exception as error:
            raise self._failed(error) from error

    async def _invoke(self, arguments: dict[str, Any]) -> Any:
        tool = self.tool
        # Tools that give nothing but a value give it as it is; the others are asked for the whole result.
        request: Any = arguments
        if tool.response_format != "content":
            request = {"name": tool.name, "args": arguments, "id": "code", "type": "tool_call"}
        blocks = tool.coroutine is None if isinstance(tool, StructuredTool) else _only_blocks(tool)
        return await (call_in_thread(tool.invoke, request) if blocks else tool.ainvoke(request))

    def _taken(self, answer: Any) -> CalledTool:
        if not isinstance(answer, ToolMessage):
            return CalledTool(value=answer)
        if answer.status == "error":
            raise ToolFailed(str(answer.text))
        artifact: Any = answer.artifact
        result = artifact if isinstance(artifact, ToolResult) else None
        return CalledTool(value=tool_value(answer, workflow=self.kind == "workflow"), result=result)

    def _failed(self, error: Exception) -> ToolFailed:
        text = str(error).strip()
        if isinstance(error, (ToolException, KnimeExtError)) and text:
            return error if isinstance(error, ToolFailed) else ToolFailed(text)
        return ToolFailed(f"the tool {self.__name__!r} failed: {type(error).__name__}{': ' + text if text else ''}")


def _only_blocks(tool: BaseTool) -> bool:
    return type(tool)._arun is BaseTool._arun  # pyright: ignore[reportPrivateUsage]


def tool_functions(tools: Sequence[BaseTool], *, seconds: float | None = None) -> dict[str, ToolFunction]:
    """The tools as functions by name, in order; names are made safe for Python and different.

    Args:
        tools: LangChain tools.
        seconds: Time limit of a call.
    """
    functions: dict[str, ToolFunction] = {}
    # What the agent itself offers, such as reading on in long results, makes no sense in code.
    tools = [tool for tool in tools if (tool.metadata or {}).get("tool_type") != "agent"]
    # A tool whose name is a Python name already keeps it, whatever stands before it.
    kept = {tool.name for tool in tools if identifier(tool.name) == tool.name}
    for tool in tools:
        keeps = tool.name in kept and tool.name not in functions
        name = tool.name if keeps else identifier(tool.name, kept | set(functions))
        functions[name] = ToolFunction(tool, name, seconds=seconds)
    return functions
