"""A chat model with tools, ready to be asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from langchain_core.tools import BaseTool

from knime_ext.agent.answer_format import AnswerFormat
from knime_ext.agent.budget import Allowance, Budget, WhenExhausted
from knime_ext.agent.cancellation import GRACE_SECONDS, Cancel, stop
from knime_ext.agent.data import DataRepository
from knime_ext.agent.events import AgentEvent, Hear, RunFinished
from knime_ext.agent.pace import Pace
from knime_ext.agent.run import AgentRun, Run, Setup
from knime_ext.agent.tool_offer import ToolCatalogue
from knime_ext.errors import ConfigurationError

__all__ = ["FINAL_PROMPT", "Agent", "AgentRun"]

FINAL_PROMPT = (
    "The budget for tool calls is used up. Answer now with what you have found out so far, "
    "and say plainly what is still open."
)


class Agent:
    """A chat model that may call tools until it has an answer. Holds no state of a run; runs may overlap."""

    def __init__(
        self,
        model: BaseChatModel,
        tools: Sequence[BaseTool] = (),
        *,
        system_message: str = "",
        budget: Budget | None = None,
        when_exhausted: WhenExhausted = "fail",
        final_prompt: str = FINAL_PROMPT,
        data: DataRepository | None = None,
        allowance: Allowance | None = None,
        pace: Pace | None = None,
        answer_format: AnswerFormat | None = None,
        tool_tokens: int | None = None,
        catalogue: ToolCatalogue | None = None,
    ) -> None:
        """Puts model and tools together.

        Args:
            model: Any LangChain chat model.
            tools: LangChain tools with different names, such as `to_langchain_tools` gives.
            system_message: Instructions for the model; none if empty.
            budget: What each run may spend; 25 turns if not given.
            when_exhausted: When a limit is used up and the model asks for tools: "fail" raises LimitReached; "answer"
                refuses the calls and asks once more, with `final_prompt` and without tools; "refuse" only refuses
                them, and any further ones, until the model answers.
            final_prompt: What the model is then told; "" says nothing.
            data: The repository that the tools use; the model is told what is in it.
            allowance: What the runs of this and other agents may spend together; unlimited if not given.
            pace: Has calls wait for those of other runs; all go out at once if not given.
            answer_format: The form that answers must have; an answer without it goes back to the model with the
                reason, a few times. `AgentRun.structured` is then the answer's object.
            tool_tokens: If the definitions of the tools have more estimated tokens together, the model sees a tool to
                search with in their place, and then, for the rest of the run, the tools that it has found. None
                always shows all.
            catalogue: The search over the same tools, where many agents share it; made for `tool_tokens` if not given.

        Raises:
            ConfigurationError: Two tools have the same name.
        """
        by_name = {tool.name: tool for tool in tools}
        if len(by_name) != len(tools):
            names = [tool.name for tool in tools]
            twice = next(name for name in names if names.count(name) > 1)
            raise ConfigurationError(f"two tools are called {twice!r}; give each tool a name of its own.")
        self._setup = Setup(
            model=model,
            tools=by_name,
            system_message=system_message,
            budget=budget or Budget(),
            when_exhausted=when_exhausted,
            final_prompt=final_prompt,
            data=data,
            allowance=allowance or Allowance(),
            pace=pace or Pace(),
            answer_format=answer_format,
            catalogue=catalogue or ToolCatalogue(by_name, tool_tokens),
        )

    def run(
        self, prompt: str | HumanMessage, history: Sequence[BaseMessage] = (), *, cancel: Cancel | None = None
    ) -> AgentRun:
        """Like `arun`, from code that is not async; may also be called in a thread where an event loop runs."""
        return _or_raise(self.attempt(prompt, history, cancel=cancel))

    async def arun(
        self, prompt: str | HumanMessage, history: Sequence[BaseMessage] = (), *, cancel: Cancel | None = None
    ) -> AgentRun:
        """Asks the model and lets it call tools until it answers.

        A tool that fails never ends the run: the model gets the reason. Cancelling the awaiting task stops model
        and tools.

        Args:
            prompt: What the model is asked.
            history: Earlier messages, such as `AgentRun.messages` of the run before.
            cancel: An event or a function; the run stops soon after it is set or true.

        Raises:
            LimitReached: A limit is used up and the agent shall then fail.
            AgentError: The model failed or gave no answer, or the run was cancelled.
        """
        return _or_raise(await self.aattempt(prompt, history, cancel=cancel))

    def attempt(
        self, prompt: str | HumanMessage, history: Sequence[BaseMessage] = (), *, cancel: Cancel | None = None
    ) -> AgentRun:
        """Like `run`, but a failure is in the result instead of raised, with everything that happened before it."""
        from knime_ext.bridge import shared_bridge

        with shared_bridge() as bridge:
            return bridge.run(self._started(prompt, history, passing_loop=True).outcome(cancel))

    async def aattempt(
        self, prompt: str | HumanMessage, history: Sequence[BaseMessage] = (), *, cancel: Cancel | None = None
    ) -> AgentRun:
        """Like `arun`, but a failure is in the result instead of raised, with everything that happened before it."""
        return await self._started(prompt, history, passing_loop=False).outcome(cancel)

    async def stream(
        self, prompt: str | HumanMessage, history: Sequence[BaseMessage] = (), *, cancel: Cancel | None = None
    ) -> AsyncGenerator[AgentEvent]:
        """Like `aattempt`, telling what happens while it happens.

        The last event is always `RunFinished`, also when the run failed or was stopped by `cancel`. Closing the
        iterator, or cancelling the task that iterates, stops model and tools.

        Args:
            prompt: What the model is asked.
            history: Earlier messages, such as `AgentRun.messages` of the run before.
            cancel: An event or a function; the run stops soon after it is set or true.
        """
        heard: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        run = self._started(prompt, history, passing_loop=False, hear=heard.put_nowait)
        task = asyncio.ensure_future(run.outcome(cancel))
        task.add_done_callback(lambda _: heard.put_nowait(None))
        try:
            while (event := await heard.get()) is not None:
                yield event
            yield RunFinished(task.result())
        finally:
            await stop(task, 2 * GRACE_SECONDS)

    def _started(
        self,
        prompt: str | HumanMessage,
        history: Sequence[BaseMessage],
        *,
        passing_loop: bool,
        hear: Hear | None = None,
    ) -> Run:
        question = HumanMessage(content=prompt) if isinstance(prompt, str) else prompt
        return Run(self._setup, question, history, passing_loop=passing_loop, hear=hear)


def _or_raise(run: AgentRun) -> AgentRun:
    if run.error is not None:
        raise run.error
    return run
