"""Replies of a chat model in OpenAI's form, whoever made the objects, and the messages that answer them. No I/O."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from knime_ext.errors import ConfigurationError

__all__ = ["Completion", "RequestedCall", "read_completion"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedCall:
    """A tool call that the model asks for.

    Attributes:
        id: Its identifier; made up if the model gave none.
        name: Name of the tool; empty if the model gave none.
        arguments: The arguments as they came: JSON text or an object.
    """

    id: str
    name: str
    arguments: Any = None

    def answer(self, content: str) -> dict[str, Any]:
        """The message that answers this call."""
        return {"role": "tool", "tool_call_id": self.id, "content": content}

    def as_json(self) -> dict[str, Any]:
        """The call as it stands in the model's message."""
        given = self.arguments
        text = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": text or "{}"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What the model said.

    Attributes:
        content: Its text, or its parts as they came.
        reasoning: Its reasoning, where the vendor gives it.
        calls: The tool calls that it asks for, in order.
    """

    content: Any = ""
    reasoning: str | None = None
    calls: tuple[RequestedCall, ...] = ()

    def as_message(self) -> dict[str, Any]:
        """The model's message, to be appended to the conversation."""
        message: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.calls:
            message["tool_calls"] = [call.as_json() for call in self.calls]
        return message


def read_completion(response: Any) -> Completion:
    """The first choice of a completion.

    Args:
        response: A completion, or its message: objects with attributes, or mappings.

    Raises:
        ConfigurationError: It is neither.
    """
    message = _message(response)
    calls: Any = _get(message, "tool_calls") or ()
    return Completion(
        content=_get(message, "content") or "",
        reasoning=_get(message, "reasoning_content"),
        calls=tuple(map(_call, cast("Sequence[Any]", calls))),
    )


def _get(thing: Any, name: str) -> Any:
    if isinstance(thing, Mapping):
        return cast("Mapping[str, Any]", thing).get(name)
    return getattr(thing, name, None)


def _message(response: Any) -> Any:
    choices = _get(response, "choices")
    message = _get(choices[0], "message") if isinstance(choices, Sequence) and choices else None
    message = message if message is not None else response
    if _get(message, "content") is None and _get(message, "tool_calls") is None and _get(message, "role") is None:
        raise ConfigurationError(
            f"a {type(response).__name__} is no chat completion; pass an object with `choices[0].message`"
        )
    return message


def _call(call: Any) -> RequestedCall:
    function = _get(call, "function")
    source = call if function is None else function
    identifier = _get(call, "id") or f"call_{uuid.uuid4().hex[:24]}"
    return RequestedCall(id=identifier, name=_get(source, "name") or "", arguments=_get(source, "arguments"))
