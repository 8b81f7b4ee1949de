"""The client lists and calls the tools of one server, from sync and async code, and opens itself."""

import asyncio
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from pathlib import Path

import psutil
import pytest

from knime_ext.errors import (
    ConfigurationError,
    MCPAuthError,
    MCPConnectionError,
    MCPTimeout,
    MCPToolExecutionError,
    MCPToolNotFoundError,
)
from knime_ext.mcp import (
    MCPClient,
    OpenMetadataTool,
    ResultFiles,
    StdioServer,
    StreamableHTTPServer,
    ToolParameter,
)
from knime_ext.tools import ApprovalPolicy
from tests.servers.legacy import LegacyServer, serving
from tests.servers.openmetadata import TOOLS, OpenMetadataServer
from tests.servers.process import HERE, free_port

LINES = StdioServer("lines", sys.executable, (str(HERE / "lines.py"),))


def test_tools_are_listed_with_their_parameters(catalog: OpenMetadataServer):
    with MCPClient(catalog.url, token=catalog.token) as client:
        tools = client.list_tools()
    assert [tool.name for tool in tools] == list(OpenMetadataTool)
    assert tools[0].parameters == [
        ToolParameter(name="query", type="string", description="Words to look for.", required=True),
        ToolParameter(name="entityType", type="string", description="Kind of asset.", required=False),
        ToolParameter(name="limit", type="integer", description="How many results, 10 if not given.", required=False),
    ]
    assert tools[0].schema == TOOLS[0]["inputSchema"]
    assert tools[0].server == catalog.url


class Wanted(Enum):
    DETAILS = "get_entity_details"
    LINEAGE = "get_entity_lineage"


@pytest.mark.parametrize(
    ("include", "exclude", "names"),
    [
        (["search_*"], ["*_delete"], ["search_metadata"]),
        (None, ["create_*", "patch_entity"], ["search_metadata", "get_entity_details", "get_entity_lineage"]),
        ([OpenMetadataTool.PATCH_ENTITY], None, ["patch_entity"]),
        (Wanted, [Wanted.LINEAGE], ["get_entity_details"]),
        ("get_*", None, ["get_entity_details", "get_entity_lineage"]),
        ([], None, []),
        (["SEARCH_METADATA", "nothing"], None, []),
    ],
)
def test_include_and_exclude_take_names_globs_and_enum_members(
    catalog: OpenMetadataServer, include: list[str] | None, exclude: list[str] | None, names: list[str]
):
    with MCPClient(catalog.url, token=catalog.token) as client:
        assert [tool.name for tool in client.list_tools(include, exclude)] == names


def test_a_result_gives_data_text_and_every_block(catalog: OpenMetadataServer):
    with MCPClient(catalog.url, token=catalog.token) as client:
        result = client.call_tool("search_metadata", {"query": "customers", "limit": 1})
    assert (result.success, result.error, result.structured) == (True, None, None)
    assert isinstance(result.data, dict)
    assert result.data["totalFound"] == 1
    assert result.content == [{"type": "text", "text": result.text}]


def test_a_structured_result_is_the_data(toolbox: str):
    with MCPClient(toolbox) as client:
        result = client.call_tool("mirror", {"point": {"x": 1, "y": 2}})
    assert result.data == result.structured == {"x": -1, "y": -2}


def test_a_failure_of_the_tool_is_a_result_that_can_be_made_an_error(catalog: OpenMetadataServer):
    with MCPClient(catalog.url, token=catalog.token) as client:
        result = client.call_tool(OpenMetadataTool.CREATE_GLOSSARY, {"name": "a", "description": "b"})
        assert (result.success, result.data) == (False, None)
        assert result.error == "A glossary of that name exists already"
        with pytest.raises(MCPToolExecutionError, match="exists already") as caught:
            result.raise_for_failure()
        assert (caught.value.tool, caught.value.message) == ("create_glossary", result.error)
        good = client.call_tool("get_entity_lineage", {"entityType": "table", "fqn": "a"})
        assert good.raise_for_failure() is good


@pytest.mark.parametrize("arguments", [{}, None])
def test_an_unknown_tool_is_an_error_that_names_the_nearest(
    catalog: OpenMetadataServer, toolbox: str, arguments: dict[str, str] | None
):
    with MCPClient(catalog.url, token=catalog.token) as client:
        with pytest.raises(MCPToolNotFoundError, match="'serch_metadata'. Did you mean 'search_metadata'"):
            client.call_tool("serch_metadata", arguments)
    with MCPClient(toolbox) as client, pytest.raises(MCPToolNotFoundError, match="'gret'. Did you mean 'greet'"):
        client.call_tool("gret", arguments)


