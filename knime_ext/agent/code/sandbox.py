"""Runs code of a model in a worker process. The variables of the code live on from piece to piece.

Between two pieces no process is held: the variables are kept as bytes, and the next piece begins with them in a fresh
worker. So there may be any number of sandboxes, nothing has to be closed, and after a failure that leaves a worker in
doubt the variables are simply those from before.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from knime_ext.agent.code.awaited import awaited_calls
from knime_ext.agent.code.guards import refusal
from knime_ext.agent.code.imports import filtered, line_starts, parsed
from knime_ext.agent.code.limits import CodeLimits
from knime_ext.agent.code.output import Output
from knime_ext.agent.code.stopping import Stop, Stopped, running
from knime_ext.agent.code.values import TooLarge, outside_value
from knime_ext.agent.code.workers import LOOK_EVERY_SECONDS, Workers, load_monty, shared_workers

if TYPE_CHECKING:
    from pydantic_monty import FunctionSnapshot, FutureSnapshot, Monty, MontySession, NameLookupSnapshot

__all__ = ["Outcome", "Sandbox", "StartCall"]

StartCall = Callable[[str, tuple[Any, ...], Mapping[str, Any]], "Future[Any]"]
"""Starts a call of a tool; the future's value is a JSON value, its exception is raised in the code."""

MAX_ERROR_CHARS = 4_000


class LimitExceeded(Exception):
    """The code went beyond a limit that is watched from outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a piece of code.

    Attributes:
        stdout: What it printed.
        value: Value of its last line, if that is an expression.
        error: Why it ended early, as Python would show it; None if it did not.
        kept: Whether its variables are kept; False if they are those from before.
    """

    stdout: str = ""
    value: Any = None
    error: str | None = None
    kept: bool = True


