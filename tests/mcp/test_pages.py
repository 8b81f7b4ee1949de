"""Pages are gathered into one list with unique names, within limits."""

from typing import Any

import pytest

from knime_ext.errors import MCPError
from knime_ext.mcp import Limits, ToolProblem
from knime_ext.mcp.pages import ToolPages


def page(*names: str, cursor: str | None = None) -> dict[str, Any]:
    return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names], "nextCursor": cursor}


def test_pages_follow_each_other_and_names_stay_unique():
    pages = ToolPages("https://example.com", Limits())
    assert pages.add(page("a", "b", cursor="2"), [ToolProblem(name="c", reason="?")], ["a", "b"]) == "2"
    assert pages.add(page("b", "d"), [], ["b", "d"]) is None
    assert [tool.name for tool in pages.definitions] == ["a", "b", "d"]
    assert pages.problems == [
        ToolProblem(name="c", reason="?"),
        ToolProblem(name="b", reason="is listed more than once; only the first one is used"),
    ]


def test_a_tool_that_the_sdk_drops_is_a_problem():
    pages = ToolPages("https://example.com", Limits())
    pages.add(page("a", "b"), [], ["a"])
    assert pages.problems == [ToolProblem(name="b", reason="its 'x-mcp-header' annotations are invalid")]


def test_an_empty_page_mark_is_a_page_mark_like_any_other():
    pages = ToolPages("https://example.com", Limits())
    assert pages.add(page(cursor=""), [], []) == ""
    with pytest.raises(MCPError, match="goes round in circles"):
        pages.add(page(cursor=""), [], [])
