"""Messages of a conversation as table cells, in the layout of KNIME's AI extension.

The struct: "0" type (USER, AI or TOOL), "1" list of parts (struct of "text" or "png" and bytes), "2" list of tool
calls (struct of id, name, arguments as JSON) or null, "3" identifier of the answered tool call or null, "4" name or
null. Needs nothing but the standard library; LangChain is imported only by the two conversions.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    class _ValueFactory:
        def __init__(self, compatible_type: type) -> None: ...

else:
    try:
        from knime.api.types import PythonValueFactory as _ValueFactory
    except ModuleNotFoundError:

        class _ValueFactory:
            """The part of KNIME's value factory that a host asks for."""

            def __init__(self, compatible_type: type) -> None:
                self._compatible_type = compatible_type

            @property
            def compatible_type(self) -> type:
                return self._compatible_type

            def needs_conversion(self) -> bool:
                return True


__all__ = [
    "MessageContentPart",
    "MessageContentPartType",
    "MessageType",
    "MessageValue",
    "MessageValueFactory",
    "ToolCall",
    "from_langchain_message",
    "to_langchain_message",
]


class MessageType(Enum):
    """Who speaks. A system message has no type of its own and is never stored."""

    USER = "USER"
    AI = "AI"
    TOOL = "TOOL"


class MessageContentPartType(Enum):
    """What one part of a message holds."""

    TEXT = "text"
    PNG = "png"


@dataclass
class MessageContentPart:
    """One part of a message: UTF-8 text or a PNG image, as bytes."""

    type: MessageContentPartType
    data: bytes


@dataclass
class ToolCall:
    """A model's request to call one tool."""

    tool_name: str
    id: str
    arguments: dict[str, Any]


@dataclass
class MessageValue:
    """One message of a conversation.

    Attributes:
        message_type: Who speaks.
        content: The parts, in order.
        tool_calls: Calls that a model asks for.
        tool_call_id: For a tool's message, the call that it answers; for a model's message, its own identifier.
        name: Name of the speaker, if known; for a tool's message the tool's name.
    """

    message_type: MessageType
    content: list[MessageContentPart]
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    name: str | None = None

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join(
            part.data.decode("utf-8", errors="replace")
            for part in self.content
            if part.type is MessageContentPartType.TEXT
        )


UNREADABLE = "unreadable_arguments"
"""The argument under which a cell keeps the text of a call whose arguments are no JSON object."""


def _arguments(text: Any) -> dict[str, Any]:
    """The arguments of a call; tables are edited and filtered by all kinds of nodes, so anything may stand there."""
    value: Any = text or {}
    with suppress(ValueError):
        value = json.loads(value) if isinstance(value, str) else value
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {UNREADABLE: str(text)}


class MessageValueFactory(_ValueFactory):
    """Reads and writes messages; missing cells stay missing."""

    def __init__(self) -> None:
        super().__init__(MessageValue)

    def decode(self, storage: Mapping[str, Any] | None) -> MessageValue | None:
        """The message in one cell, or None for a missing cell."""
        if storage is None:
            return None
        parts: list[dict[str, Any]] = storage["1"] or []
        calls: list[dict[str, Any]] | None = storage["2"]
        return MessageValue(
            message_type=MessageType(storage["0"]),
            content=[MessageContentPart(MessageContentPartType(part["0"]), part["1"]) for part in parts],
            tool_calls=None
            if calls is None
            else [ToolCall(tool_name=call["1"], id=call["0"], arguments=_arguments(call["2"])) for call in calls],
            tool_call_id=storage.get("3"),
            name=storage.get("4"),
        )

    def encode(self, value: MessageValue | None) -> dict[str, Any] | None:
        """The cell of one message, or None for a missing value."""
        if value is None:
            return None
        calls = value.tool_calls
        return {
            "0": value.message_type.value,
            "1": [{"0": part.type.value, "1": part.data} for part in value.content],
            "2": None
            if calls is None
            else [
                {"0": call.id, "1": call.tool_name, "2": json.dumps(call.arguments, ensure_ascii=False)}
                for call in calls
            ],
            "3": value.tool_call_id,
            "4": value.name,
        }


def _block(part: MessageContentPart) -> dict[str, Any]:
    if part.type is MessageContentPartType.TEXT:
        return {"type": "text", "text": part.data.decode("utf-8", errors="replace")}
    # KNIME's AI extension stores the bytes of an address where the image came as one.
    if part.data.startswith((b"data:", b"http:", b"https:")):
        url = part.data.decode("utf-8", errors="replace")
    else:
        url = "data:image/png;base64," + base64.b64encode(part.data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": url}}


def to_langchain_message(message: MessageValue) -> BaseMessage:
    """The message for a LangChain chat model: text as a plain string, anything with images as a list of blocks."""
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    plain = all(part.type is MessageContentPartType.TEXT for part in message.content)
    content: Any = message.text if plain else [_block(part) for part in message.content]
    if message.message_type is MessageType.USER:
        return HumanMessage(content=content, name=message.name)
    if message.message_type is MessageType.TOOL:
        return ToolMessage(content=content, tool_call_id=message.tool_call_id or "", name=message.name)
    calls = [
        {"name": call.tool_name, "args": call.arguments, "id": call.id, "type": "tool_call"}
        for call in message.tool_calls or []
    ]
    return AIMessage(content=content, tool_calls=calls, id=message.tool_call_id, name=message.name)


_PNG_URL = "data:image/png;base64,"


def _part(block: Any) -> MessageContentPart | None:
    """One LangChain content block as a part; None for a block that has no place in the layout (reasoning, ...)."""
    if isinstance(block, str):
        return MessageContentPart(MessageContentPartType.TEXT, block.encode())
    kind = block.get("type")
    if kind == "text":
        return MessageContentPart(MessageContentPartType.TEXT, str(block.get("text", "")).encode())
    if kind == "image_url":
        image: Any = block.get("image_url", "")
        url = str(image if isinstance(image, str) else image.get("url", ""))
        data = base64.b64decode(url.removeprefix(_PNG_URL)) if url.startswith(_PNG_URL) else url.encode()
        return MessageContentPart(MessageContentPartType.PNG, data)
    if kind == "image" and block.get("base64"):
        mime = block.get("mime_type", "image/png")
        return _part({"type": "image_url", "image_url": f"data:{mime};base64,{block['base64']}"})
    return None


def _parts(content: Any) -> list[MessageContentPart]:
    blocks: list[Any] = [content] if isinstance(content, str) else content
    return [part for part in map(_part, blocks) if part is not None]


def from_langchain_message(message: BaseMessage) -> MessageValue:
    """The table cell of a LangChain message.

    Raises:
        ValueError: The message is neither of a human nor of a model nor of a tool.
    """
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    content = _parts(message.content)  # pyright: ignore[reportUnknownMemberType]
    if isinstance(message, HumanMessage):
        return MessageValue(MessageType.USER, content, name=message.name)
    if isinstance(message, ToolMessage):
        return MessageValue(MessageType.TOOL, content, tool_call_id=message.tool_call_id, name=message.name)
    if isinstance(message, AIMessage):
        calls = [ToolCall(call["name"], call["id"] or "", call["args"]) for call in message.tool_calls]
        return MessageValue(MessageType.AI, content, calls or None, tool_call_id=message.id, name=message.name)
    raise ValueError(f"a {type(message).__name__} has no place in a conversation column")
