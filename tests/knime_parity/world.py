"""What a scenario needs of the world in which the nodes run: KNIME's own Python code, or the embedded runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["JSON", "RunTool", "Surroundings", "World"]

JSON = Any
RunTool = Callable[[Any, Mapping[str, Any], Sequence[Any], Mapping[str, str]], tuple[str, list[Any]]]
"""Stands for the workflows: tool, parameters, tables, hints to message and tables."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What is around a node.

    Attributes:
        credentials: Name to user and password.
        data_outputs: Number of ports in the group of outputs, for a node that has one.
        run_tool: Runs workflow tools.
        canceled: Whether the user has canceled.
    """

    credentials: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    data_outputs: int = 1
    run_tool: RunTool | None = None
    canceled: bool = False


class World(Protocol):
    """Runs nodes. Inputs are one per port: table, port object, list for a group, None for nothing."""

    def dialog(self, node: str, inputs: Sequence[Any], around: Surroundings, settings: Mapping[str, Any]) -> JSON:
        """Settings, their schema and the UI schema."""
        ...

    def configure(self, node: str, inputs: Sequence[Any], around: Surroundings, settings: Mapping[str, Any]) -> JSON:
        """Specs and warnings, or the error."""
        ...

    def execute(self, node: str, inputs: Sequence[Any], around: Surroundings, settings: Mapping[str, Any]) -> JSON:
        """Outputs, page, warnings, progress and tool calls, or the error; after `configure`, as hosts do."""
        ...

    def table(self, node: str, settings: Mapping[str, Any]) -> Any:
        """The table that a node without inputs gives."""
        ...
