"""Tools that keep something during a run, such as the variables of code: every run gets its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

from langchain_core.tools import BaseTool

__all__ = ["RunScoped", "TakeCall", "instructions_of", "tools_for_run"]

TakeCall = Callable[[], str | None]
"""Asked before each call that a tool makes by itself: None lets it go out, a text says why it must not."""


@runtime_checkable
class RunScoped(Protocol):
    """A tool that exists once per run.

    Attributes:
        instructions: What the model has to know to use it, beyond its description.
    """

    instructions: str

    def for_run(self, take_call: TakeCall | None = None) -> BaseTool:
        """The tool for one run, which asks before each call that it makes by itself."""
        ...


def tools_for_run(tools: Mapping[str, BaseTool], take_call: TakeCall) -> dict[str, BaseTool]:
    """The tools of one run: those that keep something as new ones, the others as they are."""
    return {name: tool.for_run(take_call) if isinstance(tool, RunScoped) else tool for name, tool in tools.items()}


def instructions_of(tools: Mapping[str, BaseTool]) -> list[str]:
    """What the tools want to be said in the system message."""
    return [tool.instructions for tool in tools.values() if isinstance(tool, RunScoped) and tool.instructions]