@dataclass(slots=True, kw_only=True)
class _Piece:
    """One piece of code on its way."""

    code: str
    tools: Collection[str]
    start_call: StartCall
    stop: Stop
    limits: CodeLimits
    futures: frozenset[tuple[int, int]] = frozenset()
    deadline: float = float("inf")
    calls: int = 0
    pending: dict[int, Future[Any]] = field(default_factory=dict[int, "Future[Any]"])

    def check(self) -> None:
        if self.stop.is_set:
            raise Stopped
        if time.monotonic() > self.deadline:
            raise LimitExceeded(f"the code took longer than {self.limits.total_seconds:g} seconds in all")

    def call(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Future[Any]:
        self.calls += 1
        if self.calls > self.limits.tool_calls:
            raise LimitExceeded(f"the code made more than {self.limits.tool_calls} tool calls")
        return self.start_call(name, args, kwargs)

    def wait(self, futures: Collection[Future[Any]]) -> None:
        """Waits until one of them is done."""
        while True:
            self.check()
            if wait(futures, LOOK_EVERY_SECONDS, FIRST_COMPLETED).done:
                return


class Sandbox:
    """Code that shares its variables. One piece runs at a time; any thread may ask for it."""

    def __init__(self, limits: CodeLimits | None = None, *, workers: Workers | None = None) -> None:
        """Nothing runs yet, and no process is held.

        Args:
            limits: What each piece of code may use up.
            workers: The processes; those of this process if not given.
        """
        self.limits = limits or CodeLimits()
        self._workers = workers or shared_workers()
        self._lock = threading.Lock()
        self._state: bytes | None = None
        self._feeds = 0
        # Which calls are awaited, by piece: functions of earlier pieces may call tools, too.
        self._awaited: dict[str, frozenset[tuple[int, int]]] = {}

    def reset(self) -> None:
        """Forgets all variables."""
        with self._lock:
            self._state, self._feeds = None, 0
            self._awaited.clear()

    def run(self, code: str, tools: Collection[str], start_call: StartCall, stop: Stop | None = None) -> Outcome:
        """Runs a piece of code to its end, blocking.

        Args:
            code: Python code.
            tools: Names of the functions that it may call.
            start_call: Starts such a call.
            stop: Stops the code from outside.

        Raises:
            Stopped: It was stopped; its variables are those from before.
            ConfigurationError: The sandbox is not installed.
        """
        load_monty()
        limits = self.limits
        if len(code) > limits.code_chars:
            return _refused(f"the code has {len(code)} characters, more than {limits.code_chars}; write less at once")
        piece = _Piece(code=code, tools=tools, start_call=start_call, stop=stop or Stop(), limits=limits)
        tree = parsed(code)
        if tree is not None:
            reason = refusal(tree, tools)
            if reason is not None:
                return _refused(reason)
            piece.code = filtered(code, tree, tools)
            again = parsed(piece.code)
            if again is not None:
                piece.futures = awaited_calls(again, tools, line_starts(piece.code))
        return self._in_turn(piece)

    def _in_turn(self, piece: _Piece) -> Outcome:
        piece.deadline = time.monotonic() + self.limits.total_seconds
        while not self._lock.acquire(timeout=LOOK_EVERY_SECONDS):
            piece.check()
        try:
            with running(piece.stop), self._workers.pool() as pool:
                return self._in_worker(pool, piece)
        finally:
            self._lock.release()
            for future in piece.pending.values():
                future.cancel()

    def _in_worker(self, pool: Monty, piece: _Piece) -> Outcome:
        monty = load_monty()
        session = self._session(pool, piece)
        output = Output(piece.limits.output_bytes, piece.stop.kill)
        try:
            piece.stop.watch(session.worker_pid)
            return self._outcome(session, piece, output)
        except LimitExceeded as error:
            return self._lost(output, f"LimitExceeded: {error}")
        except monty.MontyCrashedError as error:
            if piece.stop.is_set:
                raise Stopped from None
            if output.exceeded:
                return self._lost(output, f"LimitExceeded: {output.error}")
            return self._lost(output, f"RuntimeError: the sandbox ended by itself ({error})")
        finally:
            piece.stop.watch(None)
            # A worker that was killed has nothing to say any more.
            with suppress(monty.MontyError, RuntimeError):
                session.__exit__(None, None, None)

    def _session(self, pool: Monty, piece: _Piece) -> MontySession:
        """A worker of its own, as soon as there is one."""
        limits = piece.limits
        while True:
            piece.check()
            session = pool.checkout(
                script_name="code.py",
                limits={
                    "max_feed_duration_secs": limits.seconds,
                    "max_memory": limits.memory,
                    "max_recursion_depth": limits.recursion,
                    "max_suspensions": 10 * limits.tool_calls + 1000,
                },
                # Sleeping would only hold a process. Random numbers are the same in equal runs.
                os_policy={"sleep": "zero", "random_start": {"seed": 0}},
            )
            with suppress(TimeoutError):
                return session.__enter__()

    def _outcome(self, session: MontySession, piece: _Piece, output: Output) -> Outcome:
        monty = load_monty()
        if self._state is not None:
            session.load_session(self._state)
        name = f"<python-input-{self._feeds}>"
        self._awaited[name] = piece.futures
        value: Any = None
        error: str | None = None
        try:
            value = self._driven(session, piece, output)
        except (monty.MontyRuntimeError, monty.MontySyntaxError) as failure:
            if isinstance(failure.exception(), (TimeoutError, MemoryError)):
                return self._lost(output, _cut(failure.display()))
            error = _cut(failure.display())
        except TooLarge as failure:
            error = f"ValueError: the result cannot be shown: {failure}; keep it in a variable and give a part of it"
        return self._kept(session, Outcome(stdout=output.text, value=value, error=error), output)

    def _kept(self, session: MontySession, outcome: Outcome, output: Output) -> Outcome:
        monty = load_monty()
        try:
            state = session.dump()
        except (monty.MontyError, RuntimeError) as failure:
            return self._lost(output, outcome.error or f"RuntimeError: the variables cannot be kept ({failure})")
        self._state, self._feeds = state, self._feeds + 1
        return outcome

    def _lost(self, output: Output, error: str) -> Outcome:
        return Outcome(stdout=output.text, error=error, kept=False)

    def _driven(self, session: MontySession, piece: _Piece, output: Output) -> Any:
        """Runs the code, answers whatever it asks for, and gives its value."""
        monty = load_monty()
        step: Any = session.feed_start(piece.code, print_callback=output.write)
        while not isinstance(step, monty.MontyComplete):
            piece.check()
            if isinstance(step, monty.FunctionSnapshot):
                step = self._answered(step, piece)
            elif isinstance(step, monty.NameLookupSnapshot):
                step = _looked_up(step, piece)
            else:
                step = _settled(step, piece)
        if output.exceeded:
            raise LimitExceeded(output.error)
        return outside_value(step.output, piece.limits.result_chars)

    def _answered(self, step: FunctionSnapshot, piece: _Piece) -> Any:
        """Answers a call of a tool; calls of the system fail."""
        name = str(step.function_name)
        if step.is_os_function:
            return step.resume_not_handled()
        if name not in piece.tools or step.object_id is not None:
            return step.resume({"exception": NameError(_undefined(name, piece.tools))})
        try:
            future = piece.call(name, step.args, step.kwargs)
        except (TypeError, ValueError) as error:
            return step.resume({"exception": _as_known(error)})
        place = step.position
        if step.allow_eager_await or (place.start, place.end) in self._awaited.get(place.filename, ()):
            piece.pending[step.call_id] = future
            return step.resume({"future": ...})
        piece.wait([future])
        return step.resume(_result(future))


def _cut(text: str) -> str:
    """A traceback without the middle of a message that is too long for anybody."""
    half = MAX_ERROR_CHARS // 2
    return text if len(text) <= MAX_ERROR_CHARS else f"{text[:half]}\n[…]\n{text[-half:]}"


def _refused(reason: str) -> Outcome:
    return Outcome(error=reason)


def _undefined(name: str, tools: Collection[str]) -> str:
    known = ", ".join(sorted(tools)[:30]) or "none"
    return f"name {name!r} is not defined; the tools are: {known}"


def _looked_up(step: NameLookupSnapshot, piece: _Piece) -> Any:
    name = step.variable_name
    if step.object_id is not None or name not in piece.tools:
        return step.resume()

    def function() -> None:
        """Stands for the tool; calls of it come back by name."""

    function.__name__ = name
    return step.resume(value=function)


def _settled(step: FutureSnapshot, piece: _Piece) -> Any:
    """Waits for one of the awaited calls and hands over all that are done."""
    waiting = {number: piece.pending[number] for number in step.pending_call_ids if number in piece.pending}
    if not waiting:
        lost = RuntimeError("nothing is under way that could be awaited")
        return step.resume({number: {"exception": lost} for number in step.pending_call_ids})
    piece.wait(list(waiting.values()))
    done = {number: future for number, future in waiting.items() if future.done()}
    for number in done:
        del piece.pending[number]
    return step.resume({number: _result(future) for number, future in done.items()})


def _result(future: Future[Any]) -> Any:
    if future.cancelled():
        return {"exception": RuntimeError("the call was stopped")}
    error = future.exception()
    return {"return_value": future.result()} if error is None else {"exception": _as_known(error)}


def _as_known(error: BaseException) -> BaseException:
    """The exception as one that the sandbox knows, with its message."""
    for kind in (TypeError, ValueError):
        if isinstance(error, kind):
            return kind(str(error))
    return RuntimeError(str(error))
