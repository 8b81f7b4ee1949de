"""Texts of tools and models that can be sent and saved, whatever came in."""

from __future__ import annotations

import json
from typing import Any, cast

from langchain_core.messages import AIMessage

__all__ = ["MAX_RESULT_TEXT", "wellformed_reply", "wellformed_result", "wellformed_text"]

MAX_RESULT_TEXT = 400_000
"""Characters of one result that reach the model at most; rows of tool tables are cut much earlier (`ResultShelf`)."""


def wellformed_text(text: str) -> str:
    """The text without halves of characters, which no encoding can write."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _cut(text: str) -> str:
    rest = len(text) - MAX_RESULT_TEXT
    return text if rest <= 0 else f"{text[:MAX_RESULT_TEXT]}\n[{rest:,} more characters were cut off]"


def wellformed_result(content: Any) -> str | list[Any]:
    """What a tool gave, as the content of a message: text, or blocks that can be written as JSON."""
    if isinstance(content, list):
        blocks = cast("list[Any]", content)
        if _is_json(blocks):
            return [_cut_block(block) for block in blocks]
    return _cut(wellformed_text(content if isinstance(content, str) else _as_text(cast("object", content))))


def _as_text(value: object) -> str:
    try:
        return str(value)
    except Exception as error:
        return f"(a {type(value).__name__} that has no text: {type(error).__name__})"


def _cut_block(block: Any) -> Any:
    if isinstance(block, str):
        return _cut(block)
    facts = cast("dict[str, Any]", block)
    text = facts.get("text") if isinstance(block, dict) else None
    return facts | {"text": _cut(text)} if isinstance(text, str) else facts


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def wellformed_reply(reply: AIMessage) -> AIMessage:
    """The reply of a model without halves of characters, or the same one if it has none."""
    parts: dict[str, Any] = {
        "content": reply.content,  # pyright: ignore[reportUnknownMemberType]
        "tool_calls": reply.tool_calls,
        "invalid_tool_calls": reply.invalid_tool_calls,
    }
    try:
        text = json.dumps(parts, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        return reply.model_copy(update=json.loads(wellformed_text(json.dumps(parts, ensure_ascii=False))))
    except (TypeError, ValueError, RecursionError):
        return reply
    return reply
