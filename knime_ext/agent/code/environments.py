"""Environments: something acts step by step, with tools, and observes what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, Self

from knime_ext.agent.code.functions import CalledTool
from knime_ext.agent.code.limits import CodeLimits
from knime_ext.agent.code.prompts import generate_tool_system_prompt
from knime_ext.agent.code.registry import MCPToolRegistry
from knime_ext.agent.code.runner import CodeRunner, ToolCallRecord
from knime_ext.agent.code.workers import load_monty
from knime_ext.agent.threads import call_in_thread
from knime_ext.bridge import shared_bridge
from knime_ext.errors import KnimeExtError
from knime_ext.tools import ToolDefinition

__all__ = ["CodeAction", "CodeActEnvironment", "Observation", "ToolCallAction", "ToolCallingEnvironment"]


@dataclass(frozen=True, slots=True)
class CodeAction:
    """Python code to run."""

    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallAction:
    """One call of a tool.

    Attributes:
        tool_name: Name of the tool.
        parameters: Its arguments, under the names of its schema.
    """

    tool_name: str
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What came of a step.

    Attributes:
        stdout: What the code printed.
        result: Value of the code's last line if that is an expression, or of the call.
        error: Why it failed, for a model to read; None if it did not.
        tool_calls: The calls that were made, in order.
        metadata: "step" (from 1), "seconds", "state_kept" (False if the variables are those from before the step)
            and, for a call, "tool_result".
    """

    stdout: str = ""
    result: Any = None
    error: str | None = None
    tool_calls: tuple[ToolCallRecord, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


class _Environment:
    """What both kinds of environment do with their registry."""

    def __init__(self, registry: MCPToolRegistry) -> None:
        self.registry = registry
        self._steps = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the registry and what it is connected to."""
        self.registry.close()

    def tools(self) -> list[ToolDefinition]:
        """The tools as a chat model sees them."""
        return self.registry.definitions()

    def _metadata(self, seconds: float, **more: Any) -> dict[str, Any]:
        self._steps += 1
        return {"step": self._steps, "seconds": seconds, **more}


class CodeActEnvironment(_Environment):
    """Acts by Python code that calls the registry's tools as functions, in the sandbox.

    Variables stay from step to step. Steps that are asked for at the same time run one after the other.
    """

    def __init__(self, registry: MCPToolRegistry, limits: CodeLimits | None = None) -> None:
        """Nothing runs yet.

        Args:
            registry: The tools; closed with the environment.
            limits: What each step may use up.

        Raises:
            ConfigurationError: The sandbox is not installed.
        """
        load_monty()
        super().__init__(registry)
        self._limits = limits or CodeLimits()
        self._runner: CodeRunner | None = None

    @classmethod
    def from_docker_compose(cls, path: str | Path, limits: CodeLimits | None = None) -> CodeActEnvironment:
        """An environment with the MCP servers of a Docker Compose file, as `generate_compose_file` writes it.

        The servers are reached at the ports that they publish on this computer, or, inside of the file's network, at
        the addresses in the environment variable `MCP_SERVERS`.

        Raises:
            ConfigurationError: The file cannot be read or names no servers.
        """
        from knime_ext.agent.code.compose_reading import clients_of_compose_file

        return cls(MCPToolRegistry(clients_of_compose_file(Path(path))), limits)

    def get_system_prompt(self) -> str:
        """What a model has to know: how its code runs, and every tool with signature and description."""
        return generate_tool_system_prompt(self.registry.functions.values())

    def step(self, action: CodeAction) -> Observation:
        """Runs the code and waits for it, in any thread but the bridge's own. A failure is in the observation."""
        with shared_bridge() as bridge:
            return bridge.run(self.astep(action))

    async def astep(self, action: CodeAction) -> Observation:
        """The same for async code; cancelling it stops code and tools, the variables are those from before."""
        # Servers are asked for their tools in a thread: on the bridge that would wait for itself.
        runner = self._runner or await call_in_thread(self._ready)
        run = await runner.run(action.code)
        outcome = run.outcome
        return Observation(
            stdout=outcome.stdout,
            result=outcome.value,
            error=outcome.error,
            tool_calls=run.calls,
            metadata=self._metadata(run.seconds, state_kept=outcome.kept),
        )

    def reset(self) -> None:
        """Forgets all variables and counts steps from the beginning; the connections stay."""
        if self._runner is not None:
            self._runner.reset()
        self._steps = 0

    def _ready(self) -> CodeRunner:
        """The sandbox with the tools; asking servers for them blocks."""
        if self._runner is None:
            self._runner = CodeRunner(self.registry.functions, self._limits)
        return self._runner


class ToolCallingEnvironment(_Environment):
    """Acts by single calls of the registry's tools."""

    def step(self, action: ToolCallAction) -> Observation:
        """Calls the tool and waits for it, in any thread but the bridge's own. A failure is in the observation."""
        with shared_bridge() as bridge:
            return bridge.run(self.astep(action))

    async def astep(self, action: ToolCallAction) -> Observation:
        """The same for async code."""
        began = perf_counter()
        called, error, name = CalledTool(value=None), None, action.tool_name
        try:
            function = await call_in_thread(self.registry.get_tool, name)
            name = function.__name__
            called = await function.called(action.parameters)
        except KnimeExtError as failure:
            error = str(failure)
        seconds = perf_counter() - began
        record = ToolCallRecord(
            tool=name,
            arguments=dict(action.parameters),
            result=called.value,
            error=error,
            seconds=seconds,
            blocks=tuple(block for block in called.result.content if block.get("type") != "text")
            if called.result
            else (),
        )
        return Observation(
            result=called.value,
            error=error,
            tool_calls=(record,),
            metadata=self._metadata(seconds, tool_result=called.value),
        )

    def reset(self) -> None:
        """Counts steps from the beginning."""
        self._steps = 0
