"""A conversation printed for people: the question, every tool call with its arguments and result, the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from rich.console import Console
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


def _indented(out: Console, text: str, indent: int, style: str = "") -> None:
    """Prints a text a little to the right, broken into lines where the terminal ends."""
    for line in Text(_cut(text, _LONGEST_TEXT), style).wrap(out, max(20, out.width - indent)):
        line.rstrip()
        out.print(Text(" " * indent) + line if line else "", soft_wrap=True)


def _arguments(arguments: Mapping[str, Any]) -> str:
    shown = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return ", ".join(_cut(text, _LONGEST_ARGUMENT) for text in shown)


def _print_text(out: Console, text: str, indent: int, style: str = "") -> None:
    """Prints a text; what it says to the model about tables gets a short line each instead of JSON."""
    from knime_ext.agent.data import read_data_lines

    words, tables = read_data_lines(text)
    if words or not tables:
        _indented(out, words, indent, style)
    for table in tables:
        columns = ", ".join(table.columns)
        _indented(out, f"⊞ table {table.id}, {table.name}: {columns}", indent, "magenta")


def _print_call(out: Console, call: ToolCall, result: MessageValue | None, kind: str) -> None:
    head = Text.assemble(("▸ ", "cyan"), (call.tool_name, "bold cyan"), (f"({_arguments(call.arguments)})", "cyan"))
    out.print(head + Text(f"  {kind}", "dim") if kind else head)
    _print_text(out, result.text if result is not None else "no result", 4)
    out.print()


def _print_spoken(out: Console, speaker: str, text: str, style: str, body: str = "") -> None:
    out.print(Text(speaker, style))
    _print_text(out, text, 2, body)
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
    for message, following in zip_longest(messages, messages[1:]):
        if message.message_type is MessageType.USER:
            # Several in a row: the last one is the question, those before it tell what it is about.
            about = following is not None and following.message_type is MessageType.USER
            _print_spoken(out, "Data" if about else "Question", message.text, "dim" if about else "bold", "")
        elif message.message_type is MessageType.AI:
            if message.text.strip():
                last = not message.tool_calls
                _print_spoken(out, "Answer" if last else "Model", message.text, "bold green" if last else "bold")
            for call in message.tool_calls or ():
                _print_call(out, call, results.get(call.id), kinds.get(call.tool_name, ""))
