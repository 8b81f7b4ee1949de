"""A tool that its server describes in another way than when it was listed is not called unseen."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from knime.types.tool import MCPTool
from knime_ext.errors import MCPToolChanged, MCPToolNotFoundError
from knime_ext.mcp import MCPToolCaller, MCPToolset, SessionPool, StreamableHTTPServer, tools_from_listing
from knime_ext.mcp.drift import FieldChange, changes_since
from knime_ext.mcp.pages import definition_from_wire
from tests.mcp.bench import listed, run
from tests.servers.legacy import ECHO, JSON, LegacyServer, serving

CHANGES: list[tuple[JSON, str]] = [
    ({"description": "Sends the text to somebody else."}, "description"),
    ({"inputSchema": {**ECHO["inputSchema"], "required": []}}, "inputSchema.required"),
    ({"outputSchema": {"type": "object"}}, "outputSchema"),
    ({"annotations": {"readOnlyHint": True}}, "annotations.readOnlyHint"),
]


@pytest.fixture
def server() -> Iterator[LegacyServer]:
    with serving(LegacyServer()) as one:
        yield one


def row(server: LegacyServer) -> MCPTool:
    [tool] = tools_from_listing(listed(StreamableHTTPServer(server.url)))
    return tool


@pytest.mark.parametrize(("change", "field"), CHANGES)
def test_a_changed_tool_is_not_called_and_the_error_names_the_field(server: LegacyServer, change: JSON, field: str):
    tool = row(server)
    server.tools = [ECHO | change]
    with MCPToolCaller() as caller, pytest.raises(MCPToolChanged, match=rf"has changed since it was listed \({field}"):
        caller.call(tool, {"text": "x"})
    assert server.calls() == 0


def test_a_tool_that_is_gone_is_not_called(server: LegacyServer):
    tool = row(server)
    server.tools = [ECHO | {"name": "other"}]
    with MCPToolCaller() as caller, pytest.raises(MCPToolNotFoundError, match="no tool 'echo' any more"):
        caller.call(tool, {"text": "x"})


def test_an_unchanged_tool_is_compared_once_per_run_also_by_callers_at_the_same_time(server: LegacyServer):
    tool = row(server)
    server.seen.clear()

    async def scenario(caller: MCPToolCaller) -> list[str]:
        results = await asyncio.gather(*(caller.acall(tool, {"text": str(n)}) for n in range(8)))
        return [result.text for result in results]

    with MCPToolCaller() as caller:
        assert run(scenario(caller)) == [str(n) for n in range(8)]
        caller.text(tool, {"text": "again"})
    assert server.seen.count("tools/list") == 1


def test_a_shown_name_of_ones_own_is_no_change_and_rows_without_a_fingerprint_are_not_compared(server: LegacyServer):
    tool = row(server)
    tool.name = "crm_echo"
    bare = MCPTool(name="echo", description="", parameter_schema={}, server_uri=server.url)
    with MCPToolCaller() as caller:
        assert caller.text(tool, {"text": "x"}) == "x"
        server.seen.clear()
        assert caller.text(bare, {"text": "y"}) == "y"
    assert "tools/list" not in server.seen


def test_the_differences_are_told_field_by_field():
    before = MCPTool("echo", ECHO["description"], ECHO["inputSchema"], "http://x", annotations={"readOnlyHint": True})
    now = {**ECHO, "inputSchema": {"type": "object", "properties": {"text": {"type": "integer"}, "to": {}}}}
    changes = changes_since(before, definition_from_wire(now, "http://x"))
    assert changes == [
        FieldChange(field="inputSchema.properties.text.type", before="string", after="integer"),
        FieldChange(field="inputSchema.properties.to", before="(absent)", after={}),
        FieldChange(field="inputSchema.required", before=["text"], after="(absent)"),
        FieldChange(field="annotations.readOnlyHint", before=True, after="(absent)"),
    ]


def modern(listings: list[JSON], hints: JSON) -> LegacyServer:
    """A server of today's era that says for how long its list may be kept."""

    async def answer(request: Request, message: JSON) -> Response:
        result: JSON = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
        if message["method"] == "server/discover":
            result |= {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        else:
            listings.append(message)
            result |= {"tools": [ECHO]} | hints
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    return LegacyServer(intercept=answer)


@pytest.mark.parametrize(
    ("hints", "requests"), [({"ttlMs": 60_000}, 1), ({"ttlMs": 0}, 3), ({"ttlMs": 60_000, "cacheScope": "private"}, 1)]
)
def test_a_list_is_kept_for_as_long_as_the_server_allows(hints: JSON, requests: int):
    listings: list[JSON] = []
    with serving(modern(listings, hints)) as server:

        async def scenario() -> list[Any]:
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url), pool)
                return [[tool.name for tool in (await tools.list()).definitions] for _ in range(3)]

        assert run(scenario()) == [["echo"]] * 3
    assert len(listings) == requests


def test_a_kept_list_never_reaches_another_principal():
    listings: list[JSON] = []
    with serving(modern(listings, {"ttlMs": 60_000, "cacheScope": "private"})) as server:

        async def scenario() -> None:
            async with SessionPool() as pool:
                for user in ("ann", "bob", "ann"):
                    await MCPToolset(StreamableHTTPServer(server.url, headers={"X-User": user}), pool).list()

        run(scenario())
    assert len(listings) == 2


def test_lists_that_are_asked_for_at_the_same_time_make_one_request(server: LegacyServer):
    async def scenario() -> list[int]:
        async with SessionPool() as pool:
            tools = MCPToolset(StreamableHTTPServer(server.url), pool)
            return [len(listing.definitions) for listing in await asyncio.gather(*(tools.list() for _ in range(10)))]

    assert run(scenario()) == [1] * 10
    assert server.seen.count("tools/list") == 1
