"""Signing in, looking at what is stored, and signing out; what `knime-mcp auth` does."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import httpx2

from knime_ext.errors import ConfigurationError, MCPAuthError
from knime_ext.mcp.auth.accounts import Account
from knime_ext.mcp.auth.flows import account_of
from knime_ext.mcp.auth.loopback import LoopbackPerson
from knime_ext.mcp.auth.renewal import ANSWER_SECONDS
from knime_ext.mcp.egress import EgressPolicy
from knime_ext.mcp.egress_gate import EgressGate
from knime_ext.mcp.execution import MCPToolCaller
from knime_ext.mcp.guarded_client import GuardedClient
from knime_ext.mcp.listing import Listing
from knime_ext.mcp.servers import HTTPServer, Server, SSEServer, StreamableHTTPServer, URLServer
from knime_ext.mcp.sign_in import OAuth, chosen_urls

__all__ = ["AccountState", "account_state", "sign_in", "sign_out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountState:
    """What is known about the sign-in at a server, without asking it.

    Attributes:
        state: "signed in", "expired" (it will be refreshed or not), "signed out", or "automatic" for programs.
        issuer: The authorization server, None if it is not known yet.
        scope: What was granted.
        seconds_left: How long the access token lives, None if that is not known.
        is_refreshable: Whether the token can be refreshed without the person.
    """

    state: str
    issuer: str | None = None
    scope: str | None = None
    seconds_left: float | None = None
    is_refreshable: bool = False


_URL = SSEServer | StreamableHTTPServer | URLServer


def _person_auth(server: Server, name: str) -> tuple[_URL, OAuth]:
    auth = server.auth if isinstance(server, _URL) else None
    if not isinstance(server, _URL) or auth is None:
        raise ConfigurationError(
            f"provider {name!r} wants no sign-in; add 'auth' with 'type: oauth' to it if it should"
        )
    if not isinstance(auth, OAuth):
        raise ConfigurationError(
            f"provider {name!r} is signed in at by a program, not by a person; try it with `knime-mcp config mcp test "
            f"{name}`"
        )
    return server, auth


def sign_in(
    server: Server,
    name: str,
    show: Callable[[str], None],
    *,
    browser: Callable[[str], bool] | None,
    seconds: float = 300.0,
) -> Listing:
    """Lets a person sign in, and lists the tools of the server to see that it worked.

    Args:
        server: The server, with an `OAuth` as its `auth`.
        name: What messages call it.
        show: Called with the page to sign in at.
        browser: Opens a page; None leaves that to the person.
        seconds: How long the person may take.

    Raises:
        ConfigurationError: The server wants no person to sign in.
        MCPError: It did not work.
    """
    found, auth = _person_auth(server, name)
    account = account_of(found, auth)
    port = _port(auth, account.load())
    with LoopbackPerson(show, port=port, seconds=seconds, browser=browser) as person:
        account.forget_tokens()
        limits = replace(found.timeouts, connect=seconds + ANSWER_SECONDS)
        value = replace(found, auth=replace(auth, person=person), timeouts=limits)
        with MCPToolCaller() as caller:
            (listing,) = caller.list_tools([value])
    if account.load().tokens is None:
        if listing.error is not None:
            raise MCPAuthError(listing.error)
        raise MCPAuthError(f"server {name!r} did not ask for a sign-in; it can be used as it is")
    return listing


def _port(auth: OAuth, account: Account) -> int:
    """Where to wait: the port that the operator chose, else the one that the client is registered with, else any."""
    redirects = (account.client.redirect_uris or []) if account.client is not None else []
    former = redirects[0].port if redirects else None
    if auth.redirect_port or not former:
        return auth.redirect_port
    with suppress(MCPAuthError), LoopbackPerson(lambda page: None, port=former):
        return former
    return 0


def account_state(server: Server) -> AccountState | None:
    """What is stored about the sign-in at a server; None if it wants none."""
    auth = server.auth if isinstance(server, HTTPServer) else None
    if auth is None or not isinstance(server, HTTPServer):
        return None
    if not isinstance(auth, OAuth):
        return AccountState(state="automatic", issuer=auth.issuer)
    account = account_of(server, auth).load()
    if account.tokens is None:
        return AccountState(state="signed out", issuer=account.issuer)
    left = None if account.expires_at is None else account.expires_at - time.time()
    return AccountState(
        state="signed in" if left is None or left > 0 else "expired",
        issuer=account.issuer,
        scope=account.tokens.scope,
        seconds_left=left,
        is_refreshable=account.tokens.refresh_token is not None,
    )


async def sign_out(server: Server, name: str) -> str | None:
    """Forgets the tokens, and tells the authorization server to do the same (RFC 7009) if it can be told.

    Returns:
        Why the authorization server could not be told, None if it was or needs not be.

    Raises:
        ConfigurationError: The server wants no person to sign in.
    """
    found, auth = _person_auth(server, name)
    storage = account_of(found, auth)
    account = storage.load()
    storage.forget()
    endpoint = None if account.metadata is None else account.metadata.revocation_endpoint
    if endpoint is None or account.tokens is None or account.client is None:
        return None
    form = {
        "token": account.tokens.refresh_token or account.tokens.access_token,
        "client_id": account.client.client_id,
    }
    if account.client.client_secret:
        form["client_secret"] = account.client.client_secret
    plain = replace(found, auth=None, headers={})
    gate = EgressGate(
        EgressPolicy.from_environment(), found.url, "provider", {}, (*chosen_urls(auth), str(account.issuer))
    )
    async with GuardedClient(plain, gate) as client:
        try:
            answer = await client.post(str(endpoint), data=form, timeout=ANSWER_SECONDS)
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            return f"the authorization server could not be told ({type(error).__name__})"
    return None if answer.status_code == 200 else f"the authorization server refused (HTTP {answer.status_code})"
