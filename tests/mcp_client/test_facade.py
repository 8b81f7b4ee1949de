"""Tools for any completion in OpenAI's form: schemas out, the model's calls run, the messages to append back."""

import asyncio
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from knime_ext.errors import ConfigurationError, MCPError
from knime_ext.mcp import (
    MCPFacade,
    MCPRegistry,
    ResultFiles,
    Server,
    StdioServer,
    StreamableHTTPServer,
    ToolConfig,
    URLServer,
)
from knime_ext.tools import ApprovalPolicy, Toolset
from tests.mcp_client.completions import as_object, asking
from tests.servers.legacy import ECHO, JSON, LegacyServer, serving, text_result
from tests.servers.openmetadata import OpenMetadataServer
from tests.servers.process import HERE, free_port

LINES = StdioServer("lines", sys.executable, (str(HERE / "lines.py"),))


@pytest.fixture
def providers(catalog: OpenMetadataServer, toolbox: str) -> dict[str, Server]:
    return {
        "catalog": StreamableHTTPServer(catalog.url, headers={"Authorization": f"Bearer {catalog.token}"}),
        "toolbox": URLServer(toolbox),
        "dead": StreamableHTTPServer(f"http://127.0.0.1:{free_port()}/mcp"),
        "lines": LINES,
    }


@pytest.fixture
def facade(providers: dict[str, Server]) -> Iterator[MCPFacade]:
    """Two providers, some of their tools."""
    tools = ["search_metadata", "add", "gr*", "fail", "wait"]
    config = ToolConfig(tool_alias="both", providers=["catalog", "toolbox"], allow_tools=tools, timeout_sec=5)
    with MCPRegistry(providers, [config]) as registry:
        yield registry.get_mcp("both")


def test_a_facade_tells_its_configuration(facade: MCPFacade, providers: dict[str, Server]):
    assert (facade.tool_alias, facade.providers, facade.timeout_sec) == ("both", ["catalog", "toolbox"], 5)
    with MCPRegistry(providers, [ToolConfig(tool_alias="all", providers=["lines"])]) as registry:
        plain = registry.get_mcp("all")
        assert (plain.max_tool_call_turns, plain.allow_tools, plain.timeout_sec) == (5, None, 60.0)


def test_the_schemas_are_those_of_the_allowed_tools_of_all_providers(facade: MCPFacade):
    schemas = facade.get_tool_schemas()
    assert [schema["function"]["name"] for schema in schemas] == ["search_metadata", "add", "greet", "fail", "wait"]
    assert schemas[1]["type"] == "function"
    assert schemas[1]["function"]["parameters"]["required"] == ["a", "b"]
    assert facade.problems == {}
    assert asyncio.run(facade.aget_tool_schemas()) == schemas


@pytest.mark.parametrize("form", [dict, as_object])
def test_each_call_goes_to_the_server_that_has_the_tool(facade: MCPFacade, form: Any):
    reply = form(asking(("add", {"a": 1, "b": 2}), ("search_metadata", {"query": "carriers"}), content="Let me see."))
    assert MCPFacade.tool_call_count(reply) == 2
    assert facade.has_tool_calls(reply)
    assistant, first, second = facade.process_completion_response(reply)
    assert assistant == {
        "role": "assistant",
        "content": "Let me see.",
        "tool_calls": asking(("add", {"a": 1, "b": 2}), ("search_metadata", {"query": "carriers"}))["choices"][0][
            "message"
        ]["tool_calls"],
    }
    assert first == {"role": "tool", "tool_call_id": "call_1", "content": "3"}
    assert second["tool_call_id"] == "call_2" and "shop.sales.public.carriers" in second["content"]


def test_a_reply_without_calls_is_the_models_message(facade: MCPFacade):
    reply = asking(content="Done.", reasoning_content="It was easy.")
    assert not facade.has_tool_calls(reply)
    message = {"role": "assistant", "content": "Done.", "reasoning_content": "It was easy."}
    assert facade.process_completion_response(reply) == [message]
    assert facade.refuse_completion_response(SimpleNamespace(choices=[SimpleNamespace(message=message)])) == [message]


def test_whatever_goes_wrong_with_a_call_is_told_in_its_message(facade: MCPFacade):
    calls: list[tuple[str, Any]] = [
        ("fail", {"reason": "no ink"}),
        ("gret", {}),
        ("add", '{"a": 1'),
        ("add", {"a": "x", "b": 1}),
        ("environment", {}),
        ("", {}),
        ("add", {"a": 2, "b": 2}),
    ]
    answers = [message["content"] for message in facade.process_completion_response(asking(*calls))[1:]]
    assert "Error executing tool fail" in answers[0]
    assert "Did you mean 'greet'" in answers[1]
    assert "not valid JSON" in answers[2]
    assert "'a' must be of type integer" in answers[3]
    assert "there is no tool 'environment'" in answers[4]
    assert "there is no tool ''" in answers[5]
    assert answers[6] == "4"


