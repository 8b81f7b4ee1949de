"""Brings sandbox and tools together: the code runs in a thread, the tools it calls on the event loop of the caller."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from knime_ext.agent.code.functions import CalledTool, ToolFunction
from knime_ext.agent.code.limits import CodeLimits
from knime_ext.agent.code.sandbox import Outcome, Sandbox
from knime_ext.agent.code.stopping import Stop, Stopped
from knime_ext.agent.code.values import TooLarge, argument_value, inside_value
from knime_ext.agent.run_tools import InnerCalls
from knime_ext.agent.threads import call_in_thread
from knime_ext.errors import ToolFailed
from knime_ext.tools import ToolResult

__all__ = ["CodeRun", "CodeRunner", "ToolCallRecord"]


RESULTS_AT_ONCE = 10
"""The results of all calls of a piece of code may have this many times the characters of one."""

MAX_BLOCK_CHARS = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRecord:
    """A call that code made.

    Attributes:
        tool: Name of the function.
        arguments: What the tool got.
        result: The Python value that the code got; None if the call failed.
        error: Why it failed, if it did.
        seconds: How long it took.
        blocks: What the result holds besides text, such as tables and images; of many large ones without their data.
        kind: "workflow", "mcp", or "" for any other tool.
        origin: Where the tool lives, if it says so.
    """

    tool: str
    arguments: Mapping[str, Any]
    result: Any = None
    error: str | None = None
    seconds: float = 0.0
    blocks: tuple[Mapping[str, Any], ...] = ()
    kind: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRun:
    """What a piece of code did.

    Attributes:
        outcome: What came of it.
        calls: Its tool calls, in the order in which they were made.
        seconds: How long it took.
    """

    outcome: Outcome
    calls: tuple[ToolCallRecord, ...] = ()
    seconds: float = 0.0


class CodeRunner:
    """A sandbox with its tools."""

    def __init__(
        self, functions: Mapping[str, ToolFunction], limits: CodeLimits, inner: InnerCalls | None = None
    ) -> None:
        self.functions = functions
        self.limits = limits
        self._inner = inner or InnerCalls()
        self._sandbox = Sandbox(limits)

    def reset(self) -> None:
        """Forgets all variables."""
        self._sandbox.reset()

    async def run(self, code: str) -> CodeRun:
        """Runs a piece of code; cancelling it stops the code and the tools that it waits for.

        Raises:
            ConfigurationError: The sandbox is not installed.
        """
        began = perf_counter()
        calls = _Calls(self.functions, self.limits, self._inner)
        stop = Stop()
        try:
            outcome = await call_in_thread(self._sandbox.run, code, self.functions, calls.start, stop)
        except Stopped:
            # Who cancels is not here any more to read it.
            outcome = Outcome(error="the code was stopped, for the program ends", kept=False)
        finally:
            stop.set()
            await calls.end()
        return CodeRun(outcome=outcome, calls=calls.made, seconds=perf_counter() - began)


class _Calls:
    """The tool calls of one piece of code."""

    def __init__(self, functions: Mapping[str, ToolFunction], limits: CodeLimits, inner: InnerCalls) -> None:
        self._functions = functions
        self._limits = limits
        self._inner = inner
        self._loop = asyncio.get_running_loop()
        self._free = asyncio.Semaphore(limits.parallel_calls)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._made: list[ToolCallRecord | None] = []
        self._ended = False
        self._chars = 0
        self._block_chars = 0

    @property
    def made(self) -> tuple[ToolCallRecord, ...]:
        return tuple(record for record in self._made if record is not None)

    def start(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Future[Any]:
        """Starts a call from the thread of the code."""
        function = self._functions[name]
        try:
            positional = argument_value(list(args), self._limits.value_chars)
            named = argument_value(dict(kwargs), self._limits.value_chars)
        except TooLarge as error:
            raise ValueError(f"the arguments of {name}() are too large: {error}") from None
        except TypeError as error:
            raise TypeError(f"the arguments of {name}() do not fit: {error}") from None
        arguments = function.signature.arguments(positional, named)
        place = len(self._made)
        self._made.append(None)
        return asyncio.run_coroutine_threadsafe(self._call(function, arguments, place), self._loop)

    async def end(self) -> None:
        """Stops what still runs and waits until it has ended."""
        self._ended = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=10)

    async def _call(self, function: ToolFunction, arguments: dict[str, Any], place: int) -> Any:
        task = asyncio.current_task()
        if self._ended or task is None:
            raise asyncio.CancelledError
        self._tasks.add(task)
        began = perf_counter()
        called, value, error = CalledTool(value=None), None, None
        try:
            async with self._free:
                called, value = await self._answer(function, arguments)
            return value
        except ToolFailed as failure:
            error = str(failure)
            raise
        except asyncio.CancelledError:
            error = "the call was stopped; it is unknown whether it took effect"
            raise
        finally:
            self._tasks.discard(task)
            self._made[place] = ToolCallRecord(
                tool=function.__name__,
                arguments=arguments,
                result=value,
                error=error,
                seconds=perf_counter() - began,
                blocks=self._blocks(called.result),
                kind=function.kind,
                origin=function.definition.origin,
            )

    async def _answer(self, function: ToolFunction, arguments: dict[str, Any]) -> tuple[CalledTool, Any]:
        refused = self._inner.take() if self._inner.take else None
        if refused is not None:
            raise ToolFailed(refused)
        seconds = [limit for limit in (self._limits.seconds_per_call, self._inner.seconds) if limit is not None]
        async with self._inner.pace.tool_call(function.tool):
            called = await function.called(arguments, min(seconds, default=None))
        try:
            value, size = inside_value(called.value, self._limits.value_chars)
        except TooLarge as error:
            raise ToolFailed(f"the call of {function.__name__!r} failed: {error}") from None
        self._chars += size
        most = RESULTS_AT_ONCE * self._limits.value_chars
        if self._chars > most:
            raise ToolFailed(f"the results of all calls of this code have more than {most} characters; ask for less")
        return called, value

    def _blocks(self, result: ToolResult | None) -> tuple[Mapping[str, Any], ...]:
        """What a person may want to look at later, as long as there is room."""
        blocks = [block for block in (result.content if result else ()) if block.get("type") != "text"]
        return tuple(self._with_room(block) for block in blocks)

    def _with_room(self, block: Mapping[str, Any]) -> Mapping[str, Any]:
        size = len(json.dumps(block, default=str))
        if self._block_chars + size <= MAX_BLOCK_CHARS:
            self._block_chars += size
            return block
        kept = {name: block[name] for name in ("type", "mimeType", "id", "name", "columns", "rows") if name in block}
        return {**kept, "data": "", "omitted_bytes": size} if "data" in block else kept
