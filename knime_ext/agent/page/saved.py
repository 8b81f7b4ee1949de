"""Runs that were saved: traces and lists of messages as JSON, or a table of answers with their conversations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from knime_ext.agent.data import read_data_lines
from knime_ext.agent.page.batch_page import BatchPageRow
from knime_ext.agent.trace import Trace
from knime_ext.errors import ConfigurationError

__all__ = ["read_runs", "rows_of_traces", "trace_from_json"]

_TRACE = TypeAdapter(Trace)
_ROLES = {"human": "user", "ai": "assistant", "developer": "system", "function": "tool"}


def read_runs(path: Path) -> Trace | list[Trace]:
    """Reads a JSON file with one trace or several, or a file with one trace on each line.

    Raises:
        ConfigurationError: The file cannot be read, or holds no traces.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read {str(path)!r}: {error}; check the path") from error
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = _json_lines(text, path)
    if value == []:
        raise ConfigurationError(f"{str(path)!r} is empty; give a file with traces")
    if isinstance(value, list) and not _is_message(cast("list[Any]", value)[0]):
        return [trace_from_json(item, f"{path.name}, run {n}") for n, item in enumerate(cast("list[Any]", value), 1)]
    return trace_from_json(value, path.name)


def _json_lines(text: str, path: Path) -> list[Any]:
    try:
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{str(path)!r} is no JSON ({error}); give a file with traces") from None


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and "role" in value and "messages" not in value


def trace_from_json(value: Any, place: str) -> Trace:
    """A trace from what `Trace.to_dict` made of it, or from a list of messages as chat APIs write them.

    Args:
        value: The object, or the list of messages.
        place: Where it stands, for the message of the error.

    Raises:
        ConfigurationError: It is neither.
    """
    try:
        if isinstance(value, Mapping) and "format" in value:
            shown = cast("Mapping[str, Any]", value)
            return _TRACE.validate_python({**shown, **shown.get("timing", {})})
        messages = cast("Mapping[str, Any]", value)["messages"] if isinstance(value, Mapping) else value
        return _from_messages(messages)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise ConfigurationError(
            f"{place!r} holds no trace: {field}: {first['msg']}; give what Trace.to_dict made, or a list of messages"
        ) from None
    except (KeyError, TypeError, AttributeError, ValueError):
        raise ConfigurationError(
            f"{place!r} holds no trace; give what Trace.to_dict made, or a list of messages with roles"
        ) from None


def _from_messages(messages: Sequence[Mapping[str, Any]]) -> Trace:
    """A trace without times and tokens, from role, content, tool_calls, tool_call_id and reasoning_content."""
    names: dict[str, str] = {}
    turn = 0
    read: list[dict[str, Any]] = []
    for message in messages:
        role = _ROLES.get(message["role"], message["role"])
        turn += role == "assistant"
        calls = [_call(call) for call in message.get("tool_calls") or ()]
        names |= {call["id"]: call["tool"] for call in calls}
        identifier = message.get("tool_call_id")
        read.append(
            {
                "role": role,
                "content": _text(message.get("content")),
                "turn": 0 if role in ("system", "user") else turn,
                "reasoning": message.get("reasoning_content") or "",
                "tool_calls": calls,
                "tool_call_id": identifier,
                "tool": names.get(identifier or "") or message.get("name"),
            }
        )
    asked = [text for item in read if item["role"] == "user" and (text := read_data_lines(item["content"])[0])]
    ended = bool(read) and read[-1]["role"] == "assistant" and not read[-1]["tool_calls"]
    return _TRACE.validate_python(
        {
            "model": "",
            "question": asked[-1] if asked else "",
            "messages": read,
            "turns": sum(bool(item["tool_calls"]) for item in read),
            "stop_reason": "answered" if ended else "unfinished",
        }
    )


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    given: Mapping[str, Any] = call.get("function") or call
    name, arguments = given["name"], given.get("arguments", given.get("args"))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            pass  # a call that could not be read is shown as it came
    return {"id": call.get("id") or "", "tool": name, "name": name, "arguments": arguments}


def _text(content: Any) -> str:
    if isinstance(content, list):
        parts = cast("list[Any]", content)
        return "\n".join(
            part if isinstance(part, str) else str(part.get("text") or f"[{part['type']}]") for part in parts
        )
    return "" if content is None else str(content)


def rows_of_traces(traces: Sequence[Trace]) -> Iterator[BatchPageRow]:
    """Several traces as the rows of a page."""
    for number, trace in enumerate(traces, start=1):
        said = [message.content for message in trace.messages if message.role == "assistant" and not message.tool_calls]
        yield BatchPageRow(
            label=f"Run {number}",
            prompt=trace.question,
            answer=said[-1] if said else "",
            stop_reason=trace.stop_reason,
            turns=trace.turns,
            tool_calls=trace.tool_calls,
            tokens=trace.tokens.total,
            seconds=trace.seconds,
            error=trace.error,
            trace=trace,
        )
