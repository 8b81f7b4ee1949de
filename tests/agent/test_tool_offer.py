"""Agents with hundreds of tools, through a chat model's own client: the model searches, and sees what it has found."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from pydantic import SecretStr

from knime.types.tool import MCPTool, WorkflowTool
from knime_ext.agent import Agent, ChatModelConfig, create_chat_model, to_langchain_tools
from knime_ext.agent.batch.journal import Journal
from knime_ext.agent.batch.prompting import BatchPrompter
from knime_ext.agent.batch.row_source import RowSource
from knime_ext.mcp import MCPClient, StreamableHTTPServer
from knime_ext.mcp.serving import HTTPDoor
from knime_ext.testing import RecordingToolset, ScriptedChatModel, call
from knime_ext.tools import estimated_tokens
from tests.agent.openai_server import Body, Reply, Service, chosen, completion, openai_service, question_in, results_in
from tests.mcp_serving.serving import served

NOUNS = ("customer", "invoice", "order", "shipment", "ticket")
VERBS = ("list", "create", "delete", "archive", "export")
NAMES = [f"{verb}_{noun}_{number}" for number in range(20) for noun in NOUNS for verb in VERBS]
SCHEMA = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}


class Host:
    """Answers every call with the name of the tool."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def _execute_tool(
        self, tool: WorkflowTool, parameters: dict[str, Any], inputs: list[Any], execution_hints: dict[str, str]
    ) -> Any:
        raise NotImplementedError

    def _execute_mcp_tool(self, tool: MCPTool, parameters: Mapping[str, Any]) -> str:
        self.calls.append(tool.name)
        return f"{tool.name} of {parameters['key']}"


def five_hundred(host: Host) -> list[Any]:
    rows = [
        MCPTool(
            name=name,
            description=f"Will {name.replace('_', ' ')}. " + "More words that every tool has. " * 5,
            parameter_schema=SCHEMA,
            server_uri="https://example.org/mcp",
        )
        for name in NAMES
    ]
    return to_langchain_tools(rows, host)


def model(service: Service) -> Any:
    key = SecretStr("sk-1")
    return create_chat_model(
        ChatModelConfig(model="tiny", base_url=service.url, api_key=key, max_retries=0, timeout=20.0)
    )


def bound(request: Body) -> list[str]:
    return [each["function"]["name"] for each in request.get("tools", [])]


def test_the_model_sees_the_search_then_what_it_has_found_until_the_run_ends() -> None:
    host = Host()
    script = [
        completion(calls=[("search_tools", {"query": "delete invoice 7", "limit": 2})]),
        completion(calls=[("delete_invoice_7", {"key": "a"})]),
        completion(calls=[("search_tools", {"query": "export ticket 3", "limit": 1})]),
        completion(calls=[("export_ticket_3", {"key": "b"}), ("delete_invoice_7", {"key": "c"})]),
        completion("Done."),
        completion("Nothing to do."),
    ]
    with openai_service(script) as service:
        agent = Agent(model(service), five_hundred(host), tool_tokens=2_000)
        run = agent.run("Tidy up.")
        agent.run("And now?")
    assert (run.answer, sorted(host.calls)) == ("Done.", ["delete_invoice_7", "delete_invoice_7", "export_ticket_3"])
    seen = list(map(bound, service.requests))
    assert seen[0] == ["search_tools"]
    assert seen[1][0] == "search_tools" and "delete_invoice_7" in seen[1] and len(seen[1]) == 3
    assert seen[2] == seen[1]
    assert seen[3] == seen[4] and set(seen[3]) == {*seen[1], "export_ticket_3"}
    assert seen[5] == ["search_tools"], "what a run has found does not stay for the next one"
    assert all(sum(map(estimated_tokens, request["tools"])) < 2_000 for request in service.requests)
    [first, *_] = results_in(service.requests[1])
    assert first.startswith("These tools can be called now:\n- delete_invoice_7: Will delete invoice 7.")
    assert {message.origin for message in run.trace.messages if message.tool == "search_tools"} == {"agent"}


def test_few_tools_are_simply_shown() -> None:
    tools = five_hundred(Host())[:5]
    with openai_service([completion("Hello.")]) as service:
        Agent(model(service), tools, tool_tokens=100_000).run("Hi.")
        Agent(model(service), tools).run("Hi.")
    assert list(map(bound, service.requests)) == [NAMES[:5], NAMES[:5]]


def test_a_tool_that_was_not_searched_for_runs_all_the_same_and_is_seen_from_then_on() -> None:
    """Models remember tools from other conversations; arguments that do not fit are told with the schema in sight."""
    host = Host()
    script = [
        completion(calls=[("list_order_1", {"id": "a"})]),
        completion(calls=[("list_order_1", {"key": "a"})]),
        completion(calls=[("list_orders", {})]),
        completion("Done."),
    ]
    with openai_service(script) as service:
        run = Agent(model(service), five_hundred(host), tool_tokens=2_000).run("Which orders?")
    assert list(map(bound, service.requests))[1:] == [["search_tools", "list_order_1"]] * 3
    assert host.calls == ["list_order_1"]
    wrong, right, unknown = [message for message in run.messages if isinstance(message, ToolMessage)]
    assert wrong.status == "error" and "'key'" in wrong.text
    assert right.text == "list_order_1 of a"
    assert unknown.status == "error" and len(unknown.text) < 500


