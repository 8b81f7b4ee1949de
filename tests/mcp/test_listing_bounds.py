"""A list of tools is bounded in every direction; a tool that is too large is named, and the others stay."""

from typing import Any

import pytest

from knime_ext.mcp import Limits, StreamableHTTPServer
from tests.mcp.bench import listed
from tests.servers.legacy import ECHO, JSON, LegacyServer, serving


def nested(levels: int) -> JSON:
    """A schema of that many levels, itself included; odd, because every field takes two."""
    schema: JSON = {"type": "string"}
    for _ in range(levels // 2):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


def flat(size: int) -> JSON:
    """A schema of that many bytes."""
    empty = {"type": "object", "title": ""}
    return {**empty, "title": "x" * (size - len('{"type":"object","title":""}'))}


def tool(name: str, **fields: Any) -> JSON:
    return {"name": name, "inputSchema": {"type": "object"}, **fields}


LIMITS = Limits(schema_bytes=400, schema_depth=9, description_chars=100)


def test_tools_that_exceed_a_limit_are_left_out_with_its_name_and_those_at_the_limit_stay():
    tools = [
        tool("plain"),
        tool("deep", inputSchema=nested(9)),
        tool("deeper", inputSchema=nested(11)),
        tool("large", inputSchema=flat(400)),
        tool("larger", inputSchema=flat(401)),
        tool("larger result", outputSchema=flat(401)),
        tool("talkative", description="ä" * 100),
        tool("more talkative", description="ä" * 101),
        tool("long title", title="t" * 101),
        tool("n" * 200),
        tool("last"),
    ]
    with serving(LegacyServer(tools=tools)) as server:
        listing = listed(StreamableHTTPServer(server.url, limits=LIMITS))
    assert listing.error is None
    assert [definition.name for definition in listing.definitions] == ["plain", "deep", "large", "talkative", "last"]
    assert {problem.name: problem.reason for problem in listing.problems} == {
        "deeper": "is nested more than 9 levels deep; raise `schema_depth` in the server's limits",
        "larger": "its 'inputSchema' takes 401 bytes, and 400 are allowed; raise `schema_bytes` in the server's limits",
        "larger result": (
            "its 'outputSchema' takes 401 bytes, and 400 are allowed; raise `schema_bytes` in the server's limits"
        ),
        "more talkative": (
            "its 'description' has 101 characters, and 100 are allowed; raise `description_chars` in the server's "
            "limits"
        ),
        "long title": (
            "its 'title' has 101 characters, and 100 are allowed; raise `description_chars` in the server's limits"
        ),
        "n" * 128 + "…": (
            "its 'name' has 200 characters, and 100 are allowed; raise `description_chars` in the server's limits"
        ),
    }


@pytest.mark.parametrize(
    ("limits", "kept", "words"),
    [
        (Limits(tools=3), 2, "the server lists more than 3 tools; raise `tools` in its limits"),
        (
            Limits(listing_bytes=1_000),
            3,
            "the server's tools take more than 1000 bytes together; raise `listing_bytes` in its limits",
        ),
    ],
)
def test_a_list_that_is_too_large_as_a_whole_gives_what_came_before_and_says_so(limits: Limits, kept: int, words: str):
    tools = [tool("odd", inputSchema=7), *({**ECHO, "name": f"t{n}", "description": "d" * 200} for n in range(8))]
    with serving(LegacyServer(tools=tools)) as server:
        listing = listed(StreamableHTTPServer(server.url, limits=limits))
    assert listing.error == words
    assert [definition.name for definition in listing.definitions] == [f"t{n}" for n in range(kept)]
    assert [problem.name for problem in listing.problems] == ["odd"]


def test_a_tool_nested_deeper_than_anybody_can_walk_is_left_out():
    bomb = tool("bomb", annotations={"x": nested(150)})
    with serving(LegacyServer(tools=[bomb, ECHO])) as server:
        listing = listed(StreamableHTTPServer(server.url))
    assert [problem.name for problem in listing.problems] == ["bomb"]
    assert "`schema_depth`" in listing.problems[0].reason
    assert [definition.name for definition in listing.definitions] == ["echo"]
