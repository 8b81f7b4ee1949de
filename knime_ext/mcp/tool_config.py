"""Which tools of which providers a model may call, and how often: a value, made in code or read from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knime_ext.errors import ConfigurationError
from knime_ext.tools.selection import name_patterns

__all__ = ["ToolConfig"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolConfig:
    """The tools behind one alias.

    Attributes:
        tool_alias: Name that the tools are asked for by.
        providers: Names of registered providers; a single one may stand alone.
        allow_tools: Names or globs of the tools that may be called; None allows all.
        max_tool_call_turns: How many replies of the model may ask for tools.
        timeout_sec: Seconds for one call; None leaves it to the provider.
        max_tool_calls: Calls of one run of an agent; None for no limit.
        run_timeout_sec: Seconds of one run of an agent; None for no limit.
        max_table_tool_calls: Calls of all rows of a table together; None for no limit.
        max_table_tokens: Tokens of all rows of a table together; None for no limit.

    Raises:
        ConfigurationError: A field cannot work; the message names it.
    """

    tool_alias: str
    providers: list[str]
    allow_tools: list[str] | None = None
    max_tool_call_turns: int = 5
    timeout_sec: float | None = 60.0
    max_tool_calls: int | None = None
    run_timeout_sec: float | None = None
    max_table_tool_calls: int | None = None
    max_table_tokens: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "providers", _names(self.providers))
        if self.allow_tools is not None:
            object.__setattr__(self, "allow_tools", list(name_patterns(self.allow_tools)))
        self._check()

    def _check(self) -> None:
        alias = self.tool_alias
        if not alias.strip():
            raise ConfigurationError("a tool configuration has an empty 'tool_alias'; give it a name")
        if not self.providers or not all(name.strip() for name in self.providers):
            raise ConfigurationError(f"tool configuration {alias!r}: 'providers' must name at least one provider")
        if len(set(self.providers)) < len(self.providers):
            raise ConfigurationError(f"tool configuration {alias!r}: 'providers' names a provider twice; remove one")
        for field in ("max_tool_call_turns", "max_tool_calls", "max_table_tool_calls", "max_table_tokens"):
            number = getattr(self, field)
            if number is not None and number < 1:
                raise ConfigurationError(f"tool configuration {alias!r}: {field!r} must be 1 or more")
        for field in ("timeout_sec", "run_timeout_sec"):
            seconds = getattr(self, field)
            if seconds is not None and seconds <= 0:
                raise ConfigurationError(f"tool configuration {alias!r}: {field!r} must be more than 0 seconds")


def _names(given: Any) -> list[str]:
    names: Sequence[str] = (given,) if isinstance(given, str) else given
    return list(names)
