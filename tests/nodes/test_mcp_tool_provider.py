"""The MCP Tool Provider against real servers."""

import asyncio
import socket
import threading
from typing import Any

import knime.extension as knext
import pytest

from knime.types.tool import MCPTool
from knime_ext.extension import MCPToolProvider
from knime_ext.nodes.cells import tools_in
from knime_ext.nodes.columns import tool_type
from knime_ext.runtime.knext.contexts import ConfigurationContext, ExecutionContext, NodeHost
from knime_ext.runtime.knext.settings import set_parameters
from tests.servers.legacy import ECHO, LegacyServer, serving


def provider(url: str, **settings: Any) -> Any:
    node = MCPToolProvider()
    set_parameters(node, {"server_url": url, **settings})
    return node


def listed(url: str, host: NodeHost | None = None) -> list[MCPTool]:
    table = provider(url).execute(ExecutionContext(host))
    return [tool for tool in tools_in(table, "Tool") if isinstance(tool, MCPTool)]


def test_one_row_per_tool_with_schema_and_address() -> None:
    with serving(LegacyServer(tools=[ECHO, {**ECHO, "name": "shout", "title": "Shout!"}])) as server:
        first, second = listed(server.url)
    assert (first.name, first.tool_name, first.description) == ("echo", "echo", "Gives the text back.")
    assert first.parameter_schema == ECHO["inputSchema"]
    assert first.server_uri == server.url
    assert (second.name, second.tool_name) == ("Shout!", "shout")


def test_the_output_has_exactly_the_column_that_was_promised() -> None:
    with serving(LegacyServer()) as server:
        node = provider(server.url)
        promised = node.configure(ConfigurationContext())
        assert node.execute(ExecutionContext()).schema == promised
    assert promised == knext.Schema.from_columns([knext.Column(tool_type(), "Tool")])


def test_the_server_is_contacted_on_execution_only() -> None:
    with serving(LegacyServer()) as server:
        node = provider(server.url)
        node.configure(ConfigurationContext())
        assert server.seen == []
        node.execute(ExecutionContext())
        assert "tools/list" in server.seen


def test_without_an_address_the_node_asks_for_one() -> None:
    with pytest.raises(knext.InvalidParametersError) as caught:
        MCPToolProvider().configure(ConfigurationContext())
    assert str(caught.value) == "The address of the MCP server is missing; enter it in the dialog."


def test_an_address_with_a_password_cannot_be_set() -> None:
    with pytest.raises(Exception, match="user name or password") as caught:
        provider("http://me:hunter2@localhost/mcp")
    assert "hunter2" not in str(caught.value)


def test_malformed_tools_are_left_out_with_one_warning() -> None:
    warnings: list[str] = []
    broken: list[Any] = [{"name": "no schema"}, {"description": "no name", "inputSchema": {"type": "object"}}]
    with serving(LegacyServer(tools=[broken[0], ECHO, broken[1]])) as server:
        [tool] = listed(server.url, NodeHost(warn=warnings.append))
    assert tool.name == "echo"
    [warning] = warnings
    assert warning.startswith("2 malformed tools are left out: 'no schema': ")


def test_a_server_without_tools_gives_an_empty_table_and_a_warning() -> None:
    warnings: list[str] = []
    with serving(LegacyServer(tools=[])) as server:
        assert listed(server.url, NodeHost(warn=warnings.append)) == []
    assert warnings == ["The server has no tools."]


def test_a_server_that_is_not_there_is_one_clear_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
    with pytest.raises(knext.InvalidParametersError) as caught:
        listed(url)
    assert url in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_stays_silent_fails_within_its_time_limit() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"
        node = provider(url, time_limits={"connect": 0.3, "listing": 0.3})
        with pytest.raises(knext.InvalidParametersError) as caught:
            node.execute(ExecutionContext())
    assert url in str(caught.value)


def test_canceling_ends_the_wait_for_a_silent_server() -> None:
    canceled = threading.Event()
    connections: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"

        def cancel_once_connected() -> None:
            connections.append(silent.accept()[0])
            canceled.set()

        watcher = threading.Thread(target=cancel_once_connected)
        watcher.start()
        node = provider(url, time_limits={"connect": 60.0, "listing": 60.0})
        with pytest.raises(knext.InvalidParametersError, match="Canceled"):
            node.execute(ExecutionContext(NodeHost(is_canceled=canceled.is_set)))
        watcher.join(10)
    for connection in connections:
        connection.close()


def test_nothing_is_left_behind() -> None:
    before = {thread.name for thread in threading.enumerate()}
    with serving(LegacyServer()) as server:
        listed(server.url)
        assert not [thread for thread in threading.enumerate() if thread.name.startswith("knime-mcp")]
        assert server.sessions == set()
    assert {thread.name for thread in threading.enumerate()} <= before


def test_the_node_works_where_an_event_loop_is_running_already() -> None:
    async def inside(url: str) -> list[MCPTool]:
        return listed(url)

    with serving(LegacyServer()) as server:
        assert [tool.name for tool in asyncio.run(inside(server.url))] == ["echo"]