def test_the_calls_of_one_reply_run_at_the_same_time():
    waiting, together = [0], threading.Event()

    async def meet(params: dict[str, Any]) -> dict[str, Any]:
        waiting[0] += 1
        if waiting[0] == 3:
            together.set()
        async with asyncio.timeout(5):
            while not together.is_set():
                await asyncio.sleep(0.005)
        return text_result(params["arguments"]["text"])

    with serving(LegacyServer(on_call=meet)) as server:
        config = ToolConfig(tool_alias="a", providers=["echo"])
        with MCPRegistry({"echo": URLServer(server.url)}, [config]) as registry:
            reply = asking(*[("echo", {"text": str(number)}) for number in range(3)])
            messages = registry.get_mcp("a").process_completion_response(reply)
        assert [message["content"] for message in messages[1:]] == ["0", "1", "2"]


def test_a_call_that_takes_too_long_is_told_and_does_not_hold_up_the_others(providers: dict[str, Server]):
    config = ToolConfig(tool_alias="a", providers=["toolbox"], timeout_sec=0.3)
    with MCPRegistry(providers, [config]) as registry:
        reply = asking(("wait", {"name": "slow"}), ("add", {"a": 1, "b": 1}))
        _, slow, fast = registry.get_mcp("a").process_completion_response(reply)
    assert "within 0.3 s" in slow["content"]
    assert fast["content"] == "2"


def test_every_call_of_a_reply_can_be_refused(facade: MCPFacade):
    reply = asking(("add", {"a": 1, "b": 2}), ("nonsense", "{"))
    assistant, first, second = facade.refuse_completion_response(reply)
    assert [call["function"]["name"] for call in assistant["tool_calls"]] == ["add", "nonsense"]
    assert (first["tool_call_id"], second["tool_call_id"]) == ("call_1", "call_2")
    assert "not made" in first["content"] and first["content"] == second["content"]
    assert facade.refuse_completion_response(reply, "Enough.")[1]["content"] == "Enough."


def test_a_dead_provider_does_not_hide_the_others(providers: dict[str, Server]):
    config = ToolConfig(tool_alias="a", providers=["dead", "lines"], allow_tools=["echo", "only_on_the_dead_one"])
    with MCPRegistry(providers, [config]) as registry:
        facade = registry.get_mcp("a")
        assert [schema["function"]["name"] for schema in facade.get_tool_schemas()] == ["echo"]
        assert "cannot reach server" in facade.problems["dead"]
        assert facade.process_completion_response(asking(("echo", {"x": 1})))[1]["content"] == '{"x": 1}'


def test_if_no_provider_answers_the_schemas_are_an_error_and_calls_say_why(providers: dict[str, Server]):
    with MCPRegistry(providers, [ToolConfig(tool_alias="a", providers=["dead"])]) as registry:
        with pytest.raises(MCPError, match="cannot reach server"):
            registry.get_mcp("a").get_tool_schemas()
        messages = registry.get_mcp("a").process_completion_response(asking(("echo", {})))
        assert "cannot reach server" in messages[1]["content"]


def test_an_allowed_tool_that_nobody_has_is_refused(providers: dict[str, Server]):
    config = ToolConfig(tool_alias="a", providers=["lines", "catalog"], allow_tools=["echo", "serch_*"])
    with MCPRegistry(providers, [config]) as registry:
        with pytest.raises(ConfigurationError, match=r"no tool of 'lines' or 'catalog' is called 'serch_\*'"):
            registry.get_mcp("a").get_tool_schemas()


def test_equal_names_of_two_providers_are_both_there(toolbox: str):
    tool = {**ECHO, "name": "greet", "description": "Another one."}
    with serving(LegacyServer(tools=[tool])) as server:
        config = ToolConfig(tool_alias="a", providers=["toolbox", "other"], allow_tools=["greet"])
        with MCPRegistry({"toolbox": URLServer(toolbox), "other": URLServer(server.url)}, [config]) as registry:
            facade = registry.get_mcp("a")
            assert [one["function"]["name"] for one in facade.get_tool_schemas()] == ["greet", "greet_2"]
            reply = asking(("greet", {"name": "Ada"}), ("greet_2", {"text": "hello"}))
            assert [one["content"] for one in facade.process_completion_response(reply)[1:]] == ["Hello, Ada.", "hello"]


