"""Runs one tool call; whatever goes wrong becomes a message to the model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from knime_ext.agent.cancellation import stop
from knime_ext.agent.loop import error_message
from knime_ext.agent.origin import AGENT, marked, origin_of_tool
from knime_ext.agent.threads import call_in_thread
from knime_ext.agent.wellformed import wellformed_result
from knime_ext.errors import ApprovalRequired, InvalidArguments, KnimeExtError, UnknownTool

__all__ = ["TimeLimit", "run_call"]

GRACE_SECONDS = 1.0
"""How long a stopped tool may take to tidy up: less than a run that waits for it."""

NAMES_IN_FULL = 30
"""How many tools are named to a model that asked for one that does not exist; of more, the nearest ones."""


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
    """Calls a tool and gives its result, or the reason why there is none, as a message with its origin.

    Args:
        call: What the model asked for.
        tools: The offered tools by name.
        limit: Time limit; none if not given.
    """
    name, identifier = call["name"], call["id"] or ""
    tool = tools.get(name)
    if tool is None:
        return error_message(identifier, name, _unknown_text(name, tools))
    allowed = limit or TimeLimit()
    # A task of its own tells apart who was cancelled: the run, or something within the tool.
    task = asyncio.ensure_future(_invoked(tool, {**call, "type": "tool_call"}))
    try:
        await asyncio.wait({task}, timeout=allowed.seconds)
    except asyncio.CancelledError:
        await stop(task, GRACE_SECONDS)
        raise
    if not task.done():
        await stop(task, GRACE_SECONDS)
        return error_message(identifier, name, _timeout_text(name, allowed))
    if task.cancelled():
        return error_message(identifier, name, f"the tool {name!r} was cancelled from within.")
    if error := task.exception():
        message = error_message(identifier, name, str(wellformed_result(_failure_text(name, error))))
        return marked(message, AGENT if _is_ours(error) else origin_of_tool(tool))
    return marked(_as_message(task.result(), name, identifier), origin_of_tool(tool))


class _Exited(Exception):
    """A tool wanted to end the process."""


async def _invoked(tool: BaseTool, request: ToolCall) -> Any:
    """Calls a tool; one that only blocks gets a thread that a cancelled run does not wait for."""
    if isinstance(tool, StructuredTool):
        blocks = tool.coroutine is None
    else:
        blocks = type(tool)._arun is BaseTool._arun  # pyright: ignore[reportPrivateUsage]
    try:
        return await (call_in_thread(tool.invoke, request) if blocks else tool.ainvoke(request))
    except (SystemExit, KeyboardInterrupt) as error:
        # These two would end the event loop, and everybody's work with it.
        raise _Exited(f"it tried to end the process ({type(error).__name__})") from error


def _as_message(result: Any, name: str, identifier: str) -> ToolMessage:
    if not isinstance(result, ToolMessage):
        return ToolMessage(content=wellformed_result(result), tool_call_id=identifier, name=name)
    content = wellformed_result(result.content)  # pyright: ignore[reportUnknownMemberType]
    return result.model_copy(update={"name": name, "tool_call_id": identifier, "content": content})


def _is_ours(error: BaseException) -> bool:
    """True if the call was refused before it reached the tool."""
    refusals = (ApprovalRequired, InvalidArguments, UnknownTool)
    return isinstance(error, refusals) or isinstance(error.__cause__, refusals)


def _unknown_text(name: str, tools: Mapping[str, BaseTool]) -> str:
    if len(tools) <= NAMES_IN_FULL:
        return f"there is no tool {name!r}; the tools are: {', '.join(tools) or 'none'}."
    near = ", ".join(get_close_matches(name, tools, n=5, cutoff=0.3))
    return f"there is no tool {name!r}; there are {len(tools)} tools, with names such as: {near or next(iter(tools))}."


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


def _failure_text(name: str, error: BaseException) -> str:
    try:
        text = str(error).strip()
    except Exception:
        text = ""
    if isinstance(error, (ToolException, KnimeExtError)) and text:
        return text
    kind = "" if isinstance(error, _Exited) else type(error).__name__
    return f"the tool {name!r} failed: {': '.join(part for part in (kind, text) if part)}"