def test_a_tool_that_exists_may_fail_with_words_about_something_unknown(toolbox: str):
    with MCPClient(toolbox) as client:
        assert client.call_tool("fail", {"reason": "unknown customer"}).success is False


def test_everything_is_also_async(catalog: OpenMetadataServer):
    async def scenario() -> None:
        async with MCPClient(catalog.url, token=catalog.token) as client:
            assert [tool.name for tool in await client.alist_tools("search_*")] == ["search_metadata"]
            calls = [client.acall_tool("search_metadata", {"query": word}) for word in ("orders", "carriers")]
            assert [result.success for result in await asyncio.gather(*calls)] == [True, True]
            assert [tool["function"]["name"] for tool in await client.aas_openai_tools("get_*")] == list(
                map(str, [OpenMetadataTool.GET_ENTITY_DETAILS, OpenMetadataTool.GET_ENTITY_LINEAGE])
            )
            (tool,) = await client.aas_langchain_tools("get_entity_lineage")
            assert "nodes" in await tool.ainvoke({"entityType": "table", "fqn": "a"})
            execute = client.create_async_tool_executor()
            assert (await execute("search_metadata", '{"query": "x"}'))["totalFound"] == 0
            assert client.is_client_initialized
        assert not client.is_client_initialized

    asyncio.run(scenario())


def test_one_client_serves_sync_and_async_code_in_many_threads_over_one_session():
    async def both(client: MCPClient, number: int) -> tuple[str | None, str | None]:
        first = await client.acall_tool("echo", {"text": f"a{number}"})
        return first.text, client.call_tool("echo", {"text": f"s{number}"}).text

    with serving(LegacyServer()) as server, MCPClient(server.url) as client, ThreadPoolExecutor(8) as threads:
        done = [threads.submit(asyncio.run, both(client, number)) for number in range(20)]
        assert [one.result(30) for one in done] == [(f"a{n}", f"s{n}") for n in range(20)]
        assert server.handshakes == 1


def test_the_session_can_be_read_and_a_closed_client_opens_a_new_one():
    with serving(LegacyServer()) as server:
        client = MCPClient(server.url)
        assert (client.session_id, client.is_client_initialized) == (None, False)
        with client:
            assert not client.is_client_initialized
            client.call_tool("echo", {"text": "1"})
            first = client.session_id
            assert first in server.sessions and client.is_client_initialized
        assert (client.session_id, client.is_client_initialized) == (None, False)
        assert server.sessions == set()
        assert client.call_tool("echo", {"text": "2"}).text == "2"
        assert client.session_id not in (first, None)
        client.close()
        client.close()
        assert server.handshakes == 2


def test_a_lost_session_is_renewed_and_the_identifier_follows():
    with serving(LegacyServer()) as server, MCPClient(server.url) as client:
        client.call_tool("echo", {"text": "1"})
        first = client.session_id
        server.end_sessions()
        assert client.call_tool("echo", {"text": "2"}).text == "2"
        assert client.session_id != first
        assert client.session_id in server.sessions


def test_a_client_that_is_not_used_starts_nothing(catalog: OpenMetadataServer):
    before = threading.enumerate()
    with MCPClient(catalog.url, token=catalog.token) as client:
        assert threading.enumerate() == before
        assert repr(client).startswith("MCPClient(URLServer(") and catalog.token not in repr(client)
    assert catalog.seen == []


