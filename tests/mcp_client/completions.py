"""Completions as OpenAI's API gives them, for tests."""

import json
from typing import Any

from openai.types.chat import ChatCompletion


def asking(*calls: tuple[str, Any], content: str | None = None, **more: Any) -> dict[str, Any]:
    """A completion whose message asks for tools; arguments that are no text are made JSON."""
    message: dict[str, Any] = {"role": "assistant", "content": content, **more}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
            }
            for number, (name, given) in enumerate(calls, start=1)
        ]
    choice = {"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


def as_object(completion: dict[str, Any]) -> ChatCompletion:
    """The same as OpenAI's client gives it."""
    return ChatCompletion.model_validate(completion)
