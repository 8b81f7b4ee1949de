from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from knime.types.tool import WorkflowTool
from knime_ext.agent import Agent, AgentRun, Budget, DataRepository, to_langchain_tools
from knime_ext.agent.loop import text_of
from knime_ext.errors import AgentError, ConfigurationError, LimitReached
from knime_ext.testing import ScriptedChatModel, call
from tests.agent.orders import OrdersHost, Table, orders_data, workflow_tool

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


def tool(name: str, function: Callable[[int], Any], description: str = "A tool") -> BaseTool:
    def run(n: int = 0) -> Any:
        return function(n)

    return StructuredTool(name=name, description=description, args_schema=SCHEMA, func=run)


def async_tool(name: str, function: Callable[[int], Any]) -> BaseTool:
    async def run(n: int = 0) -> Any:
        return await function(n)

    return StructuredTool(name=name, description="A tool", args_schema=SCHEMA, coroutine=run)


def calls(*wanted: tuple[str, dict[str, Any]]) -> AIMessage:
    return AIMessage(
        content="",
        tool_calls=[{"name": name, "args": args, "id": f"c{index}"} for index, (name, args) in enumerate(wanted)],
    )


def results(run: AgentRun) -> list[tuple[str | None, str, str]]:
    found = [message for message in run.messages if isinstance(message, ToolMessage)]
    return [(message.name, message.status, text_of(message)) for message in found]


def double(n: int) -> str:
    return str(2 * n)


def fails(n: int) -> str:
    raise ToolException("no such city: Atlantis")


def breaks(n: int) -> str:
    raise ZeroDivisionError("division by zero")


def test_the_model_gets_the_results_and_answers() -> None:
    model = ScriptedChatModel(replies=[call("double", {"n": 21}), lambda messages: AIMessage(text_of(messages[-1]))])
    run = Agent(model, [tool("double", double)], system_message="Be brief.").run("What is twice 21?")
    assert (run.answer, run.turns, run.tool_calls, run.stop_reason, run.error) == ("42", 1, 1, "answered", None)
    assert [message.type for message in model.received[1]] == ["system", "human", "ai", "tool"]
    assert [message.type for message in run.messages] == ["human", "ai", "tool", "ai"]
    assert model.bound == [["double"], ["double"]]


def test_without_tools_the_model_is_asked_once_and_nothing_is_bound() -> None:
    model = ScriptedChatModel(replies=["Hello."])
    assert Agent(model).run("Hi").answer == "Hello."
    assert model.bound == [[]]


def test_calls_of_a_turn_run_side_by_side_and_answer_in_the_order_of_the_calls() -> None:
    both_in, first_may_end = threading.Barrier(2, timeout=10), threading.Event()

    def slow(n: int) -> str:
        both_in.wait()
        assert first_may_end.wait(10)
        return "slow"

    def quick(n: int) -> str:
        both_in.wait()
        first_may_end.set()
        return "quick"

    model = ScriptedChatModel(replies=[calls(("slow", {}), ("quick", {})), "done"])
    run = Agent(model, [tool("slow", slow), tool("quick", quick)]).run("go")
    assert results(run) == [("slow", "success", "slow"), ("quick", "success", "quick")]
    assert run.turns == 1


def test_every_failure_of_a_tool_goes_to_the_model_and_the_run_goes_on() -> None:
    model = ScriptedChatModel(
        replies=[calls(("fails", {}), ("breaks", {}), ("nope", {}), ("double", {"n": 1})), "done"]
    )
    run = Agent(model, [tool("fails", fails), tool("breaks", breaks), tool("double", double)]).run("go")
    assert results(run) == [
        ("fails", "error", "no such city: Atlantis"),
        ("breaks", "error", "the tool 'breaks' failed: ZeroDivisionError: division by zero"),
        ("nope", "error", "there is no tool 'nope'; the tools are: fails, breaks, double."),
        ("double", "success", "2"),
    ]
    assert run.answer == "done"


def test_a_tool_beyond_its_time_limit_is_stopped_and_the_model_is_told() -> None:
    ended = threading.Event()

    async def hangs(n: int) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    model = ScriptedChatModel(replies=[calls(("hangs", {}), ("double", {"n": 3})), "done"])
    agent = Agent(model, [async_tool("hangs", hangs), tool("double", double)], budget=Budget(seconds_per_call=0.05))
    run = agent.run("go")
    assert ended.is_set()
    assert results(run)[0][1:] == (
        "error",
        "the tool 'hangs' gave no result within 0.05 seconds and was stopped; it is unknown whether it took effect. "
        "Ask for less, or go on without it.",
    )
    assert results(run)[1] == ("double", "success", "6")


def test_a_tool_that_cancels_itself_is_a_failure_of_the_tool_alone() -> None:
    async def cancels(n: int) -> str:
        raise asyncio.CancelledError

    model = ScriptedChatModel(replies=[call("cancels"), "done"])
    run = Agent(model, [async_tool("cancels", cancels)]).run("go")
    assert results(run) == [("cancels", "error", "the tool 'cancels' was cancelled from within.")]
    assert run.answer == "done"