def test_tools_of_the_history_stay_in_sight() -> None:
    host = Host()
    script = [
        completion(calls=[("search_tools", {"query": "create shipment 9", "limit": 1})]),
        completion(calls=[("create_shipment_9", {"key": "a"})]),
        completion("Created."),
        completion("Still there."),
    ]
    with openai_service(script) as service:
        agent = Agent(model(service), five_hundred(host), tool_tokens=2_000)
        first = agent.run("Ship it.")
        agent.run("Again?", first.messages)
    assert bound(service.requests[-1]) == ["search_tools", "create_shipment_9"]


def test_runs_side_by_side_find_tools_of_their_own() -> None:
    """Twenty conversations over one agent, each about another tool; none sees what the others have found."""
    host, names = Host(), NAMES[::25]

    def reply(body: Body) -> Reply:
        wanted, results = question_in(body), results_in(body)
        if not results:
            return completion(calls=[("search_tools", {"query": wanted.replace("_", " "), "limit": 1})])
        if len(results) == 1:
            assert bound(body) == ["search_tools", wanted]
            return completion(calls=[(wanted, {"key": "k"})])
        return completion(results[-1])

    async def scenario(service: Service) -> list[str]:
        agent = Agent(model(service), five_hundred(host), tool_tokens=2_000)
        return [run.answer for run in await asyncio.gather(*(agent.arun(name) for name in names))]

    with openai_service(chosen(reply)) as service:
        assert asyncio.run(scenario(service)) == [f"{name} of k" for name in names]
    assert sorted(host.calls) == sorted(names)


def test_every_row_of_a_table_finds_tools_of_its_own(tmp_path: Path) -> None:
    """Also where each row has instructions, and thus an agent, of its own."""
    host = Host()
    table = pa.table({"wanted": NAMES[::50]})

    def reply(body: Body) -> Reply:
        wanted, results = question_in(body), results_in(body)
        assert bound(body) == ["search_tools", *([wanted] if results else [])]
        steps = [("search_tools", {"query": wanted.replace("_", " "), "limit": 1}), (wanted, {"key": "k"})]
        return completion(results[-1]) if len(results) == 2 else completion(calls=[steps[len(results)]])

    with openai_service(chosen(reply)) as service:
        batch = BatchPrompter(
            model(service),
            five_hundred(host),
            prompt="{{ wanted }}",
            system_message="This is about {{ wanted }}.",
            tool_tokens=2_000,
        )
        source = RowSource.of_table(table)
        with Journal.open(tmp_path / "journal", fingerprint=batch.fingerprint(source)) as journal:
            asyncio.run(batch.run(source, journal))
            answers = pa.Table.from_batches(batch.answered(source, journal))
    assert answers.column("answer").to_pylist() == [f"{name} of k" for name in NAMES[::50]]


def test_parallel_searches_and_tools_with_the_searchs_name() -> None:
    """The order of what is seen does not depend on which search ends first; names stay unique."""

    @tool
    def search_tools(key: str) -> str:
        """A tool that is called like the search."""
        return f"mine: {key}"

    tools: list[BaseTool] = [*five_hundred(Host()), search_tools]
    search = AIMessage(
        content="",
        tool_calls=[
            {"name": "search_tools_2", "args": {"query": query, "limit": 1}, "id": f"s{place}", "type": "tool_call"}
            for place, query in enumerate(("list order 3", "called like the search", "archive customer 0"))
        ],
    )
    scripted = ScriptedChatModel(replies=[search, call("search_tools", {"key": "k"}), "Done."])
    run = Agent(scripted, tools, tool_tokens=500).run("Go.")
    assert scripted.bound[1] == ["search_tools_2", "archive_customer_0", "list_order_3", "search_tools"]
    assert [message.text for message in run.messages if isinstance(message, ToolMessage)][-1] == "mine: k"


def test_the_search_refuses_wrong_arguments_and_says_when_nothing_fits() -> None:
    replies = [call("search_tools", {"q": "x"}), call("search_tools", {"query": "zeppelin"}, id="2"), "Done."]
    run = Agent(ScriptedChatModel(replies=list(replies)), five_hundred(Host()), tool_tokens=500).run("Go.")
    wrong, nothing = [message for message in run.messages if isinstance(message, ToolMessage)]
    assert wrong.status == "error" and "'query'" in wrong.text
    assert nothing.status != "error" and "other words" in nothing.text


def test_five_hundred_tools_of_a_real_server_are_searched_and_called() -> None:
    toolset = RecordingToolset({name: f"{name} done" for name in NAMES})
    script = [
        completion(calls=[("search_tools", {"query": "archive order 12", "limit": 1})]),
        completion(calls=[("archive_order_12", {})]),
        completion("Archived."),
    ]

    async def scenario(service: Service) -> str:
        async with served(toolset, HTTPDoor()) as url, MCPClient(StreamableHTTPServer(url)) as client:
            tools = await client.aas_langchain_tools()
            assert len(tools) == len(NAMES)
            return (await Agent(model(service), tools, tool_tokens=1_000).arun("Archive order 12.")).answer

    with openai_service(script) as service:
        assert asyncio.run(scenario(service)) == "Archived."
    assert toolset.calls == [("archive_order_12", {})]
    assert list(map(bound, service.requests)) == [
        ["search_tools"],
        ["search_tools", "archive_order_12"],
        ["search_tools", "archive_order_12"],
    ]
