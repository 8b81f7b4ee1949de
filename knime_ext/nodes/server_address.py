"""Checks the address of an MCP server while it is typed, without touching the network."""

from __future__ import annotations

from urllib.parse import urlsplit

__all__ = ["check_address"]


def check_address(address: str) -> None:
    """Accepts a web address without credentials, or nothing at all (the node asks for one later).

    Raises:
        ValueError: The address cannot be one of a server, or it holds a user name or password.
    """
    if not address:
        return
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ValueError(f"{_without_user(address)!r} is no web address ({error}); correct it.") from None
    if "@" in parts.netloc:
        raise ValueError(
            f"The address {_without_user(address)!r} holds a user name or password, which would be stored in every "
            "row; remove it."
        )
    if parts.scheme not in ("http", "https") or not host or address != address.strip():
        raise ValueError(
            f"{address!r} is not the address of a web server; enter it in full, such as 'https://example.com/mcp'."
        )


def _without_user(address: str) -> str:
    scheme, separator, rest = address.partition("//")
    return scheme + separator + rest.rpartition("@")[2]
