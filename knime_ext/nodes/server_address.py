"""Checks the address of an MCP server while it is typed, without touching the network."""

from __future__ import annotations

import re

from knime_ext.errors import ConfigurationError

__all__ = ["check_address"]

_PROVIDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def check_address(address: str) -> None:
    """Accepts a web address without credentials, the name of a provider, or nothing (the node asks for one later).

    Raises:
        ValueError: It cannot be one of a server, or it holds a user name or password.
    """
    from knime_ext.mcp import URLServer

    if not address or _PROVIDER.fullmatch(address):
        return
    try:
        URLServer(address)
    except ConfigurationError as error:
        text = str(error)
        raise ValueError(f"{text[:1].upper()}{text[1:]}.") from None
