"""Texts that come from a server or its child process, made fit for an error message."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import urlsplit

from knime_ext.mcp.live_secrets import live_secrets
from knime_ext.mcp.servers import HTTPServer, Server, StdioServer

__all__ = ["name_of", "quotable", "secrets_of"]

MAX_CHARS = 500
_SHORTEST_SECRET = 4
"""Shorter values ("1", "on") are no secrets, and hiding them would make texts unreadable."""
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def secrets_of(server: Server) -> tuple[str, ...]:
    """Values that must not appear in a message, longest first: headers, environment, what signing in needs or gave."""
    values = [*server.env.values()] if isinstance(server, StdioServer) else [*server.headers.values(), *live_secrets()]
    if isinstance(server, HTTPServer) and server.auth is not None:
        values += server.auth.secrets
    # "Bearer abc" is secret as a whole and so is "abc".
    parts = {part for value in values for part in (value, *value.split()) if len(part) >= _SHORTEST_SECRET}
    return tuple(sorted(parts - {"Bearer", "Basic", "Token"}, key=len, reverse=True))


def quotable(text: str, secrets: Iterable[str] = (), *, end: bool = False) -> str:
    """A foreign text without secrets and invisible characters, shortened.

    Args:
        text: The text.
        secrets: Values to hide.
        end: Keep the end of a long text instead of its beginning.
    """
    for secret in secrets:
        text = text.replace(secret, "***")
    text = "".join(filter(_is_visible, _TERMINAL_CODE.sub("", text))).strip()
    if len(text) <= MAX_CHARS:
        return text
    return "…" + text[-MAX_CHARS:] if end else text[:MAX_CHARS] + "…"


def _is_visible(char: str) -> bool:
    """False for control characters and for those that hide or reorder text."""
    return char in "\n\t" or not unicodedata.category(char).startswith("C")


def name_of(server: Server | HTTPServer) -> str:
    """How messages call a server: its address without the query, which may hold a key."""
    if isinstance(server, StdioServer):
        return repr(server.uri)
    parts = urlsplit(server.url)
    return repr(f"{parts.scheme}://{parts.netloc}{parts.path}")
