"""A conversation printed for people: the question, every tool call with its arguments and result, the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from knime_ext.cli.terminal import console

if TYPE_CHECKING:
    from knime.types.message import MessageValue, ToolCall

__all__ = ["print_conversation"]

_LONGEST_TEXT = 2_000
_LONGEST_ARGUMENT = 300


def _cut(text: str, longest: int) -> str:
    text = text.strip("\n")
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest:,} more characters)"


def _say(out: Console, speaker: str, text: str, style: str, body: str = "") -> None:
    out.print(Text(speaker, style))
    out.print(Padding(Text(_cut(text, _LONGEST_TEXT), body), (0, 0, 0, 2), expand=False))
    out.print()


def _arguments(arguments: Mapping[str, Any]) -> str:
    shown = (
        f"{name}={_cut(json.dumps(value, ensure_ascii=False), _LONGEST_ARGUMENT)}" for name, value in arguments.items()
    )
    return ", ".join(shown)


def _print_call(out: Console, call: ToolCall, result: MessageValue | None, kind: str) -> None:
    head = Text.assemble(("▸ ", "cyan"), (call.tool_name, "bold cyan"), (f"({_arguments(call.arguments)})", "cyan"))
    out.print(head + Text(f"  {kind}", "dim") if kind else head)
    text = _cut(result.text, _LONGEST_TEXT) if result is not None else "no result"
    out.print(Padding(Text(text), (0, 0, 0, 4), expand=False))
    out.print()


def print_conversation(messages: Sequence[MessageValue], kinds: Mapping[str, str]) -> None:
    """Prints a conversation to the standard output.

    Args:
        messages: The messages, in order.
        kinds: What each tool is, by its name, such as "workflow".
    """
    from knime.types.message import MessageType

    out = console()
    results = {message.tool_call_id: message for message in messages if message.message_type is MessageType.TOOL}
    for message in messages:
        if message.message_type is MessageType.USER:
            _say(out, "User", message.text, "bold")
        elif message.message_type is MessageType.AI:
            if message.text.strip():
                _say(out, "Model" if message.tool_calls else "Answer", message.text, "bold green")
            for call in message.tool_calls or ():
                _print_call(out, call, results.get(call.id), kinds.get(call.tool_name, ""))
