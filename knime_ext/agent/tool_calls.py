"""Runs one tool call; whatever goes wrong becomes a message to the model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from knime_ext.agent.loop import error_message
from knime_ext.agent.threads import call_in_thread
from knime_ext.errors import KnimeExtError

__all__ = ["TimeLimit", "run_call"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimit:
    """How long a call may take.

    Attributes:
        seconds: From now; None for no limit.
        of_run: The time of the whole run, if that is what ends first.
    """

    seconds: float | None = None
    of_run: float | None = None

    @classmethod
    def soonest(cls, per_call: float | None, of_run: float | None, now: float) -> TimeLimit:
        """The limit of a call that begins `now` seconds after its run began."""
        left = None if of_run is None else of_run - now
        if left is None or (per_call is not None and per_call <= left):
            return cls(seconds=per_call)
        return cls(seconds=left, of_run=of_run)


async def run_call(call: ToolCall, tools: Mapping[str, BaseTool], limit: TimeLimit | None = None) -> ToolMessage:
    """Calls a tool and gives its result, or the reason why there is none, as a message.

    Args:
        call: What the model asked for.
        tools: The offered tools by name.
        limit: Time limit; none if not given.
    """
    name, identifier = call["name"], call["id"] or ""
    tool = tools.get(name)
    if tool is None:
        known = ", ".join(tools) or "none"
        return error_message(identifier, name, f"there is no tool {name!r}; the tools are: {known}.")
    allowed = limit or TimeLimit()
    timeout = asyncio.timeout(allowed.seconds)
    try:
        async with timeout:
            return _as_message(await _invoke(tool, {**call, "type": "tool_call"}), name, identifier)
    except asyncio.CancelledError:
        if _being_cancelled():
            raise
        # A tool's own event loop may cancel inside; that is a failure of the tool, not of the run.
        text = f"the tool {name!r} was cancelled from within."
    except TimeoutError as error:
        text = _timeout_text(name, allowed) if timeout.expired() else _failure_text(name, error)
    except Exception as error:
        text = _failure_text(name, error)
    return error_message(identifier, name, text)


async def _invoke(tool: BaseTool, request: ToolCall) -> Any:
    """Calls a tool; one that only blocks gets a thread that a cancelled run does not wait for."""
    if isinstance(tool, StructuredTool):
        blocks = tool.coroutine is None
    else:
        blocks = type(tool)._arun is BaseTool._arun  # pyright: ignore[reportPrivateUsage]
    return await (call_in_thread(tool.invoke, request) if blocks else tool.ainvoke(request))


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _as_message(result: Any, name: str, identifier: str) -> ToolMessage:
    if isinstance(result, ToolMessage):
        return result.model_copy(update={"name": name})
    return ToolMessage(content=str(result), tool_call_id=identifier, name=name)


def _timeout_text(name: str, limit: TimeLimit) -> str:
    if limit.of_run is not None:
        return (
            f"the tool {name!r} was stopped, for the run's time of {limit.of_run:g} seconds is used up; "
            "it is unknown whether it took effect. Answer with what you have."
        )
    return (
        f"the tool {name!r} gave no result within {limit.seconds:g} seconds and was stopped; "
        "it is unknown whether it took effect. Ask for less, or go on without it."
    )


def _failure_text(name: str, error: Exception) -> str:
    text = str(error).strip()
    if isinstance(error, (ToolException, KnimeExtError)) and text:
        return text
    return f"the tool {name!r} failed: {type(error).__name__}{': ' + text if text else ''}"