def test_a_program_ends_although_it_forgot_to_close_its_client(catalog: OpenMetadataServer):
    code = (
        "from knime_ext.mcp import MCPClient\n"
        f"client = MCPClient({catalog.url!r}, token={catalog.token!r})\n"
        "print(client.list_tools('s*')[0].name)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "search_metadata\n", "")


def test_a_program_that_forgot_to_close_its_client_leaves_no_child_behind():
    code = (
        "import sys, json; from knime_ext.mcp import MCPClient, StdioServer\n"
        f"client = MCPClient(StdioServer('lines', sys.executable, ({str(HERE / 'lines.py')!r},)))\n"
        "print(client.call_tool('pids').text)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert not any(psutil.pid_exists(pid) for pid in json.loads(done.stdout))


def test_a_program_as_server_is_started_and_stopped():
    with MCPClient(LINES) as client:
        assert client.call_tool("echo", {"a": 1}).data == {"a": 1}
        assert (client.provider, client.session_id) == ("lines", None)


def test_a_provider_is_named_and_brings_its_credentials(catalog: OpenMetadataServer):
    server = StreamableHTTPServer(catalog.url, headers={"Authorization": f"Bearer {catalog.token}"})
    with MCPClient("catalog", providers={"catalog": server}) as client:
        assert client.provider == "catalog"
        assert len(client.list_tools()) == len(TOOLS)
    with MCPClient("stdio:lines", providers={"lines": LINES}) as client:
        assert client.call_tool("echo").success


def test_a_token_replaces_that_of_the_provider(catalog: OpenMetadataServer):
    server = StreamableHTTPServer(catalog.url, headers={"authorization": "Bearer old", "X-Team": "data"})
    client = MCPClient("catalog", providers={"catalog": server}, token=catalog.token, headers={"X-Trace": "1"})
    assert isinstance(client.server, StreamableHTTPServer)
    assert client.server.headers == {
        "X-Team": "data",
        "X-Trace": "1",
        "Authorization": f"Bearer {catalog.token}",
    }
    with client:
        assert client.list_tools("patch_entity")


def test_what_cannot_be_a_server_is_refused_when_the_client_is_made():
    with pytest.raises(ConfigurationError, match="no provider 'catlog' is registered; did you mean 'catalog'"):
        MCPClient("catlog", providers={"catalog": LINES})
    with pytest.raises(ConfigurationError, match="neither an http:// nor an https:// URL"):
        MCPClient("ftp://example.org/mcp", providers={})
    with pytest.raises(ConfigurationError, match="takes no token and no headers"):
        MCPClient(LINES, token="abcd1234")


def test_errors_of_the_server_are_ours_and_hold_no_token(catalog: OpenMetadataServer):
    with MCPClient(catalog.url, token="wrong-token-5678") as client:
        for request in (client.list_tools, lambda: client.call_tool("search_metadata", {"query": "x"})):
            with pytest.raises(MCPAuthError) as caught:
                request()
            assert "wrong-token" not in str(caught.value)
    with MCPClient(f"http://127.0.0.1:{free_port()}/mcp") as client, pytest.raises(MCPConnectionError):
        client.list_tools()


def test_a_call_has_the_time_limit_of_the_client(toolbox: str):
    with MCPClient(toolbox, timeout=0.2) as client, pytest.raises(MCPTimeout, match="within 0.2 s"):
        client.call_tool("wait", {"name": "client"})


def test_cancelling_an_async_call_reaches_the_server(toolbox: str):
    async def scenario(client: MCPClient) -> None:
        async with asyncio.timeout(30):
            # A call that is cancelled before it has gone out has nothing to reach the server with: then once more.
            while "facade" not in (await client.acall_tool("cancellations")).text:
                call = asyncio.create_task(client.acall_tool("wait", {"name": "facade"}))
                await client.acall_tool("add", {"a": 1, "b": 1})
                call.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call

    with MCPClient(toolbox) as client:
        asyncio.run(scenario(client))


def test_policies_wrap_the_tools(toolbox: str):
    with MCPClient(
        toolbox, wrap=lambda tools: tools.filtered(lambda tool: tool.name == "add").prefixed("my")
    ) as client:
        assert [tool.name for tool in client.list_tools()] == ["my_add"]
        assert client.call_tool("my_add", {"a": 1, "b": 2}).data == {"result": 3}
        with pytest.raises(MCPToolNotFoundError):
            client.call_tool("greet", {"name": "x"})


def test_long_results_are_read_on_and_denied_tools_hidden_through_a_client(toolbox: str, tmp_path: Path):
    policy = ApprovalPolicy(rules={"flood": "allow", "die": "deny"})
    shelf = ResultFiles(tmp_path)
    with MCPClient(toolbox, wrap=lambda tools: tools.governed_by(policy).shelved(shelf, 100)) as client:
        execute = client.create_tool_executor()
        names = [tool["function"]["name"] for tool in client.as_openai_tools()]
        assert "die" not in names and names[-1] == "read_more"
        text = execute("flood", {"size": 150})["result"]
        assert text.startswith("x" * 100 + "\n\n[Characters 0 to 100 of 150.")
        (file,) = tmp_path.iterdir()
        rest = execute("read_more", {"handle": file.stem, "offset": 100})["result"]
        assert rest.startswith("x" * 50 + "\n\n[Characters 100 to 150: the end")
        assert "needs a person's approval" in execute("greet", {"name": "Ada"})["error"]
