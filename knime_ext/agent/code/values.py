"""Values on their way into the sandbox and out of it. Pure.

Inside, equal parts of a value are one object, so that a small value can be endless when it is written out. Whoever
takes a value out of the sandbox counts while walking it.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import PurePath
from typing import Any, cast

from langchain_core.messages import ToolMessage

from knime_ext.tools import ToolResult

__all__ = ["TooLarge", "argument_value", "inside_value", "outside_value", "shown", "tool_value"]

MAX_DEPTH = 60
_MAX_BITS = 10_000
_CONSTANTS = (type(None), bool, float, complex, type(...), type(NotImplemented))


class TooLarge(Exception):
    """A value is too large, or nested too deeply, to leave the sandbox."""


class _Count:
    """Counts characters until there are too many."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit

    def take(self, characters: int) -> None:
        self._left -= characters + 1
        if self._left < 0:
            raise TooLarge(f"it has more than {self._limit} characters")


def outside_value(value: Any, limit: int) -> Any:
    """A result of the sandbox as plain Python: lists, tuples, dicts, sets, texts, numbers, dates.

    Instances of classes that the code defined become a text.

    Args:
        value: What the sandbox gave.
        limit: How many characters it may have, written out.

    Raises:
        TooLarge: It has more.
    """
    return _outside(value, _Count(limit), 0, json_only=False)


def argument_value(value: Any, limit: int) -> Any:
    """An argument of a tool as JSON value: sets and tuples become lists, dates and the like texts.

    Args:
        value: What the code passed.
        limit: How many characters it may have, written out.

    Raises:
        TooLarge: It has more.
        TypeError: JSON cannot express it.
    """
    return _outside(value, _Count(limit), 0, json_only=True)


def _outside(value: Any, count: _Count, depth: int, *, json_only: bool) -> Any:
    if depth > MAX_DEPTH:
        raise TooLarge(f"it is nested more than {MAX_DEPTH} deep")
    # Also what is empty takes a place: nested lists of nothing can be endless, too.
    count.take(1)
    if isinstance(value, dict):
        return _outside_dict(cast("dict[Any, Any]", value), count, depth, json_only=json_only)
    if isinstance(value, (list, tuple, set, frozenset)):
        items = cast("Iterable[Any]", value)
        parts = [_outside(item, count, depth + 1, json_only=json_only) for item in items]
        return parts if json_only else _like(cast("object", value), parts)
    return _leaf(value, count, json_only=json_only)


def _like(model: object, parts: list[Any]) -> Any:
    """The parts in a container of the same kind; a named tuple becomes a tuple."""
    if isinstance(model, list):
        return parts
    if isinstance(model, set):
        return set(parts)
    return frozenset(parts) if isinstance(model, frozenset) else tuple(parts)


def _outside_dict(value: dict[Any, Any], count: _Count, depth: int, *, json_only: bool) -> dict[Any, Any]:
    items: dict[Any, Any] = {}
    for key, part in value.items():
        name = _outside(key, count, depth + 1, json_only=json_only)
        if json_only and not isinstance(name, str):
            name = json.dumps(name)
        items[name] = _outside(part, count, depth + 1, json_only=json_only)
    return items


def _leaf(value: Any, count: _Count, *, json_only: bool) -> Any:
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise TooLarge(f"it contains a number of more than {_MAX_BITS} bits")
    if isinstance(value, (str, bytes)):
        count.take(len(value))
        if isinstance(value, bytes) and json_only:
            raise TypeError("bytes are no JSON value; pass a text")
        return value
    count.take(len(str(value)) if isinstance(value, (int, Decimal)) else 8)
    if isinstance(value, (bool, int, float, type(None))):
        return value
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat() if json_only else value
    if isinstance(value, (Decimal, PurePath, datetime.timedelta)):
        return str(value) if json_only or isinstance(value, PurePath) else value
    if json_only:
        raise TypeError(f"{_kind(value)} is no JSON value; pass texts, numbers, lists and dicts")
    if isinstance(value, _CONSTANTS):
        return value
    text = f"<{_kind(value)}>"
    count.take(len(text))
    return text


def _kind(value: Any) -> str:
    """What an object is that has no value outside; never its content, which may be large."""
    kind = type(value).__name__
    name = getattr(value, "name", None)
    return name[:100] if isinstance(name, str) and kind.startswith("Monty") else kind


def shown(value: Any, limit: int) -> str:
    """A value of `outside_value` as Python writes it.

    Raises:
        TooLarge: That has more characters than `limit`.
    """
    text = value if isinstance(value, str) else repr(value)
    if len(text) > limit:
        raise TooLarge(f"it has {len(text)} characters, more than {limit}")
    return text


def inside_value(value: Any, limit: int) -> tuple[Any, int]:
    """What a tool gave, as a JSON value that the sandbox takes, and its length as JSON text.

    Args:
        value: Any value; what JSON does not know becomes a text.
        limit: Length that is allowed.

    Raises:
        TooLarge: It is longer.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(str(value)[: limit + 1], ensure_ascii=False)
    if len(text) > limit:
        raise TooLarge(f"its result has {len(text)} characters, more than the {limit} that are allowed; ask for less")
    # Halves of characters cannot be sent anywhere.
    return json.loads(text.encode("utf-8", "replace")), len(text)


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if isinstance(value, (set, frozenset, tuple)):
        return list(cast("Iterable[Any]", value))
    return str(value)


def tool_value(message: ToolMessage, *, workflow: bool = False) -> Any:
    """What a call of a tool means to code: the structured value, JSON read from its text, or the text.

    A workflow that gives tables gives `{"message": ..., "tables": [{"id": ..., "name": ..., ...}]}`. Images and other
    media are named in the text.

    Args:
        message: The answer to the call.
        workflow: True if the tool is a workflow, whose structured value is about views.
    """
    result: Any = message.artifact
    if not isinstance(result, ToolResult):
        content: Any = message.content  # pyright: ignore[reportUnknownMemberType]
        return _read(content) if isinstance(content, str) else content
    tables = [_table(block) for block in result.content if block.get("type") == "table"]
    if tables:
        return {"message": _text(result.content), "tables": tables}
    if result.structured is not None and not workflow:
        return _unwrapped(result)
    return _read(_text(result.content) if all(map(_is_text, result.content)) else result.text)


def _is_text(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "text"


def _text(blocks: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(str(block.get("text", "")) for block in blocks if _is_text(block))


def _table(block: Mapping[str, Any]) -> dict[str, Any]:
    return {name: block.get(name) for name in ("id", "name", "columns", "rows")}


def _unwrapped(result: ToolResult) -> Any:
    """The structured value; one that only wraps what is no object, as servers have to, without the wrapping.

    A wrapped value differs from an object that happens to have one key `result`: the text beside it is bare.
    """
    value: Any = result.structured
    wrapped = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if list(wrapped) != ["result"] or _read(_text(result.content)) == wrapped:
        return cast("Any", value)
    return wrapped["result"]


def _read(text: str) -> Any:
    """JSON that is an object or an array; a bare word that happens to be JSON is text to whoever wrote it."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
