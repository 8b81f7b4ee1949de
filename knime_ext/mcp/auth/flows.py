"""The sign-in flows, one class for each way to sign in; the SDK's flows do the work."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthTokenError
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
    static_assertion_provider,
)
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.auth.utils import extract_scope_from_www_auth, issuers_match
from mcp.shared.auth import (
    JWT_BEARER_GRANT_TYPE,
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
)
from mcp.shared.auth_utils import resource_url_from_server_url
from pydantic import AnyUrl, BaseModel

from knime_ext import __version__
from knime_ext.errors import MCPAuthError
from knime_ext.mcp.auth.accounts import AccountStorage, account_key
from knime_ext.mcp.auth.renewal import BoundedFlow, RenewingFlow, asks_for_more, asks_for_sign_in, early
from knime_ext.mcp.auth.stores import MemoryStore, system_store
from knime_ext.mcp.foreign_text import name_of, quotable
from knime_ext.mcp.live_secrets import keep_secret
from knime_ext.mcp.servers import HTTPServer
from knime_ext.mcp.sign_in import ClientCredentials, EnterpriseManaged, OAuth, PrivateKeyJWT, WorkloadIdentity

__all__ = ["account_of", "sign_in_flow"]

NOWHERE = "http://127.0.0.1/callback"
"""Where a browser would come back to if there were somebody to use one."""


def sign_in_flow(server: HTTPServer) -> httpx2.Auth | None:
    """What adds a server's sign-in to requests; None if the server value names none."""
    match server.auth:
        case None:
            return None
        case OAuth() as auth:
            return _PersonFlow(server, auth)
        case ClientCredentials() as auth:
            return _SecretFlow(server, auth)
        case PrivateKeyJWT() as auth:
            return _PrivateKeyFlow(server, auth)
        case EnterpriseManaged() as auth:
            return _EnterpriseFlow(server, auth)
        case WorkloadIdentity() as auth:
            return _WorkloadFlow(server, auth)


def account_of(server: HTTPServer, auth: OAuth) -> AccountStorage:
    """What is stored about the person that signed in at a server."""
    store = system_store() if auth.store is None else auth.store
    client = None
    if auth.client_id is not None:
        client = OAuthClientInformationFull(
            client_id=auth.client_id,
            client_secret=auth.client_secret,
            token_endpoint_auth_method="client_secret_basic" if auth.client_secret else "none",
            issuer=auth.issuer,
        )
    return AccountStorage(store, account_key(auth.account, server.url), client)


class _PersonFlow(RenewingFlow, OAuthClientProvider):
    """A person signs in: authorization code with PKCE."""

    def __init__(self, server: HTTPServer, auth: OAuth) -> None:
        storage = account_of(server, auth)
        self._auth = auth
        self._page = ""
        self._refused = 0
        super().__init__(
            server.url,
            OAuthClientMetadata(
                client_name="KNIME MCP",
                software_id="knime-mcp",
                software_version=__version__,
                redirect_uris=[AnyUrl(NOWHERE if auth.person is None else auth.person.redirect_uri)],
            ),
            storage,
            self._open,
            self._come_back,
            auth.client_metadata_url,
        )
        self.equip(storage, name_of(server), self._login_hint(), auth.scope)

    def _login_hint(self) -> str:
        return f"run `knime-mcp auth login {self._auth.account}`" if self._auth.account else "sign in again"

    def _before_sign_in(self, response: httpx2.Response) -> None:
        if self._auth.person is None:
            if asks_for_more(response):
                scope = extract_scope_from_www_auth(response)
                wanted = f"the right {quotable(scope)!r}" if scope else "more rights"
                raise MCPAuthError(
                    f"{self.server_name} wants {wanted}; add it to the 'scope' of the provider and {self._login_hint()}"
                )
            raise MCPAuthError(f"nobody has signed in at {self.server_name}, or not lately; {self._login_hint()}")
        client = self.context.client_info
        redirect = AnyUrl(self._auth.person.redirect_uri)
        is_registered = client is not None and client.client_id not in (
            self._auth.client_id,
            self._auth.client_metadata_url,
        )
        if is_registered and client is not None and redirect not in (client.redirect_uris or []):
            self.context.client_info = None  # registered for another way back

    def _select_authorization_server(self, advertised: list[str]) -> str:
        if self._auth.issuer is None:
            return super()._select_authorization_server(advertised)
        for issuer in advertised:
            if issuers_match(issuer, self._auth.issuer):
                return issuer
        raise OAuthFlowError(
            f"the server names the authorization server {advertised[0]!r}, and the client belongs to "
            f"{self._auth.issuer!r}"
        )

    async def _open(self, url: str) -> None:
        self._page = url

    async def _come_back(self) -> AuthorizationCodeResult:
        assert self._auth.person is not None
        address = await self._auth.person.authorize(self._page)
        answer = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        if "error" in answer:
            text = ": ".join(answer[name] for name in ("error", "error_description") if name in answer)
            raise OAuthFlowError(f"the authorization server refused ({text})")
        keep_secret(answer.get("code"))
        return AuthorizationCodeResult(code=answer.get("code", ""), state=answer.get("state"), iss=answer.get("iss"))


class _SecretFlow(RenewingFlow, ClientCredentialsOAuthProvider):
    """A program signs in with a secret."""

    def __init__(self, server: HTTPServer, auth: ClientCredentials) -> None:
        storage = AccountStorage(MemoryStore(), account_key("", server.url))
        ClientCredentialsOAuthProvider.__init__(
            self, server.url, storage, auth.client_id, auth.client_secret, auth.method, auth.scope, auth.issuer
        )
        self.equip(storage, name_of(server), "check 'client_id', 'client_secret' and 'issuer'", auth.scope)


