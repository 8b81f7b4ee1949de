"""What has happened so far, read from the messages of a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from knime_ext.agent.data import DataLine, read_data_lines
from knime_ext.agent.loop import text_of
from knime_ext.tools import ToolResult

__all__ = ["Attempt", "Transcript", "read_transcript"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A call that was made for the question, with what came of it.

    Attributes:
        call_id: Identifier of the call.
        tool: Name of the tool.
        arguments: Its arguments.
        text: The result for people: without the lines about data.
        structured: The structured result, if there is one.
        failed: True if the call failed.
    """

    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    text: str
    structured: Any
    failed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The state of a conversation.

    Attributes:
        question: What was asked last.
        attempts: The calls made for it, in order.
        data: The tables, newest last.
        earlier: Answers and results from before the question, newest last.
        calls: Number of calls in the whole conversation.
    """

    question: str = ""
    attempts: Sequence[Attempt] = ()
    data: Sequence[DataLine] = ()
    earlier: Sequence[str] = field(default_factory=list[str])
    calls: int = 0


def read_transcript(messages: Sequence[BaseMessage]) -> Transcript:
    """Reads a conversation.

    The question is the newest message of a human that says more than which data there is. A message after the
    results of tools that asks for the final answer is none; then the one before the calls counts.
    """
    asked = _question_position(messages)
    before, after = messages[:asked], messages[asked + 1 :]
    data = {line.id: line for message in messages for line in read_data_lines(text_of(message))[1]}
    spoken = [message for message in before if isinstance(message, (AIMessage, ToolMessage))]
    return Transcript(
        question=_said(text_of(messages[asked])) if messages else "",
        attempts=tuple(_attempts(after)),
        data=tuple(data.values()),
        earlier=tuple(text for message in spoken if (text := _said(text_of(message)))),
        calls=sum(len(message.tool_calls) for message in messages if isinstance(message, AIMessage)),
    )


def _question_position(messages: Sequence[BaseMessage]) -> int:
    asking = [
        index for index, message in enumerate(messages) if isinstance(message, HumanMessage) and _said(text_of(message))
    ]
    while len(asking) > 1 and isinstance(messages[asking[-1] - 1], ToolMessage):
        asking.pop()
    return asking[-1] if asking else max(len(messages) - 1, 0)


def _said(text: str) -> str:
    return read_data_lines(text)[0]


def _attempts(messages: Sequence[BaseMessage]) -> Iterator[Attempt]:
    answers = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    for message in messages:
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            answer = answers.get(call["id"] or "")
            text = _said(text_of(answer)) if answer else ""
            yield Attempt(
                call_id=call["id"] or "",
                tool=call["name"],
                arguments=call["args"],
                text=text,
                structured=_structured(answer, text),
                failed=answer is None or answer.status == "error",
            )


def _structured(answer: ToolMessage | None, text: str) -> Any:
    artifact = answer.artifact if answer else None
    if isinstance(artifact, ToolResult) and isinstance(artifact.structured, (dict, list)):
        return artifact.structured
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return cast("Any", value) if isinstance(value, (dict, list)) else None
