"""Writes down a run while it happens: the messages for the model, and the trace for people."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool

from knime_ext.agent.loop import reasoning_of, text_of
from knime_ext.agent.origin import origin_of
from knime_ext.agent.trace import Timing, Tokens, Trace, TraceCall, TraceMessage, TraceTable
from knime_ext.tools import ToolResult

__all__ = ["Recorder"]

MAX_BLOCK_BASE64 = 4_000_000
"""Characters of base64 kept per image or sound: about 3 MB."""


class Recorder:
    """The messages of one run, in both forms."""

    def __init__(self, model: str, question: str, tools: Mapping[str, BaseTool]) -> None:
        self.messages: list[BaseMessage] = []
        self.turn = 0
        self._model = model
        self._question = question
        self._tools = tools
        self._traced: list[TraceMessage] = []
        self._began = perf_counter()
        self._started_at = datetime.now(UTC)

    def now(self) -> float:
        """Seconds since the run began."""
        return perf_counter() - self._began

    def add(self, message: BaseMessage, *, since: float | None = None, until: float | None = None) -> None:
        """Adds a message, timed from `since` to `until` (both as `now()` gives them; now if not given)."""
        end = self.now() if until is None else until
        start = end if since is None else since
        self.messages.append(message)
        self._traced.append(self._traced_form(message, Timing(start=start, seconds=end - start)))

    def open_calls(self) -> list[tuple[str, str]]:
        """Id and name of the calls that no message answers yet."""
        answered = {message.tool_call_id for message in self.messages if isinstance(message, ToolMessage)}
        replies = [message for message in self.messages if isinstance(message, AIMessage)]
        calls = [call for reply in replies for call in [*reply.tool_calls, *reply.invalid_tool_calls]]
        return [(call["id"] or "", call["name"] or "") for call in calls if call["id"] not in answered]

    def trace(self, *, turns: int, stop_reason: str, error: str | None) -> Trace:
        """The trace so far."""
        return Trace(
            model=self._model,
            question=self._question,
            messages=tuple(self._traced),
            turns=turns,
            stop_reason=stop_reason,
            error=error,
            started_at=self._started_at.isoformat(timespec="milliseconds"),
            seconds=self.now(),
        )

    def _traced_form(self, message: BaseMessage, timing: Timing) -> TraceMessage:
        if isinstance(message, ToolMessage):
            return self._tool_form(message, timing)
        if isinstance(message, AIMessage):
            return TraceMessage(
                role="assistant",
                content=text_of(message),
                turn=self.turn,
                reasoning=reasoning_of(message),
                tool_calls=tuple(self._calls(message)),
                tokens=_tokens(message),
                timing=timing,
            )
        role = "system" if isinstance(message, SystemMessage) else "user"
        return TraceMessage(role=role, content=text_of(message), turn=self.turn, blocks=_media(message), timing=timing)

    def _tool_form(self, message: ToolMessage, timing: Timing) -> TraceMessage:
        result = message.artifact
        blocks = [dict(block) for block in result.content] if isinstance(result, ToolResult) else []
        kept = tuple(_capped(block) for block in blocks if block.get("type") not in ("text", "table"))
        return TraceMessage(
            role="tool",
            content=text_of(message),
            turn=self.turn,
            blocks=kept or _media(message),
            tool_call_id=message.tool_call_id,
            tool=self.shown_name(message.name or ""),
            is_error=message.status == "error",
            origin=origin_of(message),
            tables=tuple(_table(block) for block in blocks if block.get("type") == "table"),
            timing=timing,
        )

    def _calls(self, message: AIMessage) -> list[TraceCall]:
        calls = [*message.tool_calls, *message.invalid_tool_calls]
        return [self._call(cast("Mapping[str, Any]", call)) for call in calls]

    def _call(self, call: Mapping[str, Any]) -> TraceCall:
        name = call["name"] or ""
        kind = self._facts(name).get("tool_type", "")
        return TraceCall(id=call["id"] or "", tool=self.shown_name(name), name=name, kind=kind, arguments=call["args"])

    def _facts(self, name: str) -> Mapping[str, Any]:
        tool = self._tools.get(name)
        return (tool.metadata if tool else None) or {}

    def shown_name(self, name: str) -> str:
        """A tool's name for people."""
        return str(self._facts(name).get("display_name") or name)


def _table(block: Mapping[str, Any]) -> TraceTable:
    return TraceTable(id=block["id"], name=block["name"], columns=block["columns"], rows=block["rows"])


def _capped(block: Mapping[str, Any]) -> dict[str, Any]:
    """The block without its data if that is too large for a page."""
    data = block.get("data")
    if isinstance(data, str) and len(data) > MAX_BLOCK_BASE64:
        return {**block, "data": "", "omitted_bytes": len(data) * 3 // 4}
    return dict(block)


def _media(message: BaseMessage) -> tuple[dict[str, Any], ...]:
    """The images of a message whose content is a list of LangChain blocks, as MCP blocks."""
    content = cast("str | list[str | dict[str, Any]]", message.content)  # pyright: ignore[reportUnknownMemberType]
    blocks = [] if isinstance(content, str) else content
    images = (_image(block) for block in blocks if isinstance(block, dict))
    return tuple(_capped(image) for image in images if image)


def _image(block: Mapping[str, Any]) -> dict[str, Any] | None:
    if block.get("type") == "image" and block.get("base64"):
        return {"type": "image", "mimeType": block.get("mime_type", "image/png"), "data": block["base64"]}
    if block.get("type") != "image_url":
        return None
    image = block.get("image_url")
    url = str(cast("Any", image).get("url", "") if isinstance(image, dict) else image)
    head, _, data = url.partition(";base64,")
    if head.startswith("data:image/") and data:
        return {"type": "image", "mimeType": head.removeprefix("data:"), "data": data}
    return {"type": "resource_link", "uri": url}


def _tokens(message: AIMessage) -> Tokens:
    usage = message.usage_metadata
    return Tokens(input=usage["input_tokens"], output=usage["output_tokens"]) if usage else Tokens()
