"""What is kept about one account at one server, and how the SDK's sign-in flows read and write it."""

from __future__ import annotations

import time

from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata, OAuthToken, ProtectedResourceMetadata
from mcp.shared.auth_utils import resource_url_from_server_url
from pydantic import BaseModel, ValidationError

from knime_ext.mcp.live_secrets import keep_secret
from knime_ext.mcp.sign_in import TokenStore

__all__ = ["Account", "AccountStorage", "account_key", "life_of"]


def account_key(account: str, url: str) -> str:
    """Key of an account in a store: its name and the server it belongs to."""
    return f"{account}|{resource_url_from_server_url(url)}"


def life_of(tokens: OAuthToken) -> float | None:
    """Seconds that an access token lives, None if that is unknown. Servers that say 0 or less do not mean it."""
    return tokens.expires_in if tokens.expires_in is not None and tokens.expires_in > 0 else None


class Account(BaseModel):
    """What is kept. Tokens and client belong to one authorization server and are only ever sent there.

    Attributes:
        tokens: Access and refresh token, None before the first sign-in.
        expires_at: When the access token ends, in seconds since 1970; None if the server did not say.
        client: The client that was registered, or given, or the metadata document.
        metadata: Of the authorization server: its issuer and endpoints.
        resource: Metadata of the MCP server.
    """

    tokens: OAuthToken | None = None
    expires_at: float | None = None
    client: OAuthClientInformationFull | None = None
    metadata: OAuthMetadata | None = None
    resource: ProtectedResourceMetadata | None = None

    @property
    def issuer(self) -> str | None:
        """The authorization server."""
        return None if self.metadata is None else str(self.metadata.issuer)

    def __repr__(self) -> str:
        return f"Account(issuer={self.issuer!r})"

    __str__ = __repr__


class AccountStorage:
    """The SDK's view of an account in a store (its protocol `TokenStorage`).

    Args:
        store: The store.
        key: Key of the account.
        client: A client that was registered beforehand, which takes the place of a stored one.
    """

    def __init__(self, store: TokenStore, key: str, client: OAuthClientInformationFull | None = None) -> None:
        self._store = store
        self._key = key
        self._client = client
        self._context: OAuthContext | None = None

    def attach(self, context: OAuthContext) -> None:
        """Says where to find what belongs to tokens and is not handed over with them."""
        self._context = context

    def load(self) -> Account:
        """What is kept; an account that cannot be read counts as none."""
        try:
            account = Account.model_validate_json(self._store.get(self._key) or "{}")
        except ValidationError:
            account = Account()
        if self._client is not None and (account.client is None or account.client.client_id != self._client.client_id):
            account = Account(client=self._client)  # tokens of another client are no use
        elif self._client is not None:
            account.client = self._client
        _hide(account)
        return account

    async def get_tokens(self) -> OAuthToken | None:
        """The stored tokens."""
        return self.load().tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keeps tokens, with everything that is needed to refresh them in another process."""
        account = self.load()
        account.tokens = tokens
        life = life_of(tokens)
        account.expires_at = None if life is None else time.time() + life
        if self._context is not None:
            account.client = self._context.client_info or account.client
            account.metadata = self._context.oauth_metadata
            account.resource = self._context.protected_resource_metadata
        self._save(account)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The client."""
        return self.load().client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keeps a new client; tokens of the former one are forgotten."""
        self._save(Account(client=client_info))

    def forget_tokens(self) -> None:
        """Forgets the tokens and keeps the client."""
        account = self.load()
        account.tokens, account.expires_at = None, None
        self._save(account)

    def forget(self) -> None:
        """Forgets everything."""
        self._store.delete(self._key)

    def _save(self, account: Account) -> None:
        _hide(account)
        self._store.set(self._key, account.model_dump_json(exclude_none=True))


def _hide(account: Account) -> None:
    if account.tokens is not None:
        keep_secret(account.tokens.access_token, account.tokens.refresh_token)
    if account.client is not None:
        keep_secret(account.client.client_secret)
