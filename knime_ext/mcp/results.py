"""From the answer of a server to the result of a tool. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from knime_ext.tools import ToolResult

__all__ = ["result_from_wire"]


def result_from_wire(answer: Mapping[str, Any]) -> ToolResult:
    """The result of a tool call.

    Read from the JSON as it came, not from the SDK's models: those refuse a whole result for one kind of block that
    they do not know, and drop fields that they do not know.

    Args:
        answer: `result` of the answer to `tools/call`.
    """
    content = answer.get("content")
    blocks = tuple(map(_block, cast("list[Any]", content))) if isinstance(content, list) else ()
    structured = answer.get("structuredContent")
    if content is not None and not blocks and not isinstance(content, list):
        blocks = (_block(content),)
    return ToolResult(content=blocks, structured=structured, is_error=answer.get("isError") is True)


def _block(block: Any) -> Mapping[str, Any]:
    """A content block; what is none is kept as text."""
    if isinstance(block, dict):
        return cast("dict[str, Any]", block)
    return {"type": "text", "text": block if isinstance(block, str) else repr(block)}
