"""Tools that keep something during a run, such as the variables of code: every run gets its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeGuard, runtime_checkable

from langchain_core.tools import BaseTool

from knime_ext.agent.pace import Pace

__all__ = ["InnerCalls", "RunScoped", "instructions_of", "seconds_of", "tools_for_run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InnerCalls:
    """Rules for the calls that a tool makes by itself.

    Attributes:
        take: Asked before each call: None lets it go out, a text says why it must not. None asks nobody.
        seconds: Time limit of each call; None for none.
        pace: Has calls wait for those of other runs.
    """

    take: Callable[[], str | None] | None = None
    seconds: float | None = None
    pace: Pace = field(default_factory=Pace)


@runtime_checkable
class RunScoped(Protocol):
    """A tool that exists once per run and makes calls by itself, which are what limits of calls are about.

    Attributes:
        instructions: What the model has to know to use it, beyond its description.
    """

    instructions: str

    def for_run(self, inner: InnerCalls | None = None) -> BaseTool:
        """The tool for one run; its own calls follow the rules."""
        ...


def is_run_scoped(tool: BaseTool) -> TypeGuard[RunScoped]:
    """Whether a tool exists once per run; asked for every tool of every run, so by one name only."""
    return hasattr(type(tool), "for_run")


def tools_for_run(tools: Mapping[str, BaseTool], inner: InnerCalls) -> dict[str, BaseTool]:
    """The tools of one run: those that keep something as new ones, the others as they are."""
    return {name: tool.for_run(inner) if is_run_scoped(tool) else tool for name, tool in tools.items()}


def instructions_of(tools: Mapping[str, BaseTool]) -> list[str]:
    """What the tools want to be said in the system message."""
    return [tool.instructions for tool in tools.values() if is_run_scoped(tool) and tool.instructions]


def seconds_of(tool: BaseTool | None, seconds: float | None) -> float | None:
    """The time limit of a call: that of single calls is for those that the tool makes, where it makes some."""
    return None if tool is not None and is_run_scoped(tool) else seconds