class _PrivateKeyFlow(RenewingFlow, PrivateKeyJWTOAuthProvider):
    """A program signs in with an assertion that it signs itself."""

    def __init__(self, server: HTTPServer, auth: PrivateKeyJWT) -> None:
        storage = AccountStorage(MemoryStore(), account_key("", server.url))
        sign = SignedJWTParameters(
            issuer=auth.client_id,
            subject=auth.client_id,
            signing_key=auth.private_key,
            signing_algorithm=auth.algorithm,
        ).create_assertion_provider()

        async def assertion(audience: str) -> str:
            try:
                return await sign(audience)
            except Exception as error:
                # The libraries for keys raise what they like, and their texts may quote the key.
                raise OAuthFlowError(
                    f"the private key cannot sign with {auth.algorithm!r} ({type(error).__name__})"
                ) from None

        PrivateKeyJWTOAuthProvider.__init__(
            self, server.url, storage, auth.client_id, assertion, auth.scope, auth.issuer
        )
        self.equip(storage, name_of(server), "check 'client_id', the private key and 'issuer'", auth.scope)


class _WorkloadFlow(RenewingFlow, PrivateKeyJWTOAuthProvider):
    """A program signs in with its platform's assertion, which is the grant itself (RFC 7523, section 2.1)."""

    def __init__(self, server: HTTPServer, auth: WorkloadIdentity) -> None:
        storage = AccountStorage(MemoryStore(), account_key("", server.url))
        given = static_assertion_provider(auth.assertion)
        PrivateKeyJWTOAuthProvider.__init__(self, server.url, storage, auth.client_id, given, auth.scope, auth.issuer)
        self.equip(storage, name_of(server), "check 'client_id', the assertion and 'issuer'", auth.scope)
        self._client_id = auth.client_id

    async def _exchange_token_client_credentials(self) -> httpx2.Request:
        request = await super()._exchange_token_client_credentials()
        form = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        form["assertion"] = form.pop("client_assertion")
        del form["client_assertion_type"]
        form |= {"grant_type": JWT_BEARER_GRANT_TYPE, "client_id": self._client_id}
        return httpx2.Request("POST", request.url, data=form)


class _Exchanged(BaseModel):
    """The answer to a token exchange (RFC 8693, section 2.2.1)."""

    access_token: str
    issued_token_type: str


_ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"


class _EnterpriseFlow(BoundedFlow, IdentityAssertionOAuthProvider):
    """The identity provider's ID token becomes an assertion, and that an access token."""

    def __init__(self, server: HTTPServer, auth: EnterpriseManaged) -> None:
        storage = AccountStorage(MemoryStore(), account_key("", server.url))
        self._auth = auth
        self._id_jag = ""
        self._url = resource_url_from_server_url(server.url)
        self._turn = anyio.Lock()
        self.server_name = name_of(server)
        self.hint = "check the ID token and the clients at both servers"
        IdentityAssertionOAuthProvider.__init__(
            self,
            server.url,
            storage,
            auth.client_id,
            auth.client_secret,
            auth.issuer,
            self._assertion,
            auth.scope,
            auth.method,
        )

    async def _assertion(self, audience: str, resource: str) -> str:
        return self._id_jag

    async def _auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        sent, wants_more = self._valid_token(), False
        if sent is not None:
            request.headers["Authorization"] = f"Bearer {sent}"
            response = yield request
            if not asks_for_sign_in(response):
                return
            wants_more = asks_for_more(response)
            if not wants_more and sent == self._valid_token():
                self._tokens = None
        async with self._turn:  # one exchange for all that wait
            if wants_more or self._valid_token() is None:
                self._id_jag = await _assertion_in((yield self._exchange()))
            flow = super()._auth_flow(request)
            try:
                outgoing = await anext(flow)
                while True:
                    response = yield outgoing
                    outgoing = await flow.asend(response)
            except StopAsyncIteration:
                return
            finally:
                await flow.aclose()

    def _valid_token(self) -> str | None:
        tokens, end = self._tokens, self._expiry
        if tokens is None or (end is not None and time.time() >= end - early(tokens.expires_in or 0)):
            return None
        keep_secret(tokens.access_token)
        return tokens.access_token

    def _exchange(self) -> httpx2.Request:
        """The request that makes an assertion for the MCP server of the person's ID token."""
        form = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "requested_token_type": _ID_JAG,
            "subject_token": self._auth.id_token,
            "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
            "audience": self._auth.issuer,
            "resource": self._url,
            "client_id": self._auth.idp_client_id,
        }
        if self._auth.idp_client_secret is not None:
            form["client_secret"] = self._auth.idp_client_secret
        if self._auth.scope is not None:
            form["scope"] = self._auth.scope
        return httpx2.Request("POST", self._auth.idp_token_endpoint, data=form)


async def _assertion_in(response: httpx2.Response) -> str:
    content = await response.aread()
    if response.status_code != 200:
        text = content.decode(errors="replace")
        raise OAuthTokenError(f"the identity provider refused the exchange ({response.status_code}): {text}")
    exchanged = _Exchanged.model_validate_json(content)
    if exchanged.issued_token_type != _ID_JAG:
        raise OAuthFlowError("the identity provider gave another kind of token than was asked for")
    keep_secret(exchanged.access_token)
    return exchanged.access_token
