"""What every sign-in flow of the SDK gets on top.

- A valid token is sent at once. The SDK holds a lock while it waits for an answer, which would make calls wait for
  each other; here only signing in does.
- Tokens are refreshed before they end, also those that another process has stored, and a token that the server
  refuses before its time is refreshed, too.
- Requests to authorization servers have time limits and bounds on their answers.
- Failures are sentences without secrets.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import AsyncGenerator

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.auth.oauth2 import OAuthContext
from mcp.client.auth.utils import extract_field_from_www_auth, union_scopes
from mcp.shared._httpx_utils import RedirectAwareAuth
from mcp.shared.auth import OAuthToken
from pydantic import ValidationError

from knime_ext.errors import KnimeExtError, MCPAuthError
from knime_ext.mcp.auth.accounts import Account, AccountStorage, life_of
from knime_ext.mcp.bodies import BodyLost, BoundedBody
from knime_ext.mcp.exchange import Exchange, current_exchange
from knime_ext.mcp.foreign_text import quotable
from knime_ext.mcp.live_secrets import keep_secret, live_secrets

__all__ = ["BoundedFlow", "RenewingFlow", "asks_for_sign_in", "early", "refused_by"]

ANSWER_BYTES = 1024 * 1024
ANSWER_SECONDS = 30.0
EARLY_SECONDS = 60.0
"""How long before its end a token is refreshed, at most a fifth of its life."""

LONG_AGO = 1.0
"""A time that is over. The SDK takes 0 for "never"."""

_Flow = AsyncGenerator[httpx2.Request, httpx2.Response]


class _NoTraceback(logging.Filter):
    """Takes tracebacks out of the SDK's log: their errors quote answers of token endpoints, tokens included."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info, record.exc_text = None, None
        return True


logging.getLogger("mcp.client.auth.oauth2").addFilter(_NoTraceback())


def asks_for_sign_in(response: httpx2.Response) -> bool:
    """Whether the server wants a token, another one, or one with more rights."""
    return response.status_code == 401 or asks_for_more(response)


def asks_for_more(response: httpx2.Response) -> bool:
    """Whether the token is valid but has not enough rights."""
    return response.status_code == 403 and extract_field_from_www_auth(response, "error") == "insufficient_scope"


def early(expires_in: float) -> float:
    """Seconds before its end at which a token is refreshed."""
    return min(EARLY_SECONDS, expires_in / 5)


def _bound(request: httpx2.Request) -> None:
    request.headers.setdefault("Accept-Encoding", "identity")
    limits = dict.fromkeys(("connect", "read", "write", "pool"), ANSWER_SECONDS)
    request.extensions = {**request.extensions, "timeout": limits}


class BoundedFlow(RedirectAwareAuth):
    """A flow whose requests are bounded and whose failures are ours.

    Attributes:
        server_name: What messages call the MCP server.
        hint: What helps when signing in fails, the end of a sentence.
    """

    server_name: str = "the server"
    hint: str = "check the sign-in of the provider"

    async def async_auth_flow(self, request: httpx2.Request) -> _Flow:
        """Drives the flow; every request of it leaves here."""
        flow = super().async_auth_flow(request)
        notes = current_exchange() or Exchange()
        try:
            outgoing = await anext(flow)
            while True:
                notes.is_signing_in = outgoing is not request
                if outgoing is not request:
                    _bound(outgoing)
                response = yield outgoing
                if outgoing is not request or asks_for_sign_in(response):
                    notes.is_signing_in = True
                    assert isinstance(response.stream, httpx2.AsyncByteStream)
                    response.stream = BoundedBody(response.stream, ANSWER_BYTES, Exchange())
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        except KnimeExtError:
            raise
        except (OAuthFlowError, ValueError, BodyLost) as error:
            raise refused_by(self.server_name, error, self.hint) from None
        finally:
            notes.is_signing_in = False
            await flow.aclose()


def refused_by(server: str, error: Exception, hint: str) -> MCPAuthError:
    """The sentence about a sign-in that failed."""
    return MCPAuthError(f"signing in at {server} failed: {_reason(error)}; {hint}")


def _reason(error: Exception) -> str:
    """What went wrong, without what a token endpoint or a person's browser sent in confidence."""
    if isinstance(error, ValidationError) or "alidation error" in str(error):
        return "the authorization server sent an answer that is not valid"
    if isinstance(error, BodyLost):
        return "the answer of the authorization server broke off or is too large"
    if "State parameter mismatch" in str(error):
        return "the browser came back from another sign-in (state mismatch)"
    text = str(error)
    if isinstance(error, OAuthTokenError | OAuthRegistrationError):
        text = _error_of(text)
    return quotable(text, live_secrets()) or type(error).__name__


