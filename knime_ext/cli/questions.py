"""Asks the person at the terminal: what servers want to know in the middle of a call, and whether a call may go out."""

from __future__ import annotations

import asyncio
import json
import os
import select
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar
from urllib.parse import urlsplit

from knime_ext.cli.form_fields import FormField
from knime_ext.cli.terminal import is_terminal
from knime_ext.errors import InvalidArguments
from knime_ext.mcp import Answer, Handlers, Question, decline
from knime_ext.mcp.foreign_text import quotable
from knime_ext.tools import ToolDefinition, text_for_model

__all__ = ["PersonAtTerminal", "handlers_at_terminal", "person_at_terminal"]

T = TypeVar("T")

_LOOK_EVERY_SECONDS = 0.1
_SHOWN_CHARS = 2_000


class _GivenUp(Exception):
    """The person ended the input, or whoever asked does not want to know any more."""


def person_at_terminal(aside: Callable[[], AbstractContextManager[None]] = nullcontext) -> PersonAtTerminal | None:
    """The person who sits there, None if input or error output is no terminal.

    Args:
        aside: Entered while a question is on the screen, to keep other output away.
    """
    return PersonAtTerminal(aside) if sys.stdin.isatty() and is_terminal(stderr=True) else None


def handlers_at_terminal() -> Handlers:
    """Questions of servers go to the person who sits there; where nobody does, they are declined."""
    person = person_at_terminal()
    return Handlers(elicit=decline if person is None else person.answer)


class PersonAtTerminal:
    """Asks on the error output and reads what is typed, one question at a time; may be used from any event loop.

    Args:
        aside: Entered while a question is on the screen, to keep other output away.
    """

    def __init__(self, aside: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        self._aside = aside
        self._turn = threading.Lock()
        self._approved: set[tuple[str, str]] = set()

    async def answer(self, question: Question) -> Answer:
        """Puts a server's question: a form field by field, or a web page that the person is to open."""
        ask = _ask_about_page if question.url is not None else _ask_form
        try:
            return await self._apart(lambda lines: ask(question, lines))
        except _GivenUp:
            return Answer(action="cancel")

    async def approve(self, tool: ToolDefinition, arguments: Mapping[str, Any]) -> bool:
        """Asks whether a call may go out; the person may say so for all further calls of the tool, too."""
        key = tool.origin, tool.name

        def ask(lines: _Lines) -> str:
            return "a" if key in self._approved else _ask_approval(tool, arguments, lines)

        try:
            said = await self._apart(ask)
        except _GivenUp:
            return False
        if said == "a":
            self._approved.add(key)
        return said in ("a", "y")

    async def _apart(self, work: Callable[[_Lines], T]) -> T:
        """Does the asking in a thread, so that the event loop goes on; it ends soon after it is cancelled."""
        stopped = threading.Event()

        def asked() -> T:
            while not self._turn.acquire(timeout=_LOOK_EVERY_SECONDS):
                if stopped.is_set():
                    raise _GivenUp
            try:
                with self._aside():
                    return work(_Lines(stopped))
            finally:
                self._turn.release()

        try:
            return await asyncio.to_thread(asked)
        except asyncio.CancelledError:
            stopped.set()
            raise


class _Lines:
    """What the person types, line by line.

    Args:
        stopped: Once it is set, nobody waits for a line any more.
    """

    def __init__(self, stopped: threading.Event) -> None:
        self._stopped = stopped

    def say(self, text: str = "") -> None:
        """Prints a line."""
        print(text, file=sys.stderr, flush=True)

    def ask(self, prompt: str) -> str:
        """Prints a prompt and waits for the line that follows.

        Raises:
            _GivenUp: The input has ended, or nobody waits any more.
        """
        print(prompt, end="", file=sys.stderr, flush=True)
        line = self._line()
        if not line:
            self.say()
            raise _GivenUp
        return line.strip()

    def _line(self) -> str:
        if os.name == "nt":  # nothing there tells whether a line is waiting
            return sys.stdin.readline()
        while not select.select([sys.stdin], [], [], _LOOK_EVERY_SECONDS)[0]:
            if self._stopped.is_set():
                raise _GivenUp
        # A terminal gives one line at a time. The stream's own buffer would keep further ones where `select` does not
        # see them.
        return os.read(sys.stdin.fileno(), 65_536).decode(sys.stdin.encoding or "utf-8", "replace")

    def confirm(self, question: str, *, default: bool) -> bool:
        """Asks for yes or no."""
        while True:
            said = self.ask(f"{question} [{'Y/n' if default else 'y/N'}] ").casefold()
            if said in ("", "y", "yes", "n", "no"):
                return default if not said else said.startswith("y")


def _who_asks(question: Question) -> str:
    return f"The server {quotable(question.server)} asks" if question.server else "The server asks"


def _ask_form(question: Question, lines: _Lines) -> Answer:
    lines.say(f"\n{_who_asks(question)}: {question.message}")
    if not lines.confirm("Answer?", default=True):
        return Answer(action="decline")
    content: dict[str, Any] = {}
    for each in FormField.of_form(question.schema or {}):
        _ask_field(each, lines, content)
    return Answer(action="accept", content=content)


def _ask_field(field: FormField, lines: _Lines, content: dict[str, Any]) -> None:
    """Asks until the field has a value that fits; nothing typed leaves it to the default, or out."""
    if field.about:
        lines.say(f"  {field.about}")
    while True:
        text = lines.ask(f"  {field.prompt}")
        if not text and (field.has_default or not field.is_required):
            return
        try:
            content[field.name] = field.read(text)
            return
        except InvalidArguments as error:
            lines.say(f"  {'a value is needed' if not text else quotable(str(error))}")


def _ask_about_page(question: Question, lines: _Lines) -> Answer:
    url = text_for_model(question.url or "")
    lines.say(f"\n{_who_asks(question)}: {question.message}")
    lines.say(f"It wants you to open a page of {urlsplit(url).hostname or 'an unknown host'} in your browser:\n  {url}")
    agreed = lines.confirm("Open it yourself if you trust it. Shall the server go on?", default=False)
    return Answer(action="accept" if agreed else "decline")


def _ask_approval(tool: ToolDefinition, arguments: Mapping[str, Any], lines: _Lines) -> str:
    text = text_for_model(json.dumps(arguments, ensure_ascii=False, default=str))
    shown = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}… ({len(text):,} characters)"
    where = f" of {quotable(tool.origin)}" if tool.origin else ""
    lines.say(f"\nThe model wants to call {quotable(tool.name)}{where} with {shown}")
    while True:
        said = lines.ask("Call it? [y/N/a = yes, and always in this run] ").casefold()
        if said in ("", "n", "no", "y", "yes", "a", "always"):
            return said[:1] or "n"