def test_a_call_with_unreadable_arguments_goes_back_to_the_model() -> None:
    garbled = {"name": "double", "args": '{"n": ', "id": "x", "error": "Expecting value", "type": "invalid_tool_call"}
    bad = AIMessage(
        content="", invalid_tool_calls=[garbled], tool_calls=[{"name": "double", "args": {"n": 1}, "id": "y"}]
    )
    run = Agent(ScriptedChatModel(replies=[bad, "done"]), [tool("double", double)]).run("go")
    assert [status for _, status, _ in results(run)] == ["success", "error"]
    assert run.answer == "done"


def test_a_used_up_budget_raises_and_keeps_what_happened_for_those_who_ask() -> None:
    model = ScriptedChatModel(replies=[call("double", {"n": 1})] * 3)
    agent = Agent(model, [tool("double", double)], budget=Budget(turns=2))
    with pytest.raises(LimitReached, match="2 turns"):
        agent.run("go")
    model.received.clear()
    run = agent.attempt("go")
    assert (run.stop_reason, run.turns, run.answer) == ("failed", 2, "")
    assert isinstance(run.error, LimitReached)
    assert [status for _, status, _ in results(run)] == ["success", "success", "error"]


def test_a_used_up_budget_may_end_with_an_answer_without_tools() -> None:
    model = ScriptedChatModel(
        replies=[call("double", {"n": 1}), calls(("double", {}), ("double", {})), "It is 2 so far."]
    )
    agent = Agent(
        model, [tool("double", double)], budget=Budget(turns=1), when_exhausted="answer", final_prompt="Finish."
    )
    run = agent.run("go")
    assert (run.answer, run.stop_reason, run.turns) == ("It is 2 so far.", "turn_limit", 1)
    assert model.bound == [["double"], ["double"], []]
    assert [(m.type, text_of(m)) for m in model.received[2][-3:]] == [
        ("tool", "not called: the budget of 1 turn with tools is used up. Answer with what you have."),
        ("tool", "not called: the budget of 1 turn with tools is used up. Answer with what you have."),
        ("human", "Finish."),
    ]


def test_without_a_final_prompt_the_model_is_asked_with_the_refusals_alone() -> None:
    model = ScriptedChatModel(replies=[call("double"), "fine"])
    agent = Agent(model, [tool("double", double)], budget=Budget(turns=0), when_exhausted="answer", final_prompt="")
    assert agent.run("go").answer == "fine"
    assert [message.type for message in model.received[1]] == ["system", "human", "ai", "tool"]


def test_an_answer_cut_off_before_its_first_word_is_an_error_with_the_repair() -> None:
    empty = AIMessage(content="", response_metadata={"finish_reason": "length"})
    with pytest.raises(AgentError, match="raise the model's limit of output tokens"):
        Agent(ScriptedChatModel(replies=[empty])).run("go")


def test_a_conversation_goes_on_from_the_messages_of_the_run_before() -> None:
    model = ScriptedChatModel(replies=[call("double", {"n": 2}), "4", "As I said: 4"])
    agent = Agent(model, [tool("double", double)], system_message="Be brief.")
    first = agent.run("twice 2?")
    second = agent.run("again?", history=first.messages)
    assert [message.type for message in model.received[2]] == ["system", "human", "ai", "tool", "ai", "human"]
    assert [message.type for message in second.new_messages] == ["human", "ai"]
    assert len(second.messages) == 6


def test_the_model_is_told_about_data_before_the_question_but_never_its_rows() -> None:
    data = DataRepository()
    data.add("orders", "All orders", Table(["customer"]))
    model = ScriptedChatModel(replies=["ok"])
    Agent(model, data=data).run("go")
    told, asked = model.received[0]
    assert '"name": "orders"' in text_of(told)
    assert text_of(asked) == "go"


def test_an_empty_repository_is_mentioned_only_to_tools_that_take_data() -> None:
    [taking, _] = to_langchain_tools([workflow_tool("customer_revenue")], OrdersHost())
    model = ScriptedChatModel(replies=["ok", "ok"])
    Agent(model, [taking], data=DataRepository()).run("go")
    Agent(model, [tool("double", double)], data=DataRepository()).run("go")
    assert [len(messages) for messages in model.received] == [3, 2]


def test_a_prompt_may_be_a_message_with_an_image() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    model = ScriptedChatModel(replies=["a cat"])
    run = Agent(model).run(HumanMessage(content=[{"type": "text", "text": "What is this?"}, image]))
    assert run.trace.question == "What is this?"
    assert run.trace.messages[0].blocks == ({"type": "image", "mimeType": "image/png", "data": "AAAA"},)


