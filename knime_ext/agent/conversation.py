"""Conversations as cells and back: people see tools under the names they gave them, models under safe ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool

from knime.types.message import (
    UNREADABLE,
    MessageType,
    MessageValue,
    ToolCall,
    from_langchain_message,
    to_langchain_message,
)
from knime_ext.agent.loop import error_message
from knime_ext.tools import safe_name

__all__ = ["ToolNames", "cells_from_messages", "messages_from_cells"]

# LangChain gives every reply without an id a random one; it means nothing outside of the process.
_PASSING_ID = "lc_run-"


class ToolNames:
    """The names of an agent's tools: as people see them, and as models call them."""

    def __init__(self, tools: Iterable[BaseTool]) -> None:
        self._shown: dict[str, str] = {}
        self._safe: dict[str, str] = {}
        for tool in tools:
            display = str((tool.metadata or {}).get("display_name") or tool.name)
            # Of several tools with one display name only the first can have it, or a cell would be ambiguous.
            shown = display if display not in self._safe else tool.name
            self._shown[tool.name] = shown
            self._safe.setdefault(shown, tool.name)

    def shown(self, safe: str) -> str:
        """The name for people."""
        return self._shown.get(safe, safe)

    def safe(self, shown: str) -> str:
        """The name for models; a tool that is no longer there gets one that models accept."""
        return self._safe.get(shown) or safe_name(shown)


def cells_from_messages(messages: Iterable[BaseMessage], names: ToolNames) -> list[MessageValue]:
    """The cells of a conversation. System messages are left out, for the layout has no place for them.

    Args:
        messages: Messages of an agent's run.
        names: The names of the agent's tools.
    """
    spoken = (message for message in messages if not isinstance(message, SystemMessage))
    return [_renamed(_cell(message), names.shown) for message in spoken]


def _cell(message: BaseMessage) -> MessageValue:
    value = from_langchain_message(message)
    if not isinstance(message, AIMessage):
        return value
    unreadable = [
        ToolCall(call["name"] or "unknown", call["id"] or "", {UNREADABLE: call["args"]})
        for call in message.invalid_tool_calls
    ]
    identifier = value.tool_call_id
    passing = identifier is not None and identifier.startswith(_PASSING_ID)
    calls = [*(value.tool_calls or []), *unreadable]
    return replace(value, tool_calls=calls or None, tool_call_id=None if passing else identifier)


def messages_from_cells(cells: Iterable[MessageValue | None], names: ToolNames) -> list[BaseMessage]:
    """The messages of a conversation for a model; missing cells are left out.

    Models reject a conversation with calls that nothing answers, or answers that nothing asked for, as an
    interrupted run or a filter on the table leaves them. The first get an answer that says so, the second are left
    out.

    Args:
        cells: Cells of a conversation column.
        names: The names of the agent's tools.
    """
    values = [_renamed(cell, names.safe) for cell in cells if cell is not None]
    return _paired([to_langchain_message(value) for value in values])


def _renamed(value: MessageValue, rename: Callable[[str], str]) -> MessageValue:
    calls = value.tool_calls and [replace(call, tool_name=rename(call.tool_name)) for call in value.tool_calls]
    is_tool = value.message_type is MessageType.TOOL
    name = rename(value.name) if is_tool and value.name else value.name
    return replace(value, tool_calls=calls, name=name)


def _paired(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    paired: list[BaseMessage] = []
    waiting: dict[str, str] = {}

    def give_up_waiting() -> None:
        paired.extend(
            error_message(identifier, name, "no result was recorded.") for identifier, name in waiting.items()
        )
        waiting.clear()

    for message in messages:
        if isinstance(message, ToolMessage):
            if waiting.pop(message.tool_call_id, None) is not None:
                paired.append(message)
            continue
        give_up_waiting()
        paired.append(message)
        if isinstance(message, AIMessage):
            waiting.update({call["id"] or "": call["name"] for call in message.tool_calls})
    give_up_waiting()
    return paired
