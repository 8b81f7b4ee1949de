"""Asks MCP servers for their tools, on behalf of a node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from knime.types.tool import MCPTool
from knime_ext.agent.cancellation import Cancelled, unless_cancelled
from knime_ext.bridge import shared_bridge
from knime_ext.errors import MCPConnectionError, MCPError
from knime_ext.mcp import Listing, Server, SessionPool, Timeouts, list_servers, tools_from_listing
from knime_ext.mcp.listed import save_listed
from knime_ext.mcp.server_choice import ServerChoice, choose_server

__all__ = ["Answer", "ask_servers", "share_with_other_processes", "warning_about"]

_SHOWN_PROBLEMS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What became of one server.

    Attributes:
        named: How the user named it.
        provider: Name of the registered provider, if it is one.
        listing: What it offers.
        tools: Its tools for rows.
    """

    named: str
    provider: str | None
    listing: Listing
    tools: list[MCPTool]

    @property
    def short_name(self) -> str:
        """A word for the server: the provider's name, or the host of the address."""
        return self.provider or urlsplit(self.named).hostname or self.named


def ask_servers(
    named: Sequence[str], providers: Mapping[str, Server] | None, timeouts: Timeouts, is_canceled: Callable[[], bool]
) -> list[Answer]:
    """The tools of several servers, asked side by side; what fails is data, as long as one succeeds.

    Args:
        named: Addresses, and names of registered providers.
        providers: Registered servers; None for the operator's own.
        timeouts: Time limits for servers given by their address.
        is_canceled: Whether the user has canceled.

    Raises:
        ConfigurationError: A server cannot be meant, or is not registered.
        MCPError: No server could be listed, or the user canceled.
    """
    choices = [_choice(name, providers, timeouts) for name in named]
    registered = {choice.provider: choice.server for choice in choices if choice.provider is not None}

    async def ask() -> list[Listing]:
        async with SessionPool(registered) as pool:
            return await list_servers([choice.server for choice in choices], pool)

    try:
        with shared_bridge() as bridge:
            listings = bridge.run(unless_cancelled(ask(), is_canceled))
    except Cancelled:
        raise MCPError("Canceled.") from None
    _refuse_if_all_failed(listings)
    return [
        Answer(
            named=name,
            provider=choice.provider,
            listing=listing,
            tools=tools_from_listing(listing, provider=choice.provider),
        )
        for name, choice, listing in zip(named, choices, listings, strict=True)
    ]


def share_with_other_processes(answers: Sequence[Answer]) -> None:
    """Lets the nodes that call these tools know that the user has chosen the servers: KNIME runs them elsewhere."""
    save_listed(answer.listing.server.uri for answer in answers if answer.provider is None and answer.tools)


def _choice(name: str, providers: Mapping[str, Server] | None, timeouts: Timeouts) -> ServerChoice:
    choice = choose_server(name, providers)
    if choice.provider is not None:
        return choice
    return replace(choice, server=replace(choice.server, timeouts=timeouts))


def _refuse_if_all_failed(listings: Sequence[Listing]) -> None:
    errors = [listing.error for listing in listings if listing.error is not None and not listing.definitions]
    if len(errors) == len(listings):
        raise MCPConnectionError("; and ".join(errors))


def warning_about(answers: Sequence[Answer]) -> str | None:
    """What the user should know, in one text; None if all is well."""
    texts = [text for answer in answers if (text := _warning(answer.listing, several=len(answers) > 1))]
    return " ".join(texts) or None


def _warning(listing: Listing, *, several: bool) -> str | None:
    of = f" of {listing.server.uri!r}" if several else ""
    if listing.error is not None and not listing.definitions:
        return f"A server is left out: {listing.error}."
    if listing.error is not None:
        return f"The list of tools is incomplete: {listing.error}"
    if listing.problems:
        count = len(listing.problems)
        shown = "; ".join(f"{problem.name!r}: {problem.reason}" for problem in listing.problems[:_SHOWN_PROBLEMS])
        more = f"; and {count - _SHOWN_PROBLEMS} more" if count > _SHOWN_PROBLEMS else ""
        what, verb = ("tools", "are") if count > 1 else ("tool", "is")
        return f"{count} malformed {what}{of} {verb} left out: {shown}{more}"
    return None if listing.definitions else f"The server{f' {listing.server.uri!r}' if several else ''} has no tools."
