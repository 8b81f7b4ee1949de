"""The MCP Tool Provider against real servers."""

import asyncio
import json
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import knime.extension as knext
import pytest

from knime.types.tool import MCPTool
from knime_ext.extension import MCPToolProvider
from knime_ext.mcp import MCPToolCaller, StreamableHTTPServer
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
    table, _ = provider(url).execute(ExecutionContext(host))
    return [tool for tool in tools_in(table, "Tool") if isinstance(tool, MCPTool)]


def test_one_row_per_tool_with_schema_and_address() -> None:
    with serving(LegacyServer(tools=[ECHO, {**ECHO, "name": "shout", "title": "Shout!"}])) as server:
        first, second = listed(server.url)
    assert (first.name, first.tool_name, first.description) == ("echo", "echo", "Gives the text back.")
    assert first.parameter_schema == ECHO["inputSchema"]
    assert first.server_uri == server.url
    assert (second.name, second.tool_name) == ("Shout!", "shout")


def test_the_outputs_have_exactly_the_columns_that_were_promised() -> None:
    with serving(LegacyServer()) as server:
        node = provider(server.url)
        promised = node.configure(ConfigurationContext())
        assert [table.schema for table in node.execute(ExecutionContext())] == list(promised)
    assert promised[0] == knext.Schema.from_columns([knext.Column(tool_type(), "Tool")])


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


def answers(node: Any, host: NodeHost | None = None, **embedded: Any) -> tuple[list[MCPTool], list[dict[str, Any]]]:
    context = ExecutionContext(host)
    for name, value in embedded.items():
        setattr(context, name, value)
    table, servers = node.execute(context)
    tools = [tool for tool in tools_in(table, "Tool") if isinstance(tool, MCPTool)]
    return tools, servers.to_pyarrow().drop_columns(["<RowID>"]).to_pylist()


def test_several_servers_give_one_table_of_tools_and_one_row_each_in_the_second() -> None:
    warnings: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as taken:
        dead = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
    with serving(LegacyServer()) as one, serving(LegacyServer(tools=[{**ECHO, "name": "shout"}, {"name": "?"}])) as two:
        node = provider(one.url, more_servers=[{"server": two.url}, {"server": dead}, {"server": one.url}])
        tools, servers = answers(node, NodeHost(warn=warnings.append))
    assert [(tool.name, tool.server_uri) for tool in tools] == [("echo", one.url), ("shout", two.url)]
    assert [row["Server"] for row in servers] == [one.url, two.url, dead]
    assert [row["State"] for row in servers] == ["connected", "connected", "failed"]
    assert [row["Era"] for row in servers] == ["2025-06-18", "2025-06-18", None]
    assert [row["Capabilities"] for row in servers] == ["tools", "tools", None]
    assert [row["Tools"] for row in servers] == [1, 1, 0]
    assert [row["Malformed tools"] for row in servers] == [0, 1, 0]
    assert all(row["Time (seconds)"] > 0 for row in servers)
    assert servers[0]["Error"] is None and dead in servers[2]["Error"]
    [warning] = warnings
    assert "malformed" in warning and dead in warning


def test_tools_are_filtered_by_their_names_on_the_server() -> None:
    names = ["search_docs", "search_web", "read_file", "search_delete", "Write"]
    with serving(LegacyServer(tools=[{**ECHO, "name": name} for name in names])) as server:
        node = provider(server.url, tools={"include": "search_*, Write", "exclude": "*_delete"})
        tools, [row] = answers(node)
    assert [tool.name for tool in tools] == ["search_docs", "search_web", "Write"]
    assert row["Tools"] == 3


def test_a_prefix_changes_the_shown_name_and_calls_go_out_under_the_servers() -> None:
    with serving(LegacyServer()) as server:
        [own], _ = answers(provider(server.url, tools={"prefix": "CUSTOM", "prefix_text": "crm"}))
        [host], _ = answers(provider(server.url, tools={"prefix": "SERVER"}))
        with MCPToolCaller() as caller:
            assert caller.text(own, {"text": "x"}) == "x"
    assert (own.name, own.tool_name) == ("crm_echo", "echo")
    assert host.name == "127.0.0.1_echo"


def test_a_provider_is_chosen_by_its_name_and_its_key_stays_out_of_the_rows() -> None:
    with serving(LegacyServer()) as server:
        registered = {"crm": StreamableHTTPServer(server.url, headers={"Authorization": "Bearer s3cret"})}
        [tool], [row] = answers(provider("crm", tools={"prefix": "SERVER"}), _mcp_providers=registered)
        assert {headers["authorization"] for headers in server.headers} == {"Bearer s3cret"}
        with MCPToolCaller(registered) as caller:
            assert caller.text(tool, {"text": "x"}) == "x"
    assert (tool.name, tool.server_uri, tool.provider, row["Server"]) == ("crm_echo", server.url, "crm", "crm")
    assert "s3cret" not in str((tool, row))


def test_a_provider_of_the_operators_file_is_found_and_may_be_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIME_MCP_HOME", str(tmp_path))
    server = Path(__file__).parents[1] / "servers" / "mcpserver.py"
    command = {"provider_type": "stdio", "command": sys.executable, "args": [str(server), "stdio"]}
    (tmp_path / "providers.yaml").write_text(json.dumps({"providers": {"local": command}}), "utf-8")
    tools, [row] = answers(provider("local"))
    assert {(tool.server_uri, tool.provider) for tool in tools} == {("stdio:local", "local")}
    assert row["State"] == "connected"
    with MCPToolCaller() as caller:
        add = next(tool for tool in tools if tool.tool_name == "add")
        assert "3" in caller.text(add, {"a": 1, "b": 2})


def test_an_unknown_provider_is_one_clear_sentence() -> None:
    with pytest.raises(knext.InvalidParametersError, match="no provider 'crn' is registered; did you mean 'crm'"):
        answers(provider("crn"), _mcp_providers={"crm": StreamableHTTPServer("http://localhost:1/mcp")})


def test_pinned_tools_are_held_at_what_they_are() -> None:
    with serving(LegacyServer(tools=[ECHO, {**ECHO, "name": "shout"}])) as server:
        _, [row] = answers(provider(server.url))
        pin = row["Pin"].splitlines()[0]
        [tool], _ = answers(provider(server.url, tools={"pins": pin}))
        assert tool.name == "echo"
        server.tools[0] = {**ECHO, "description": "Sends the text to somebody else."}
        with pytest.raises(knext.InvalidParametersError, match="tool 'echo' of .* has changed"):
            answers(provider(server.url, tools={"pins": pin}))
        warnings: list[str] = []
        warned = provider(server.url, tools={"pins": pin, "changed_pins": "WARN"})
        [tool], _ = answers(warned, NodeHost(warn=warnings.append))
        assert "tool 'echo' of" in warnings[0]
        accepting = provider(server.url, tools={"pins": pin, "changed_pins": "ACCEPT"})
        assert len(answers(accepting, NodeHost(warn=warnings.append))[0]) == 1
        assert len(warnings) == 1
        del server.tools[0]
        with pytest.raises(knext.InvalidParametersError, match="tool 'echo' is gone"):
            answers(provider(server.url, tools={"pins": pin}))


def test_text_that_is_no_pin_is_refused_before_any_server_is_asked() -> None:
    node = provider("http://localhost:1/mcp", tools={"pins": "echo"})
    with pytest.raises(knext.InvalidParametersError, match="line 1 of the pinned tools is no pin: 'echo'"):
        node.configure(ConfigurationContext())
