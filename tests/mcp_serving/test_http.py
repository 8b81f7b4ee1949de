"""The HTTP transport of a served toolset: who gets in, and how it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from knime_ext.errors import ConfigurationError, KnimeExtError, MCPAuthError
from knime_ext.mcp import MCPToolset, SessionPool, StreamableHTTPServer
from knime_ext.mcp.serving import HTTPDoor, ToolsetServer, ask_client, serve_http
from knime_ext.testing import RecordingToolset
from knime_ext.tools import ApprovalPolicy, ToolDefinition, ToolResult, Toolset
from tests.mcp_serving.serving import served

TOKEN = "correct-horse-battery"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


async def names(url: str, headers: Mapping[str, str]) -> list[str]:
    async with SessionPool() as pool:
        tools = await MCPToolset(StreamableHTTPServer(url, headers=headers), pool).list_definitions()
        return [tool.name for tool in tools]


def test_only_the_token_opens_the_door() -> None:
    async def scenario() -> None:
        async with served(RecordingToolset(["a"]), HTTPDoor(token=TOKEN)) as url:
            assert await names(url, {"Authorization": f"Bearer {TOKEN}"}) == ["a"]
            assert await names(url, {"Authorization": f"bearer {TOKEN}"}) == ["a"]
            for wrong in ({}, {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": TOKEN}):
                with pytest.raises(MCPAuthError) as caught:
                    await names(url, wrong)
                assert TOKEN not in str(caught.value)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:80"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 400),
    ],
)
def test_a_web_page_cannot_reach_a_server_on_loopback(headers: dict[str, str], status: int) -> None:
    """Neither by a name of its own that leads to 127.0.0.1, nor from its own origin."""

    async def scenario() -> None:
        toolset = RecordingToolset(["a"])
        async with served(toolset, HTTPDoor()) as url, httpx2.AsyncClient(trust_env=False) as client:
            for version in ({}, {"MCP-Protocol-Version": "2026-07-28"}):
                answer = await client.post(url, json=PING, headers={**ACCEPT, **version, **headers})
                assert answer.status_code == status
        assert toolset.calls == []

    asyncio.run(scenario())


def test_a_proxys_name_is_believed_when_the_operator_says_so() -> None:
    async def scenario() -> None:
        door = HTTPDoor(names=("tools.example.org",))
        async with served(RecordingToolset(["a"]), door) as url, httpx2.AsyncClient(trust_env=False) as client:
            for host in ("tools.example.org", "tools.example.org:8443"):
                answer = await client.post(url, json=PING, headers={**ACCEPT, "Host": host})
                assert answer.status_code != 421

    asyncio.run(scenario())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "tools.example.org"])
def test_other_interfaces_need_a_token(host: str) -> None:
    with pytest.raises(ConfigurationError, match="--token-env"):
        HTTPDoor(host=host)
    assert TOKEN not in repr(HTTPDoor(host=host, token=TOKEN))


def test_a_taken_port_is_said_so() -> None:
    async def scenario() -> None:
        toolset = RecordingToolset(["a"])
        async with served(toolset, HTTPDoor()) as url:
            door = HTTPDoor(port=int(url.split(":")[2].split("/")[0]))
            with pytest.raises(ConfigurationError, match="choose another port"):
                await serve_http(ToolsetServer(toolset, (), name="b"), door, asyncio.Event())

    asyncio.run(scenario())


class Slow(Toolset):
    """A tool that waits until it is cancelled."""

    def __init__(self) -> None:
        self.running, self.cancelled = asyncio.Event(), asyncio.Event()

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        return [ToolDefinition(name="wait")]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        self.running.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()
        raise AssertionError


def test_stopping_the_server_cancels_running_calls_soon() -> None:
    async def scenario() -> float:
        toolset = Slow()
        async with SessionPool() as pool:
            async with served(toolset, HTTPDoor()) as url:
                calling = asyncio.create_task(MCPToolset(StreamableHTTPServer(url), pool).call("wait", {}))
                await asyncio.wait_for(toolset.running.wait(), 10)
                began = time.monotonic()
            took = time.monotonic() - began
            assert toolset.cancelled.is_set()
            with pytest.raises(KnimeExtError):
                await calling
        return took

    assert asyncio.run(scenario()) < 6


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_a_person_is_asked_over_http_too(era: str) -> None:
    async def yes(context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"approve": True})

    async def scenario() -> None:
        toolset = RecordingToolset({"wipe": "wiped"})
        governed = toolset.governed_by(ApprovalPolicy(rules={"wipe": "ask"}), ask_client)
        async with served(governed, HTTPDoor()) as url:
            http = streamable_http_client(url)
            async with asyncio.timeout(20), Client(http, mode=era, elicitation_callback=yes) as client:
                assert not (await client.call_tool("wipe", {})).is_error
        assert toolset.calls == [("wipe", {})]

    asyncio.run(scenario())
