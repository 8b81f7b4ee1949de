"""An agent's run on the screen while it happens: answers on the standard output, everything else beside it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from rich.text import Text

from knime_ext.agent import (
    AgentEvent,
    AgentRun,
    ReasoningDelta,
    RunFinished,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from knime_ext.cli.terminal import console, counted, is_terminal
from knime_ext.tools import text_for_model

__all__ = ["ChatScreen"]

_LONGEST_ARGUMENT = 80
_LONGEST_RESULT = 160

_LIMITS = {
    "turn_limit": "answered after its turns were used up",
    "call_limit": "answered after its tool calls were used up",
    "time_limit": "answered after its time was used up",
    "token_limit": "answered after its tokens were used up",
}


class ChatScreen:
    """Shows events. What models and tools say cannot move the cursor or change colours."""

    def __init__(self) -> None:
        self._aside = console(stderr=True)
        self._lively = is_terminal() and is_terminal(stderr=True)
        self._in_line = False

    def show(self, event: AgentEvent) -> None:
        """Shows one event of a run."""
        match event:
            case TextDelta(text):
                self._write(text_for_model(text))
            case ReasoningDelta(text):
                self._think(text_for_model(text))
            case ToolCallStarted(tool=tool, arguments=arguments):
                self._call(tool, arguments)
            case ToolCallFinished():
                self._result(event)
            case RunFinished(run):
                self._end(run)
            case _:
                return

    def note(self, text: str, style: str = "dim") -> None:
        """A line of our own."""
        self.break_line()
        self._aside.print(Text(text, style), soft_wrap=True)

    def break_line(self) -> None:
        """Begins a new line unless the cursor is at the start of one."""
        if self._in_line:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()
            self._in_line = not text.endswith("\n")

    def _think(self, text: str) -> None:
        if self._lively:
            self._aside.print(Text(text, "dim italic"), end="", soft_wrap=True)
            self._in_line = not text.endswith("\n")

    def _call(self, tool: str, arguments: Mapping[str, Any]) -> None:
        self.break_line()
        shown = ", ".join(f"{name}={_cut(json.dumps(value, ensure_ascii=False))}" for name, value in arguments.items())
        line = Text.assemble(
            ("▸ ", "cyan"), (text_for_model(tool), "bold cyan"), (f"({text_for_model(shown)})", "cyan")
        )
        self._aside.print(line, soft_wrap=True)

    def _result(self, event: ToolCallFinished) -> None:
        self.break_line()
        mark, style = ("✘", "red") if event.is_error else ("✔", "green")
        words = " ".join(text_for_model(event.text).split())
        line = Text.assemble(
            (f"  {mark} ", style),
            (text_for_model(event.tool), "bold"),
            (f" {event.seconds:.1f} s  ", "dim"),
            _cut(words, _LONGEST_RESULT),
        )
        self._aside.print(line, soft_wrap=True)

    def _end(self, run: AgentRun) -> None:
        self.break_line()
        if run.stop_reason == "cancelled":
            self.note("Stopped. What happened so far stays in the conversation.", "yellow")
        elif run.error is not None:
            text = text_for_model(str(run.error))
            self.note(f"Error: {text[:1].upper()}{text[1:]}", "red")
        elif self._lively:
            self.note(_summary(run))


def _cut(text: str, longest: int = _LONGEST_ARGUMENT) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _summary(run: AgentRun) -> str:
    tokens = run.trace.tokens.total
    parts = [
        counted(run.tool_calls, "call") if run.tool_calls else "",
        counted(tokens, "token") if tokens else "",
        f"{run.trace.seconds:.1f} s",
        _LIMITS.get(run.stop_reason, ""),
    ]
    return f"({', '.join(part for part in parts if part)})"
