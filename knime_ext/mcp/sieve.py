"""Separates the good tools of a page from the malformed ones. No I/O.

The SDK validates a page of `tools/list` as a whole: one malformed tool costs all of them. Here every tool is
validated alone, against the same models.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from mcp_types import Tool
from mcp_types.methods import validate_server_result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from knime_ext.mcp.listing import ToolProblem
from knime_ext.mcp.schema_shape import MAX_DEPTH, schema_fault

__all__ = ["sift_page"]

_DEFAULT_HINTS: dict[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def sift_page(page: Mapping[str, Any], version: str) -> tuple[dict[str, Any], list[ToolProblem]]:
    """The page with its good tools only, and what is wrong with the others.

    Args:
        page: Result of `tools/list` as the server sent it.
        version: Protocol revision of the session; the shape of a tool depends on it.

    Returns:
        A page that differs from the given one in `tools` only, and the problems, both in the server's order. Caching
        hints that the revision requires are added if the server forgot them. A page whose `tools` are no list comes
        back as it is.
    """
    tools = page.get("tools")
    if not isinstance(tools, list):
        return dict(page), []
    hints = _DEFAULT_HINTS if version in MODERN_PROTOCOL_VERSIONS else {}
    shell: dict[str, Any] = {**hints, **page, "tools": []}
    shell.pop("nextCursor", None)
    good: list[Any] = []
    problems: list[ToolProblem] = []
    for place, listed in enumerate(cast("list[Any]", tools), start=1):
        tool = _with_typed_schema(listed)
        reason = _fault(tool, shell, version)
        if reason is None:
            good.append(tool)
        else:
            problems.append(ToolProblem(name=_name(tool, place), reason=reason))
    return {**hints, **page, "tools": good}, problems


def _with_typed_schema(tool: Any) -> Any:
    """The tool with the root type of its arguments filled in: servers leave it out for tools without arguments."""
    if not isinstance(tool, dict):
        return tool
    fields = cast("dict[str, Any]", tool)
    schema = fields.get("inputSchema")
    if not isinstance(schema, dict) or "type" in schema:
        return fields
    return {**fields, "inputSchema": {"type": "object", **cast("dict[str, Any]", schema)}}


def _name(tool: Any, place: int) -> str:
    match tool:
        case {"name": str(name)} if name:
            return name
        case _:
            return f"#{place}"


def _fault(tool: Any, shell: Mapping[str, Any], version: str) -> str | None:
    """Why a tool cannot be used, None if it can."""
    if not isinstance(tool, dict):
        return "is not a JSON object"
    if tool.get("name") == "":  # pyright: ignore[reportUnknownMemberType]
        return "has an empty name"
    try:
        validate_server_result("tools/list", version, {**shell, "tools": [tool]})
        parsed = Tool.model_validate(tool, by_name=False)
    except ValidationError as error:
        return _first_fault(error)
    except RecursionError:
        return f"is nested more than {MAX_DEPTH} levels deep"
    fault = schema_fault(parsed.input_schema)
    return None if fault is None else f"its 'inputSchema' is not a JSON Schema: {fault}"


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = [str(part) for part in fault["loc"] if part not in ("tools", 0)]
    return f"{'.'.join(path)!r}: {fault['msg']}" if path else fault["msg"]
