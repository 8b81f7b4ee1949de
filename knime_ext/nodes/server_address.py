"""Checks the address of an MCP server while it is typed, without touching the network."""

from __future__ import annotations

from knime_ext.errors import ConfigurationError

__all__ = ["check_address"]


def check_address(address: str) -> None:
    """Accepts a web address without credentials, or nothing at all (the node asks for one later).

    Raises:
        ValueError: The address cannot be one of a server, or it holds a user name or password.
    """
    from knime_ext.mcp import URLServer

    if not address:
        return
    try:
        URLServer(address)
    except ConfigurationError as error:
        text = str(error)
        raise ValueError(f"{text[:1].upper()}{text[1:]}.") from None