def test_tables_of_parallel_calls_get_their_ids_in_the_order_of_the_calls() -> None:
    second_done = threading.Event()

    class Host(OrdersHost):
        def _execute_tool(self, tool: WorkflowTool, parameters: Any, inputs: Any, execution_hints: Any) -> Any:
            if tool.name == "customer_revenue":
                assert second_done.wait(10)
            else:
                second_done.set()
            return "done", [Table([tool.name])], []

    data = orders_data()
    rows = [workflow_tool("customer_revenue"), workflow_tool("orders_by_country")]
    both = calls(*((row.name, {"data_inputs": {"orders": 0}}) for row in rows))
    Agent(ScriptedChatModel(replies=[both, "ok"]), to_langchain_tools(rows, Host(), data=data), data=data).run("go")
    assert [(item.id, item.name) for item in data.items] == [("0", "orders"), ("1", "ranking"), ("2", "countries")]


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="'double'"):
        Agent(ScriptedChatModel(replies=[]), [tool("double", double), tool("double", double)])


def test_runs_of_one_agent_may_overlap() -> None:
    together = threading.Barrier(3, timeout=10)

    def meet(n: int) -> str:
        together.wait()
        return str(n)

    def reply(messages: list[BaseMessage]) -> AIMessage:
        if isinstance(messages[-1], ToolMessage):
            return AIMessage(text_of(messages[-1]))
        return call("meet", {"n": int(text_of(messages[-1]))})

    agent = Agent(ScriptedChatModel(replies=[reply] * 6), [tool("meet", meet)])

    async def three() -> list[str]:
        return [run.answer for run in await asyncio.gather(*(agent.arun(str(n)) for n in range(3)))]

    assert asyncio.run(three()) == ["0", "1", "2"]


def test_run_works_inside_a_running_loop_and_from_many_threads() -> None:
    async def inside() -> str:
        return Agent(ScriptedChatModel(replies=["yes"])).run("go").answer

    assert asyncio.run(inside()) == "yes"
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda: answers.append(Agent(ScriptedChatModel(replies=["ok"])).run("go").answer))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert answers == ["ok"] * 8


def test_a_model_that_cannot_call_tools_is_a_clear_error() -> None:
    class Plain(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "plain"

        def _generate(
            self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
        ) -> ChatResult:
            return ChatResult(generations=[ChatGeneration(message=AIMessage("ok"))])

    with pytest.raises(AgentError, match="'Plain' cannot call tools"):
        Agent(Plain(), [tool("double", double)]).run("go")


class Waiting(BaseChatModel):
    """A model whose reply never comes; it tells when it was asked and when it was stopped."""

    asked: Any
    stopped: Any

    @property
    def _llm_type(self) -> str:
        return "waiting"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.set()
        raise AssertionError


def set_when(first: threading.Event, then: threading.Event) -> threading.Thread:
    thread = threading.Thread(target=lambda: first.wait(10) and then.set())
    thread.start()
    return thread


def test_an_event_stops_a_model_that_is_thinking() -> None:
    asked, stopped, cancel = threading.Event(), threading.Event(), threading.Event()
    thread = set_when(asked, cancel)
    run = Agent(Waiting(asked=asked, stopped=stopped)).attempt("go", cancel=cancel)
    thread.join(10)
    assert stopped.is_set()
    assert (run.stop_reason, str(run.error)) == ("cancelled", "the run was cancelled.")
    with pytest.raises(AgentError, match="cancelled"):
        Agent(Waiting(asked=asked, stopped=stopped)).run("go", cancel=cancel)


def test_a_function_that_turns_true_stops_the_tools_and_leaves_every_call_answered() -> None:
    entered, released = threading.Event(), threading.Event()

    def hangs(n: int) -> str:
        entered.set()
        released.wait(20)
        return "late"

    model = ScriptedChatModel(replies=[calls(("double", {"n": 1}), ("hangs", {}))])
    run = Agent(model, [tool("double", double), tool("hangs", hangs)]).attempt("go", cancel=entered.is_set)
    released.set()
    assert run.stop_reason == "cancelled"
    assert [status for _, status, _ in results(run)] in (["success", "error"], ["error", "error"])
    assert results(run)[1] == ("hangs", "error", "not finished: the run was cancelled.")


def test_cancelling_the_awaiting_task_stops_model_and_tools() -> None:
    entered, stopped = threading.Event(), threading.Event()

    async def hangs(n: int) -> str:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return ""

    async def cancelled() -> None:
        agent = Agent(ScriptedChatModel(replies=[call("hangs")]), [async_tool("hangs", hangs)])
        task = asyncio.ensure_future(agent.arun("go"))
        assert await asyncio.to_thread(entered.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 5)

    asyncio.run(cancelled())
    assert stopped.is_set()


@pytest.mark.parametrize("names", [["double"], ["double", "fails", "breaks", "nope"]])
def test_the_same_script_gives_the_same_trace(names: Sequence[str]) -> None:
    def once() -> dict[str, Any]:
        model = ScriptedChatModel(replies=[calls(*((name, {"n": 1}) for name in names)), "done"])
        tools = [tool("double", double), tool("fails", fails), tool("breaks", breaks)]
        return Agent(model, tools, system_message="s").run("go").trace.to_dict(timings=False)

    assert once() == once()
