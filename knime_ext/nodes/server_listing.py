"""Asks one MCP server for its tools, on behalf of a node."""

from __future__ import annotations

from collections.abc import Callable

from knime_ext.agent.cancellation import Cancelled, unless_cancelled
from knime_ext.bridge import shared_bridge
from knime_ext.errors import MCPConnectionError, MCPError
from knime_ext.mcp import Listing, Server, SessionPool, list_servers

__all__ = ["ask_server", "warning_about"]

_SHOWN_PROBLEMS = 3


def ask_server(server: Server, is_canceled: Callable[[], bool]) -> Listing:
    """The tools of a server; its malformed tools are data in the listing.

    Raises:
        MCPError: Nothing could be listed, or the user canceled.
    """

    async def ask() -> Listing:
        async with SessionPool() as pool:
            [listing] = await list_servers([server], pool)
            return listing

    try:
        with shared_bridge() as bridge:
            listing = bridge.run(unless_cancelled(ask(), is_canceled))
    except Cancelled:
        raise MCPError("Canceled.") from None
    if listing.error is not None and not listing.definitions:
        raise MCPConnectionError(listing.error)
    return listing


def warning_about(listing: Listing) -> str | None:
    """What the user should know about a listing, in one text; None if all is well."""
    if listing.error is not None:
        return f"The list of tools is incomplete: {listing.error}"
    if listing.problems:
        count = len(listing.problems)
        shown = "; ".join(f"{problem.name!r}: {problem.reason}" for problem in listing.problems[:_SHOWN_PROBLEMS])
        more = f"; and {count - _SHOWN_PROBLEMS} more" if count > _SHOWN_PROBLEMS else ""
        return f"{count} malformed tool{'s are' if count > 1 else ' is'} left out: {shown}{more}"
    return None if listing.definitions else "The server has no tools."
