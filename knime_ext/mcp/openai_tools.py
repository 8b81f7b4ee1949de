"""Tools in OpenAI's form: function schemas out, calls of functions in. No I/O, and no framework needed."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias, cast

from knime_ext.errors import InvalidArguments
from knime_ext.mcp.offered_tools import OfferedTool
from knime_ext.mcp.tool_info import ToolCallResult
from knime_ext.tools import Dialect, ToolDefinition, convert_schema, definition_for_model

__all__ = ["AsyncToolExecutor", "ToolExecutor", "called_arguments", "executor_reply", "openai_tools"]

Arguments: TypeAlias = "Mapping[str, Any] | str | None"
"""Arguments of a call, as an object or as the JSON text that OpenAI's models send."""

ToolExecutor: TypeAlias = "Callable[[str, Arguments], dict[str, Any]]"
AsyncToolExecutor: TypeAlias = "Callable[[str, Arguments], Awaitable[dict[str, Any]]]"


def openai_tools(tools: Iterable[OfferedTool], dialect: Dialect | str | None = None) -> list[dict[str, Any]]:
    """The tools as entries of `tools` in a request for a chat completion.

    Args:
        tools: The tools.
        dialect: The vendor's dialect for schemas of arguments; None keeps every keyword.

    Raises:
        ConfigurationError: There is no such dialect.
    """
    return [_openai_tool(tool, dialect) for tool in tools]


def _openai_tool(tool: OfferedTool, dialect: Dialect | str | None) -> dict[str, Any]:
    clean = definition_for_model(tool.definition)
    parameters = _parameters(clean)
    function: dict[str, Any] = {"name": tool.name, "description": clean.description, "parameters": parameters}
    if dialect is not None:
        function["parameters"] = convert_schema(parameters, dialect).schema
        if dialect == Dialect.OPENAI_STRICT:
            function["strict"] = True
    return {"type": "function", "function": function}


def _parameters(tool: ToolDefinition) -> dict[str, Any]:
    # The vendor refuses an object without this keyword; servers may leave it out for tools without arguments.
    return {"type": "object", "properties": dict[str, Any](), **tool.parameters}


def called_arguments(
    arguments: Arguments, tool: ToolDefinition, dialect: Dialect | str | None = None, *, called: str = ""
) -> dict[str, Any]:
    """The arguments of a model's call as the tool wants them.

    Args:
        arguments: What came from the model.
        tool: The tool.
        dialect: The dialect in which the model got the schema.
        called: The name that the model knows the tool by, for messages.

    Raises:
        InvalidArguments: They are no JSON object; the message is written for the model.
        ConfigurationError: There is no such dialect.
    """
    given = _read_arguments(arguments, called or tool.name)
    if dialect is None:
        return given
    return convert_schema(_parameters(definition_for_model(tool)), dialect).arguments(given)


def _read_arguments(arguments: Arguments, tool: str) -> dict[str, Any]:
    """The arguments of a call as an object; nothing at all is an empty one."""
    if arguments is None or arguments == "":
        return {}
    if not isinstance(arguments, str):
        return dict(arguments)
    try:
        value: Any = json.loads(arguments)
    except (ValueError, RecursionError) as error:
        raise InvalidArguments(
            f"the arguments of {tool!r} are not valid JSON ({error}); send one JSON object"
        ) from None
    if not isinstance(value, dict):
        raise InvalidArguments(f"the arguments of {tool!r} must be a JSON object, not {arguments[:80]}")
    return cast("dict[str, Any]", value)


def executor_reply(result: ToolCallResult) -> dict[str, Any]:
    """What an executor gives for a result: the object that the tool gave, `{"result": ...}`, or `{"error": ...}`."""
    if not result.success:
        return {"error": result.error}
    return result.data if isinstance(result.data, dict) else {"result": result.data}
