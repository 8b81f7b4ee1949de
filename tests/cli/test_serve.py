"""`knime-mcp serve`: a table with tools of a server and workflows, for real clients over both transports."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent

from knime.types.tool import Tool
from knime_ext.cli.serving import ServeOptions, config_text, run_server
from knime_ext.cli.tool_file import read_tools, write_tools
from knime_ext.errors import ConfigurationError, KnimeExtError
from knime_ext.mcp import (
    MCPClient,
    MCPToolCaller,
    StdioProvider,
    StdioServer,
    URLServer,
    save_provider,
    tools_from_listing,
)
from knime_ext.runtime import FileStore, NodeRegistry, workflow_to_tool
from tests.cli.process import COMMAND, ROOT

TOOLBOX = ROOT / "tests" / "servers" / "mcpserver.py"
EXAMPLE = ROOT / "examples" / "orders-agent"
SECRET = "s3cr3t-of-the-toolbox"


@dataclass(frozen=True)
class Kitchen:
    """What an operator has: a home with a registered server, and a table of tools."""

    home: Path
    tools: Path

    @property
    def env(self) -> dict[str, str]:
        return {"KNIME_MCP_HOME": str(self.home), "PYTHONPATH": str(ROOT)}

    def command(self, *words: str) -> list[str]:
        orders = f"orders={EXAMPLE / 'orders.csv'}"
        return [*COMMAND, "serve", str(self.tools), "--data", orders, "--rows", "2", *words]

    @contextmanager
    def http(self, *words: str, **env: str) -> Generator[tuple[str, subprocess.Popen[str]]]:
        """The URL of the served table, and its process."""
        process = subprocess.Popen(
            self.command("--http", "0", *words),
            env={**os.environ, **self.env, **env},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert " at http://127.0.0.1:" in line, line
            yield line.split()[-1], process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(20)
            process.stdout.close()


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Kitchen:
    home = tmp_path_factory.mktemp("home")
    command = (sys.executable, str(TOOLBOX), "stdio")
    env = {"TOOLBOX_KEY": SECRET}
    save_provider(
        StdioProvider.model_validate({"name": "toolbox", "command": command[0], "args": command[1:], "env": env}),
        home / "providers.yaml",
    )
    with MCPToolCaller(providers={}) as caller:
        [listing] = caller.list_tools([StdioServer("toolbox", command[0], command[1:])])
    workflow = workflow_to_tool(
        EXAMPLE / "tools" / "customer_revenue.json",
        registry=NodeRegistry.load(),
        filestore=FileStore(folder=home / "filestore"),
    )
    tools: list[Tool] = [*tools_from_listing(listing, provider="toolbox"), workflow]
    write_tools(tools, home / "tools.arrow")
    return Kitchen(home, home / "tools.arrow")


@pytest.fixture(scope="module")
def url(kitchen: Kitchen) -> Generator[str]:
    with kitchen.http("--exclude", "die", "--exclude", "flood") as (url, _):
        yield url


def _data(client: MCPClient, tool: str, arguments: dict[str, Any]) -> Any:
    """The structured result of a call that succeeds."""
    return client.call_tool(tool, arguments).raise_for_failure().data


def _text(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def test_one_server_offers_workflows_and_tools_of_servers(url: str, kitchen: Kitchen) -> None:
    """All rows but the excluded ones, under the names and with the schemas that the rows have."""
    rows = {tool.name: tool for tool in read_tools(kitchen.tools).tools if tool is not None}
    with MCPClient(url) as client:
        served = {tool.title or tool.name: tool for tool in client.list_tools()}
        assert served.keys() == rows.keys() - {"die", "flood"}
        assert served["Add two numbers"].name == "Add_two_numbers"
        assert served["same"].schema == rows["same"].parameter_schema
        assert _data(client, "Add_two_numbers", {"a": 2, "b": 3}) == {"result": 5}
        with pytest.raises(KnimeExtError, match="tool 'die'"):
            client.call_tool("die", {})


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdks_client_gets_media_failures_and_structured_results(url: str, mode: str) -> None:
    async def scenario() -> None:
        async with asyncio.timeout(30), Client(streamable_http_client(url), mode=mode) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} >= {"picture", "customer_revenue"}
            picture = (await client.call_tool("picture", {})).content[0]
            assert (picture.type, getattr(picture, "data", "")) == ("image", "iVBORw0KGgo=")
            failed = await client.call_tool("fail", {"reason": "no paper"})
            assert failed.is_error and "Error executing tool fail" in _text(failed)
            wrong = await client.call_tool("greet", {"title": "Ana"})
            assert wrong.is_error and "'name'" in _text(wrong)
            assert (await client.call_tool("mirror", {"point": {"x": 1, "y": -2}})).structured_content == {
                "x": -1,
                "y": 2,
            }

    asyncio.run(scenario())


def test_progress_of_the_tool_reaches_the_client(url: str) -> None:
    async def scenario() -> list[float]:
        seen: list[float] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            seen.append(progress)

        async with asyncio.timeout(30), Client(streamable_http_client(url)) as client:
            await client.call_tool("count_to", {"number": 5}, progress_callback=note)
        return seen

    assert asyncio.run(scenario()) == [0, 1, 2, 3, 4]


def test_workflows_take_named_tables_rows_and_results_of_each_other(url: str) -> None:
    row = {"customer": "Ana", "product": "Mill", "quantity": 2, "unit_price": 1.5, "country": "Chile"}
    with MCPClient(url) as client:
        named = _data(client, "customer_revenue", {"data_inputs": {"orders": "orders"}})
        assert named["message"].startswith("Northwind Traders has the highest revenue: 18342.50 USD")
        [table] = named["tables"]
        assert (table["name"], table["row_count"], len(table["rows"])) == ("ranking", 8, 2)
        assert table["rows"][0] == {"customer": "Northwind Traders", "orders": 6, "revenue_usd": 18342.5}
        sent = _data(client, "customer_revenue", {"data_inputs": {"orders": [row, row]}})
        assert sent["message"] == "Ana has the highest revenue: 6.00 USD (1 customers ranked)"
        # The ranking is no table of orders: that the workflow fails over it shows that it has got it.
        handed_on = client.call_tool("customer_revenue", {"data_inputs": {"orders": table["handle"]}})
        assert not handed_on.success and "quantity" in handed_on.text
        unknown = client.call_tool("customer_revenue", {"data_inputs": {"orders": "table-0"}})
        assert not unknown.success and "'orders'" in unknown.text and table["handle"] not in unknown.text


def test_a_client_that_gives_up_stops_the_call_on_the_inner_server(url: str) -> None:
    async def scenario() -> None:
        async with asyncio.timeout(30), Client(streamable_http_client(url)) as client:
            call = asyncio.create_task(client.call_tool("wait", {"name": "impatient"}))
            seen = False
            while not seen:
                # The answer of a later call shows that the earlier one is on its way.
                await client.call_tool("same", {"value": 1})
                call.cancel()
                seen = (await client.call_tool("cancellations", {})).structured_content == {"result": ["impatient"]}

    asyncio.run(scenario())


def test_many_calls_at_once_get_their_own_answers(url: str) -> None:
    async def scenario() -> list[Any]:
        async with asyncio.timeout(60), Client(streamable_http_client(url)) as client:
            calls = [client.call_tool("Add_two_numbers", {"a": number, "b": 1}) for number in range(60)]
            calls += [client.call_tool("customer_revenue", {"data_inputs": {"orders": "orders"}}) for _ in range(4)]
            return await asyncio.gather(*calls)

    results = asyncio.run(scenario())
    assert [result.structured_content["result"] for result in results[:60]] == list(range(1, 61))
    handles = {result.structured_content["tables"][0]["handle"] for result in results[60:]}
    assert len(handles) == 4


def test_a_served_table_can_be_listed_and_served_again(url: str, kitchen: Kitchen, tmp_path: Path) -> None:
    """serve, then a table of its tools, then serve over stdio with a search in their place, then our client."""
    again = tmp_path / "again.arrow"
    with MCPToolCaller(providers={}) as caller:
        [listing] = caller.list_tools([URLServer(url)])
    write_tools(tools_from_listing(listing), again)
    env = {**kitchen.env, "KNIME_MCP_ALLOW": "127.0.0.1"}
    words = ("serve", str(again), "--prefix", "x", "--exclude", "greet", "--search-above", "300")
    with MCPClient(StdioServer("again", COMMAND[0], (*COMMAND[1:], *words), env=env)) as client:
        assert [tool.name for tool in client.list_tools()] == ["search_tools", "call_tool"]
        found = _data(client, "search_tools", {"query": "add numbers", "limit": 1})["tools"]
        assert [tool["name"] for tool in found] == ["x_Add_two_numbers"]
        assert found[0]["parameters"]["required"] == ["a", "b"]
        call = {"name": "x_Add_two_numbers", "arguments": {"a": 1, "b": 1}}
        assert _data(client, "call_tool", call) == {"result": 2}
        assert not client.call_tool("call_tool", {**call, "arguments": {"a": 1}}).success
        assert "greet" not in client.call_tool("search_tools", {"query": "greet somebody"}).text
        answer = _data(client, "x_customer_revenue", {"data_inputs": {"orders": "orders"}})
        assert answer["tables"][0]["rows"][0]["customer"] == "Northwind Traders"


def _inner_pid(url: str, token: str | None = None) -> int:
    with MCPClient(url, token=token) as client:
        environment = _data(client, "environment", {})
        assert SECRET not in json.dumps(environment)
        return int(environment["pid"])


def _gone(pid: int, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)  # a process of somebody else: there is nothing to wait on
    return False


def test_sigterm_ends_server_and_children_and_the_token_is_asked_for(kitchen: Kitchen) -> None:
    with kitchen.http("--token-env", "SHOP_TOKEN", SHOP_TOKEN="open-sesame") as (url, process):
        with MCPClient(url) as stranger, pytest.raises(KnimeExtError):
            stranger.list_tools()
        child = _inner_pid(url, token="open-sesame")
        process.send_signal(signal.SIGTERM)
        assert process.wait(15) == 143
        assert _gone(child)


def test_kill_leaves_no_child_behind(kitchen: Kitchen) -> None:
    with kitchen.http() as (url, process):
        child = _inner_pid(url)
        process.kill()
        process.wait(10)
        assert _gone(child)


def test_stdio_says_nothing_but_protocol_and_ends_when_told(kitchen: Kitchen) -> None:
    """Also while the client keeps the pipe open, says nothing and reads nothing."""
    process = subprocess.Popen(
        kitchen.command("--include", "customer*", "--stdio"),
        env={**os.environ, **kitchen.env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    try:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        assert answer["result"]["serverInfo"]["name"] == "tools"
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 130
        assert process.stdout.read() == ""
        assert process.stderr.read().startswith("Serving 1 tool over standard input and output.\n")
    finally:
        process.kill()
        process.wait(10)
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()


def test_the_printed_configuration_starts_the_same_server_from_anywhere(
    kitchen: Kitchen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIME_MCP_HOME", str(kitchen.home))
    monkeypatch.setenv("SHOP_TOKEN", "open-sesame")
    options = ServeOptions(files=(kitchen.tools,), name="orders", include=("customer*",), prefix="shop")
    printed = config_text(options)
    assert "open-sesame" not in printed
    entry = json.loads(printed)["mcpServers"]["orders"]
    server = StdioServer("orders", entry["command"], entry["args"], env=entry["env"], cwd=tmp_path)
    with MCPClient(server) as client:
        assert [tool.name for tool in client.list_tools()] == ["shop_customer_revenue"]


def test_the_configuration_of_an_http_server_names_the_token_and_never_holds_it(
    kitchen: Kitchen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "open-sesame")
    options = ServeOptions(files=(kitchen.tools,), name="shop", port=8080, token_variable="SHOP_TOKEN")
    assert json.loads(config_text(options))["mcpServers"]["shop"] == {
        "type": "http",
        "url": "http://127.0.0.1:8080/mcp",
        "headers": {"Authorization": "Bearer ${SHOP_TOKEN}"},
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"port": 0, "host": "0.0.0.0"}, "--token-env"),
        ({"port": 0, "token_variable": "NO_SUCH_VARIABLE"}, "'NO_SUCH_VARIABLE' is not set"),
        ({"port": 0, "stdio": True}, "give one of the two"),
        ({"token_variable": "PATH"}, "--http PORT"),
        ({"include": ("nothing*",)}, "no tool is left"),
        ({"read_only": True, "exclude": ("Add*",)}, "no tool is left"),
        ({"prefix": "a b"}, "'a b'"),
        ({"data": ("orders",)}, "--data NAME=FILE"),
        ({"column": "Nothing"}, "no column of tools 'Nothing'"),
    ],
)
def test_what_cannot_be_served_is_said_before_anything_starts(
    given: dict[str, Any], said: str, kitchen: Kitchen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIME_MCP_HOME", str(kitchen.home))
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        run_server(ServeOptions(files=(kitchen.tools,), name="tools", **given))
