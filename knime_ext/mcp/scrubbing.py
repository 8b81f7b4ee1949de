"""Takes a server's own secrets out of what it sends back: results become rows, traces and prompts. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from knime_ext.mcp.foreign_text import secrets_of
from knime_ext.mcp.servers import Server, StdioServer
from knime_ext.tools import ToolResult

__all__ = ["betrays", "scrubbed"]

_SHORTEST = 8
"""Results are data: shorter values would be found in them by chance."""
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH", re.IGNORECASE)


def _secrets(server: Server) -> tuple[str, ...]:
    if isinstance(server, StdioServer):
        # Most variables are paths and switches, which results may well hold.
        values = (value for name, value in server.env.items() if _SECRET_NAME.search(name))
    else:
        values = secrets_of(server)
    return tuple(value for value in values if len(value) >= _SHORTEST)


def scrubbed(result: ToolResult, server: Server) -> ToolResult:
    """The result with stars in place of the server's secrets; the same object if it holds none."""
    secrets = _secrets(server)
    if not secrets:
        return result
    content = tuple(cast("Mapping[str, Any]", _without(block, secrets)) for block in result.content)
    structured = _without(result.structured, secrets)
    if content == tuple(result.content) and structured == result.structured:
        return result
    return replace(result, content=content, structured=structured)


def _without(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, "***")
        return value
    if isinstance(value, Mapping):
        return {key: _without(part, secrets) for key, part in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list):
        return [_without(part, secrets) for part in cast("list[Any]", value)]
    return value


def betrays(error: BaseException, server: Server) -> bool:
    """Whether the text of an error, or of one behind it, holds a secret of the server."""
    secrets, pending, seen = secrets_of(server), [error], set[int]()
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        text = str(one)
        if any(secret in text for secret in secrets):
            return True
        pending += [behind for behind in (one.__cause__, one.__context__) if behind is not None]
        if isinstance(one, BaseExceptionGroup):
            pending += cast("BaseExceptionGroup[BaseException]", one).exceptions
    return False
