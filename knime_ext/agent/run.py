"""One run of an agent: asks the model, runs the tools of a turn side by side, writes everything down."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage
from langchain_core.tools import BaseTool

from knime_ext.agent.answer_format import AnswerFormat
from knime_ext.agent.budget import Allowance, Budget, Limit, Outside, StopReason, WhenExhausted
from knime_ext.agent.cancellation import Cancel, Cancelled, unless_cancelled
from knime_ext.agent.data import DataRepository
from knime_ext.agent.events import Hear
from knime_ext.agent.langchain_tools import RowTool, tool_definitions
from knime_ext.agent.loop import (
    Answer,
    AskAgain,
    AskToClose,
    Fail,
    LoopState,
    RunTools,
    calls_to_run,
    error_message,
    in_form,
    next_step,
    text_of,
    with_call_ids,
)
from knime_ext.agent.model_calls import ask, ask_streaming
from knime_ext.agent.model_errors import model_name, translated
from knime_ext.agent.origin import RESULTS_ARE_DATA
from knime_ext.agent.pace import Pace
from knime_ext.agent.recorder import Recorder
from knime_ext.agent.run_tools import InnerCalls, instructions_of, seconds_of, tools_for_run
from knime_ext.agent.telling import Teller
from knime_ext.agent.tool_calls import TimeLimit, run_call
from knime_ext.agent.tool_offer import ToolCatalogue, ToolOffer
from knime_ext.agent.trace import Trace
from knime_ext.agent.wellformed import wellformed_reply
from knime_ext.errors import AgentError, LimitReached

__all__ = ["AgentRun", "Run", "Setup"]

FINAL_SECONDS = 60.0
"""Time for the final answer of a run whose seconds are used up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What all runs of one agent share."""

    model: BaseChatModel
    tools: Mapping[str, BaseTool]
    system_message: str
    budget: Budget
    when_exhausted: WhenExhausted
    final_prompt: str
    data: DataRepository | None
    allowance: Allowance
    pace: Pace
    answer_format: AnswerFormat | None
    catalogue: ToolCatalogue


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """What came of one run.

    Attributes:
        messages: The conversation, history included, without the system message. Every call in it is answered,
            so it can be the history of the next run.
        answer: The model's answer; empty if there is none.
        turns: Turns used.
        tool_calls: Number of calls that the model asked for.
        stop_reason: "answered"; "turn_limit", "call_limit", "time_limit" or "token_limit" (answered after that was
            used up); "cancelled" or "failed".
        trace: Everything that happened.
        error: Why there is no answer, if there is none.
        history_length: How many of `messages` were there before.
        structured: The answer as an object, if the agent has an answer format.
    """

    messages: tuple[BaseMessage, ...]
    answer: str
    turns: int
    tool_calls: int
    stop_reason: StopReason
    trace: Trace
    error: AgentError | None = None
    history_length: int = 0
    structured: dict[str, Any] | None = None

    @property
    def new_messages(self) -> tuple[BaseMessage, ...]:
        """The messages of this run alone."""
        return self.messages[self.history_length :]


class Run:
    """One run, used once."""

    def __init__(
        self,
        setup: Setup,
        question: HumanMessage,
        history: Sequence[BaseMessage],
        *,
        passing_loop: bool,
        hear: Hear | None = None,
    ) -> None:
        # Tools that keep something, such as the variables of code, keep it for one run.
        inner = InnerCalls(take=self._take_call, seconds=setup.budget.seconds_per_call, pace=setup.pace)
        tools = tools_for_run(setup.tools, inner)
        self._offer = ToolOffer(setup.catalogue, tools, history)
        setup = self._setup = replace(setup, tools=self._offer.tools)
        self._history = tuple(history)
        self._question = question
        self._recorder = Recorder(model_name(setup.model), text_of(question), setup.tools)
        self._state = LoopState()
        self._passing_loop = passing_loop
        self._teller = Teller(hear, self._recorder.shown_name)

    async def outcome(self, cancel: Cancel | None) -> AgentRun:
        """Runs to the end; a failure or a stop by `cancel` is in the result."""
        try:
            answer = await unless_cancelled(self._drive(), cancel)
            return self._result(answer.text, answer.stop_reason, None, answer.structured)
        except Cancelled:
            self._close_calls("not finished: the run was cancelled.")
            return self._result("", "cancelled", AgentError("the run was cancelled."))
        except AgentError as error:
            self._close_calls("not called: the run has failed.")
            return self._result("", "failed", error)

    async def _drive(self) -> Answer:
        self._open()
        while True:
            reply = await self._ask_in_time()
            outside = self._outside(reply)
            setup = self._setup
            state, step = next_step(self._state, reply, setup.budget, setup.when_exhausted, outside)
            self._state, step = in_form(state, step, setup.answer_format)
            match step:
                case Answer():
                    self._close_calls("not called: no tools are offered any more.")
                    return step
                case RunTools(calls, rejected):
                    await self._run_tools(calls)
                    self._add_all(rejected)
                case AskAgain(reason):
                    self._close_calls("not called: no tools are offered any more.")
                    self._recorder.add(HumanMessage(content=reason))
                case AskToClose(refusals):
                    self._add_all(refusals)
                    if setup.when_exhausted == "answer" and setup.final_prompt:
                        self._recorder.add(HumanMessage(content=setup.final_prompt))
                case Fail(error, refusals):
                    self._add_all(refusals)
                    raise error

    def _open(self) -> None:
        if instructions := self._instructions():
            self._recorder.add(SystemMessage(content=instructions))
        for message in self._opening():
            self._recorder.add(message)
        limit = self._setup.allowance.exhausted
        if limit and limit.stop_reason == "token_limit":
            raise LimitReached(f"{limit.what} is used up; raise the limit.")

    def _instructions(self) -> str:
        """The system message, with what a model with tools has to know."""
        tools, form = self._setup.tools, self._setup.answer_format
        parts = [self._setup.system_message, *instructions_of(tools), RESULTS_ARE_DATA if tools else ""]
        parts += [form.instructions] if form else []
        return "\n\n".join(part for part in parts if part)

    def _take_call(self) -> str | None:
        """Counts a call that a tool makes by itself; a text if no call is left."""
        budget, state = self._setup.budget, self._state
        limit = None
        if budget.calls is not None and state.calls >= budget.calls:
            limit = Limit.of_calls(budget.calls)
        elif not self._setup.allowance.take_calls(1):
            limit = Limit.of_calls(self._setup.allowance.calls or 0, shared=True)
        if limit:
            return f"not called: {limit.what} is used up."
        self._state = replace(state, calls=state.calls + 1)
        return None

    async def _ask_in_time(self) -> AIMessage | None:
        """The model's reply; None if the time of the run was up before."""
        limit = self._setup.budget.seconds
        if limit is None:
            return await self._ask()
        left = limit - self._recorder.now()
        if self._state.limit:
            left = max(left, FINAL_SECONDS)
        elif left <= 0:
            return None
        timeout = asyncio.timeout(left)
        try:
            async with timeout:
                return await self._ask()
        except TimeoutError:
            if timeout.expired():
                return None
            raise

    def _outside(self, reply: AIMessage | None) -> Outside:
        """The time, and what the shared allowance grants; the calls that will run are taken from it."""
        now = self._recorder.now()
        if reply is None:
            return Outside(seconds=now)
        allowance = self._setup.allowance
        if reply.usage_metadata:
            allowance.spend(tokens=reply.usage_metadata["total_tokens"])
        if limit := allowance.exhausted:
            return Outside(seconds=now, granted=0, limit=limit)
        wanted = calls_to_run(self._state, reply, self._setup.budget, now)
        granted = allowance.take_calls(wanted)
        limit = Limit.of_calls(allowance.calls or 0, shared=True) if granted < wanted else None
        return Outside(seconds=now, granted=granted, limit=limit)

    def _opening(self) -> list[BaseMessage]:
        """The messages that the run begins with, after the history."""
        data = self._setup.data
        takes_data = any(isinstance(tool, RowTool) and tool.takes_data for tool in self._setup.tools.values())
        if data is None or not (len(data) or takes_data):
            return [self._question]
        return [HumanMessage(content=data.summary()), self._question]

    async def _ask(self) -> AIMessage:
        recorder = self._recorder
        recorder.turn += 1
        self._teller.turn(recorder.turn)
        began = recorder.now()
        with translated(self._setup.model):
            reply = await self._reply(self._bound_model(), self._messages())
        reply = with_call_ids(wellformed_reply(reply), recorder.turn, self._used_ids())
        recorder.add(reply, since=began)
        return reply

    async def _reply(self, bound: Any, messages: list[BaseMessage]) -> AIMessage:
        model, passing_loop = self._setup.model, self._passing_loop

        async def once() -> AIMessage:
            if self._teller.is_heard:
                return await ask_streaming(model, bound, messages, self._teller.piece, passing_loop=passing_loop)
            return await ask(model, bound, messages, passing_loop=passing_loop)

        return await self._setup.pace.model_call(once)

    def _used_ids(self) -> list[str]:
        replies = [message for message in self._messages() if isinstance(message, AIMessage)]
        return [call["id"] or "" for reply in replies for call in [*reply.tool_calls, *reply.invalid_tool_calls]]

    def _bound_model(self) -> Any:
        setup = self._setup
        if not setup.tools or (self._state.limit and setup.when_exhausted == "answer"):
            return setup.model
        try:
            return setup.model.bind_tools(tool_definitions(self._offer.bound))
        except NotImplementedError:
            name = model_name(setup.model)
            raise AgentError(f"the chat model {name!r} cannot call tools; choose one that can.") from None

    def _messages(self) -> list[BaseMessage]:
        """What the model gets: system message, history, then this run."""
        own = self._recorder.messages
        system = 1 if own and isinstance(own[0], SystemMessage) else 0
        return [*own[:system], *self._history, *own[system:]]

    async def _run_tools(self, calls: Sequence[ToolCall]) -> None:
        """Runs the calls side by side and records their results in the order of the calls, also when stopped."""
        # A model may know a tool from elsewhere; from now on it sees how it is called.
        self._offer.bind(call["name"] for call in calls)
        done: dict[int, tuple[ToolMessage, float, float]] = {}
        budget = self._setup.budget

        async def run_one(position: int, call: ToolCall) -> None:
            tool = self._setup.tools.get(call["name"])
            async with self._setup.pace.tool_call(tool):
                began = self._recorder.now()
                self._teller.call(call)
                limit = TimeLimit.soonest(seconds_of(tool, budget.seconds_per_call), budget.seconds, began)
                message = await run_call(call, self._setup.tools, limit)
                ended = self._recorder.now()
            done[position] = (message, began, ended)
            self._teller.result(message, ended - began)

        try:
            await asyncio.gather(*(run_one(position, call) for position, call in enumerate(calls)))
        finally:
            for position in sorted(done):
                message, began, ended = done[position]
                self._recorder.add(message, since=began, until=ended)

    def _add_all(self, messages: Sequence[ToolMessage]) -> None:
        for message in messages:
            self._add(message)

    def _add(self, message: ToolMessage) -> None:
        """Adds the answer to a call that was not made."""
        self._recorder.add(message)
        self._teller.result(message)

    def _close_calls(self, reason: str) -> None:
        for identifier, name in self._recorder.open_calls():
            self._add(error_message(identifier, name, reason))

    def _result(
        self,
        answer: str,
        stop_reason: StopReason,
        error: AgentError | None,
        structured: dict[str, Any] | None = None,
    ) -> AgentRun:
        own = [message for message in self._recorder.messages if not isinstance(message, SystemMessage)]
        text = str(error) if error else None
        trace = self._recorder.trace(turns=self._state.turns, stop_reason=stop_reason, error=text)
        return AgentRun(
            messages=(*self._history, *own),
            answer=answer,
            turns=self._state.turns,
            tool_calls=trace.tool_calls,
            stop_reason=stop_reason,
            trace=trace,
            error=error,
            history_length=len(self._history),
            structured=structured,
        )