def _error_of(text: str) -> str:
    """The error code and description of an OAuth error answer, else only what stands before the answer."""
    start = text.find("{")
    if start < 0:
        return text.partition(":")[0] if ": <" in text else text
    try:
        answer = json.loads(text[start:])
    except ValueError:
        return text[:start].strip(" :")
    said = [str(answer[key]) for key in ("error", "error_description") if isinstance(answer.get(key), str)]
    return f"{text[:start].strip(' :')}: {': '.join(said)}" if said else text[:start].strip(" :")


class _EarlyContext(OAuthContext):
    """Counts a token as ended a little before its end."""

    def update_token_expiry(self, token: OAuthToken) -> None:
        """Notes when to refresh."""
        life = life_of(token)
        self.token_expiry_time = None if life is None else time.time() + life - early(life)


class RenewingFlow(BoundedFlow, OAuthClientProvider):
    """The base of our flows; goes before one of the SDK's among the bases of a class."""

    def equip(self, storage: AccountStorage, server_name: str, hint: str, scope: str | None) -> None:
        """Finishes the construction, which the SDK's classes each do in their own way."""
        self._wanted_scope = scope
        self.server_name, self.hint = server_name, hint
        self.context = _EarlyContext(**vars(self.context))
        self.account = storage
        storage.attach(self.context)

    async def _auth_flow(self, request: httpx2.Request) -> _Flow:
        if not self._initialized:
            await self._initialize()
        if self.context.is_token_valid():
            sent = self._access_token()
            self._add_auth_header(request)
            response = yield request
            if not asks_for_sign_in(response):
                return
            if response.status_code == 401 and sent == self._access_token():
                self.context.token_expiry_time = LONG_AGO  # whatever its time, the server refuses it
        self._adopt_newer(self._access_token())
        flow = super()._auth_flow(request)
        try:
            outgoing = await anext(flow)
            while True:
                response = yield outgoing
                if outgoing is request and asks_for_sign_in(response):
                    self._before_sign_in(response)
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()

    def _before_sign_in(self, response: httpx2.Response) -> None:
        """Called when the server wants a sign-in, and again if it is not content with it."""

    async def _perform_authorization(self) -> httpx2.Request:
        metadata = self.context.client_metadata
        metadata.scope = union_scopes(metadata.scope, self._wanted_scope)
        return await super()._perform_authorization()

    async def _initialize(self) -> None:
        await super()._initialize()
        self._take(self.account.load(), with_client=False)

    def _take(self, account: Account, *, with_client: bool) -> None:
        """Puts a stored account into the context, so that its tokens can be refreshed without asking around."""
        context = self.context
        context.current_tokens = account.tokens
        context.token_expiry_time = None
        if account.tokens is not None and account.expires_at is not None:
            context.token_expiry_time = account.expires_at - early(life_of(account.tokens) or 0)
        if with_client:
            context.client_info = account.client
        if account.metadata is not None:
            context.oauth_metadata = account.metadata
        if account.resource is not None:
            context.protected_resource_metadata = account.resource
            context.auth_server_url = account.issuer

    def _adopt_newer(self, known: str | None) -> bool:
        """Takes tokens that another process has stored since; True if there are other ones than the known."""
        account = self.account.load()
        if account.tokens is None or account.tokens.access_token == known:
            return False
        is_over = account.expires_at is not None and account.expires_at <= time.time()
        if is_over and account.tokens.refresh_token is None:
            return False
        self._take(account, with_client=True)
        return True

    def _access_token(self) -> str | None:
        tokens = self.context.current_tokens
        return None if tokens is None else tokens.access_token

    async def _handle_refresh_response(self, response: httpx2.Response) -> bool:
        if response.status_code >= 500 or response.status_code == 429:
            raise MCPAuthError(
                f"the authorization server of {self.server_name} did not refresh the token (HTTP "
                f"{response.status_code}); try again later"
            )
        known = self._access_token()
        if await super()._handle_refresh_response(response):
            return True
        if self._adopt_newer(known) and self.context.is_token_valid():
            return True  # another process was faster, and the refresh token can be used only once
        self.account.forget_tokens()
        return False

    async def _handle_token_response(self, response: httpx2.Response) -> None:
        await super()._handle_token_response(response)
        tokens = self.context.current_tokens
        if tokens is not None:
            keep_secret(tokens.access_token, tokens.refresh_token)
