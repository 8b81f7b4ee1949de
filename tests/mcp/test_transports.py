"""A server made with the SDK's `MCPServer`, in a subprocess, over each transport and in both eras."""

import asyncio
import json
import sys
from collections.abc import Iterator

import pytest

from knime_ext.errors import MCPTimeout
from knime_ext.mcp import MCPToolset, SessionPool, SSEServer, StdioServer, StreamableHTTPServer
from knime_ext.mcp.servers import Server
from tests.mcp.bench import called, listed, run
from tests.servers.process import HERE, mcpserver


@pytest.fixture(scope="module", params=["sse", "streamable-http", "stdio"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    if request.param == "stdio":
        yield StdioServer("toolbox", sys.executable, (str(HERE / "mcpserver.py"), "stdio"))
        return
    with mcpserver(request.param) as url:
        yield SSEServer(url) if request.param == "sse" else StreamableHTTPServer(url)


def test_the_tools_are_listed_over_todays_protocol(server: Server):
    listing = listed(server)
    assert (listing.error, listing.problems, listing.era) == (None, (), "2026-07-28")
    assert listing.server_info is not None
    assert (listing.server_info.name, listing.server_info.version) == ("toolbox", "1.2.3")
    add = listing.definitions[0]
    assert (add.name, add.display_name, add.description) == ("add", "Add two numbers", "Adds two whole numbers.")
    assert add.annotations == {"readOnlyHint": True}
    assert add.parameters["required"] == ["a", "b"]
    assert add.origin == server.uri


def test_an_argument_that_also_travels_as_a_header_works_without_listing_the_tools_first(server: Server):
    assert called(server, "regional", {"region": "Zürich"}).text == "served in Zürich"


def test_nested_arguments_and_structured_results_go_through(server: Server):
    result = called(server, "mirror", {"point": {"x": 1, "y": -2}})
    assert result.structured == {"x": -1, "y": 2}
    assert json.loads(result.text) == {"x": -1, "y": 2}


def test_arguments_arrive_as_they_were_sent_nulls_included(server: Server):
    value = {"empty": None, "list": [1, 2.5, True, {"deep": None}], "text": "ä"}
    assert json.loads(called(server, "same", {"value": value}).text) == value


def test_a_tool_that_reports_progress_answers_in_the_end(server: Server):
    assert called(server, "count_to", {"number": 5}).text == "counted to 5"


def test_an_answer_of_several_megabytes_comes_through(server: Server):
    assert len(called(server, "flood", {"size": 3_000_000}).text) == 3_000_000


def test_twenty_calls_at_the_same_time_each_get_their_own_answer(server: Server):
    async def scenario() -> list[str]:
        async with SessionPool() as pool:
            tools = MCPToolset(server, pool)
            results = await asyncio.gather(*(tools.call("greet", {"name": str(number)}) for number in range(20)))
            return [result.text for result in results]

    assert run(scenario()) == [f"Hello, {number}." for number in range(20)]


def test_cancelling_a_call_reaches_the_server(server: Server):
    async def scenario() -> None:
        async with SessionPool() as pool:
            tools = MCPToolset(server, pool)
            await tools.call("add", {"a": 1, "b": 1})
            call = asyncio.create_task(tools.call("wait", {"name": "cancelled by the caller"}))
            await tools.call("add", {"a": 1, "b": 1})
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await _recorded(tools, "cancelled by the caller")

    run(scenario())


def test_a_call_that_takes_too_long_is_cancelled_on_the_server(server: Server):
    async def scenario() -> None:
        async with SessionPool() as pool:
            session = pool.session(server)
            await session.connect()
            with pytest.raises(MCPTimeout, match=r"did not answer the call of tool 'wait' within 0.2 s"):
                await session.call_tool("wait", {"name": "cancelled by time"}, timeout=0.2)
            await _recorded(MCPToolset(server, pool), "cancelled by time")

    run(scenario())


async def _recorded(tools: MCPToolset, name: str) -> None:
    """Waits until the server says that the call was cancelled."""
    async with asyncio.timeout(5):
        while name not in (await tools.call("cancellations", {})).text:
            await asyncio.sleep(0)


def test_equal_tool_names_of_two_servers_are_kept_apart():
    with mcpserver("sse") as first, mcpserver("streamable-http") as second:

        async def scenario() -> set[int]:
            async with SessionPool() as pool:
                answers = [
                    await MCPToolset(server, pool).call("environment", {})
                    for server in (SSEServer(first), StreamableHTTPServer(second), SSEServer(first))
                ]
            pids = [json.loads(answer.text)["pid"] for answer in answers]
            assert pids[0] == pids[2]
            return set(pids)

        assert len(run(scenario())) == 2