def test_facades_are_made_lazily_once_and_share_one_session():
    with serving(LegacyServer()) as server:
        configs = [ToolConfig(tool_alias=name, providers=["echo"]) for name in ("a", "b")]
        with MCPRegistry({"echo": URLServer(server.url)}, configs) as registry:
            assert registry.get_mcp("a") is registry.get_mcp("a")
            assert server.seen == []
            for name in registry.aliases:
                registry.get_mcp(name).process_completion_response(asking(("echo", {"text": name})))
            assert server.handshakes == 1
        assert server.sessions == set()
        with registry:
            assert registry.get_mcp("a").process_completion_response(asking(("echo", {"text": "x"})))[1]["content"]


def test_everything_is_also_async(providers: dict[str, Server]):
    async def scenario() -> list[str]:
        configs = [ToolConfig(tool_alias="a", providers=["toolbox"]), ToolConfig(tool_alias="b", providers=["lines"])]
        async with MCPRegistry(providers, configs) as registry:
            replies = [asking(("greet", {"name": "Ada"})), asking(("echo", {"x": 1}))]
            done = await asyncio.gather(
                *(registry.get_mcp(a).aprocess_completion_response(r) for a, r in zip("ab", replies, strict=True))
            )
        return [messages[1]["content"] for messages in done]

    assert asyncio.run(scenario()) == ["Hello, Ada.", '{"x": 1}']


def test_a_configuration_is_checked_when_it_is_registered(providers: dict[str, Server]):
    registry = MCPRegistry(providers)
    with pytest.raises(ConfigurationError, match="configuration 'a': no provider 'toolbux' .* mean 'toolbox'"):
        registry.register(ToolConfig(tool_alias="a", providers=["toolbux"]))
    registry.register(ToolConfig(tool_alias="a", providers=["toolbox"]))
    with pytest.raises(ConfigurationError, match="two tool configurations are called 'a'"):
        registry.register(ToolConfig(tool_alias="a", providers=["lines"]))
    with pytest.raises(ConfigurationError, match="no tool configuration is called 'b'; known are 'a'"):
        registry.get_mcp("b")


def test_what_is_no_completion_is_refused(facade: MCPFacade):
    things: list[Any] = ["text", {}, {"choices": []}]
    for thing in things:
        with pytest.raises(ConfigurationError, match="is no chat completion"):
            facade.process_completion_response(thing)


def test_a_model_that_gives_no_identifiers_gets_some(facade: MCPFacade):
    bare = {"role": "assistant", "tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 1}}]}
    assistant, answer = facade.process_completion_response(bare)
    assert answer["content"] == "2"
    assert answer["tool_call_id"] == assistant["tool_calls"][0]["id"] != ""
    assert assistant["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a": 1, "b": 1}'}


def test_policies_over_all_tools_of_a_facade_last_as_long_as_its_sessions(providers: dict[str, Server]):
    policy = ApprovalPolicy(rules={"add": "deny", "*": "allow"})
    config = ToolConfig(tool_alias="a", providers=["toolbox", "lines"], allow_tools=["add", "greet", "echo"])
    with MCPRegistry(providers, [config], wrap=lambda tools: tools.governed_by(policy).budgeted(2)) as registry:
        facade = registry.get_mcp("a")
        assert [one["function"]["name"] for one in facade.get_tool_schemas()] == ["greet", "echo"]
        replies = [asking(("add", {"a": 1, "b": 2}), ("greet", {"name": "Ada"})), asking(("echo", {"x": 1}))]
        said = [message["content"] for reply in replies for message in facade.process_completion_response(reply)[1:]]
        assert "there is no tool 'add'" in said[0]
        assert said[1:] == ["Hello, Ada.", '{"x": 1}']
        facade.get_tool_schemas()
        assert "2" in facade.process_completion_response(asking(("echo", {"x": 2})))[1]["content"]
        assert '{"x": 2}' not in facade.process_completion_response(asking(("echo", {"x": 2})))[1]["content"]


def test_long_results_of_a_facade_are_read_on_in(tmp_path: Path):
    async def long(params: JSON) -> JSON:
        return text_result("x" * 900 + "end")

    def wrap(tools: Toolset) -> Toolset:
        return tools.shelved(ResultFiles(tmp_path), 500)

    config = ToolConfig(tool_alias="a", providers=["one"])
    with (
        serving(LegacyServer(on_call=long)) as server,
        MCPRegistry({"one": URLServer(server.url)}, [config], wrap=wrap) as registry,
    ):
        facade = registry.get_mcp("a")
        beginning = facade.process_completion_response(asking(("echo", {"text": "a"})))[1]["content"]
        handle = beginning.rpartition("handle '")[2].partition("'")[0]
        rest = facade.process_completion_response(asking(("read_more", {"handle": handle, "offset": 500})))
        assert rest[1]["content"].startswith("x" * 400 + "end")
