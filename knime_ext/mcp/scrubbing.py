"""Takes a server's own secrets out of what it sends back: results become rows, traces and prompts. No I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast
from urllib.parse import quote

from knime_ext.mcp.foreign_text import secrets_of
from knime_ext.mcp.listing import ToolProblem
from knime_ext.mcp.live_secrets import keep_secret
from knime_ext.mcp.log_filter import hide_secrets_in_logs
from knime_ext.mcp.servers import Server, StdioServer
from knime_ext.tools import ToolResult

__all__ = ["betrays", "keep_secrets_of", "scrubbed", "scrubbed_page", "without_secrets"]

_SHORTEST = 8
"""Results are data: shorter values would be found in them by chance."""
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE|SESSION|SIGNATURE", re.IGNORECASE)
_RANDOM = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9+/=_.~-]{16,}")
"""What looks as if nobody had thought of it."""

T = TypeVar("T")


def _secrets(server: Server) -> tuple[str, ...]:
    """What may not stand in data, longest first, also as it looks within JSON texts and URLs."""
    # Most variables are paths and switches, and headers may name a team or a region: results may well hold these.
    if isinstance(server, StdioServer):
        values = [value for name, value in server.env.items() if _SECRET_NAME.search(name)]
    else:
        headers = {
            name: value
            for name, value in server.headers.items()
            if _SECRET_NAME.search(name) or _RANDOM.fullmatch(value)
        }
        values = secrets_of(replace(server, headers=headers))
    forms = {form for value in values if len(value) >= _SHORTEST for form in _forms(value)}
    return tuple(sorted(forms, key=len, reverse=True))


def _forms(secret: str) -> tuple[str, ...]:
    return secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe="")


def keep_secrets_of(server: Server) -> None:
    """From now on a server's secrets appear in no log, and in nothing that other servers send."""
    keep_secret(*_secrets(server))
    hide_secrets_in_logs()


def without_secrets(value: T, server: Server) -> T:
    """JSON with stars in place of the server's secrets; the same object if it holds none."""
    secrets = _secrets(server)
    clean = _without(value, secrets) if secrets else value
    return value if clean == value else clean


def scrubbed(result: ToolResult, server: Server) -> ToolResult:
    """The result with stars in place of the server's secrets; the same object if it holds none."""
    content = without_secrets(list(result.content), server)
    structured = without_secrets(result.structured, server)
    if content == list(result.content) and structured is result.structured:
        return result
    return replace(result, content=tuple(content), structured=structured)


def scrubbed_page(page: Mapping[str, Any], server: Server) -> tuple[Mapping[str, Any], list[ToolProblem]]:
    """A page of a list with stars in place of secrets; a tool whose very name holds one is a problem."""
    clean = without_secrets(page, server)
    if clean is page:
        return page, []
    tools: list[Any] = []
    problems: list[ToolProblem] = []
    for before, after in zip(page["tools"], clean["tools"], strict=True):
        if before["name"] == after["name"]:
            tools.append(after)
        else:
            problems.append(ToolProblem(name=after["name"], reason="its name holds one of the server's secrets"))
    return {**clean, "tools": tools}, problems


def _without(value: Any, secrets: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, "***")
        return value
    if isinstance(value, Mapping):
        parts = cast("Mapping[Any, Any]", value).items()
        return {_without(key, secrets): _without(part, secrets) for key, part in parts}
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
