"""A toolset that is too large to be listed offers a search instead."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from knime_ext.errors import InvalidArguments, UnknownTool
from knime_ext.testing import RecordingToolset
from knime_ext.tools import estimated_tokens

NAMES = [f"{verb}_{noun}" for verb in ("list", "create", "delete") for noun in ("orders", "invoices", "tickets")]


def _names(toolset: Any) -> list[str]:
    return [definition.name for definition in asyncio.run(toolset.list_definitions())]


def test_what_fits_is_listed_as_it_is() -> None:
    toolset = RecordingToolset(NAMES)
    tokens = sum(map(estimated_tokens, asyncio.run(toolset.list_definitions())))
    assert _names(toolset.searched(tokens)) == NAMES
    assert _names(toolset.searched(tokens - 1)) == ["search_tools", "call_tool"]


def test_tools_are_found_with_their_parameters_and_called() -> None:
    toolset = RecordingToolset(NAMES)
    searched = toolset.searched(0)
    found: Any = asyncio.run(searched.call("search_tools", {"query": "delete a ticket", "limit": 2})).structured
    assert [tool["name"] for tool in found["tools"]][0] == "delete_tickets"
    assert found["tools"][0]["parameters"] == {"type": "object", "properties": {}}
    assert asyncio.run(searched.call("call_tool", {"name": "delete_tickets", "arguments": {"id": 7}})).text == "ok"
    assert asyncio.run(searched.call("list_orders", {})).text == "ok"
    assert toolset.calls == [("delete_tickets", {"id": 7}), ("list_orders", {})]


def test_what_is_not_there_is_neither_found_nor_called() -> None:
    searched = RecordingToolset(NAMES).searched(0)
    nothing = asyncio.run(searched.call("search_tools", {"query": "zeppelin"}))
    assert "other words" in nothing.text and nothing.structured == {"tools": []}
    with pytest.raises(UnknownTool, match="'fly'"):
        asyncio.run(searched.call("call_tool", {"name": "fly"}))
    with pytest.raises(InvalidArguments, match="'query'"):
        asyncio.run(searched.call("search_tools", {}))
    with pytest.raises(InvalidArguments, match="'limit'"):
        asyncio.run(searched.call("search_tools", {"query": "orders", "limit": 1_000}))


def test_tools_that_are_called_like_the_search_stay_reachable() -> None:
    searched = RecordingToolset(["search_tools", "call_tool", *NAMES]).searched(0)
    assert _names(searched) == ["search_tools_2", "call_tool_2"]
    assert asyncio.run(searched.call("search_tools", {"query": "mine"})).text == "ok"
