"""How to sign in at a server: frozen values that are part of a server value.

Values only; `knime_ext.mcp.auth` turns one into requests to an authorization server. Secrets never appear in a `repr`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

from knime_ext.errors import ConfigurationError

__all__ = [
    "Auth",
    "ClientCredentials",
    "EnterpriseManaged",
    "OAuth",
    "Person",
    "PrivateKeyJWT",
    "TokenStore",
    "WorkloadIdentity",
    "chosen_urls",
]

SecretMethod: TypeAlias = Literal["client_secret_basic", "client_secret_post"]


class Person(Protocol):
    """Somebody who can sign in, and the way back from the authorization server."""

    @property
    def redirect_uri(self) -> str:
        """Where the authorization server sends the browser back to."""
        ...

    async def authorize(self, url: str) -> str:
        """Lets the person open a page of the authorization server.

        Returns:
            The address that the browser was sent back to, with its query.
        """
        ...


class TokenStore(Protocol):
    """Keeps texts that are secret, by key."""

    def get(self, key: str) -> str | None:
        """The text, None if there is none."""
        ...

    def set(self, key: str, text: str) -> None:
        """Keeps a text."""
        ...

    def delete(self, key: str) -> None:
        """Forgets a text; nothing happens if there is none."""
        ...


def _check_issuer(issuer: str) -> None:
    parts = urlsplit(issuer)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigurationError(
            f"the issuer {issuer!r} is no http(s) URL; give the address that the authorization server calls itself by"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """A person signs in with a browser, once; afterwards the stored tokens are refreshed.

    Attributes:
        account: Name under which the tokens are kept, usually the provider's. One account is one principal.
        client_id: Of a client that was registered beforehand; None registers one, or uses the metadata document.
        client_secret: Of that client, None for a public one. Secret: not in the `repr`.
        client_metadata_url: HTTPS address of a client metadata document, for servers that take these.
        issuer: The authorization server that `client_id` belongs to, None for whichever the MCP server names.
        scope: What to ask for beside what the server demands, separated by spaces.
        redirect_port: Port of this machine that the browser comes back to; 0 for any that is free.
        person: Who signs in when it is needed; None for nobody, so that a missing sign-in is an error.
        store: Where the tokens are kept; None for the system's keyring, or a file that only its owner can read.
    """

    account: str = ""
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    client_metadata_url: str | None = None
    issuer: str | None = None
    scope: str | None = None
    redirect_port: int = 0
    person: Person | None = field(default=None, repr=False)
    store: TokenStore | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.issuer is not None:
            _check_issuer(self.issuer)
        url = self.client_metadata_url
        if url is not None and (urlsplit(url).scheme != "https" or urlsplit(url).path in ("", "/")):
            raise ConfigurationError(f"the client metadata document {url!r} is no https:// address with a path")

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not be shown."""
        return () if self.client_secret is None else (self.client_secret,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCredentials:
    """A program signs in with a client's secret, without a person.

    Attributes:
        client_id: The client.
        client_secret: Its secret; not in the `repr`.
        issuer: The authorization server they belong to. They are sent to no other, whatever the MCP server says.
        scope: What to ask for beside what the server demands, separated by spaces.
        method: How the secret is sent.
    """

    client_id: str
    client_secret: str = field(repr=False)
    issuer: str
    scope: str | None = None
    method: SecretMethod = "client_secret_basic"

    def __post_init__(self) -> None:
        _check_issuer(self.issuer)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not be shown."""
        return (self.client_secret,)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateKeyJWT:
    """A program signs in with an assertion that it signs with a private key, without a person.

    Attributes:
        client_id: The client.
        private_key: The key, as PEM text; not in the `repr`.
        issuer: The authorization server that knows the public key.
        scope: What to ask for beside what the server demands, separated by spaces.
        algorithm: Of the signature, such as `RS256` or `ES256`.
    """

    client_id: str
    private_key: str = field(repr=False)
    issuer: str
    scope: str | None = None
    algorithm: str = "RS256"

    def __post_init__(self) -> None:
        _check_issuer(self.issuer)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not be shown."""
        return (self.private_key,)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnterpriseManaged:
    """The company's identity provider decides: its ID token is exchanged for an assertion, that for an access token.

    Source: SEP-990, Enterprise-Managed Authorization.

    Attributes:
        client_id: The client at the MCP server's authorization server.
        client_secret: Its secret; not in the `repr`.
        issuer: The MCP server's authorization server.
        idp_token_endpoint: Where the identity provider exchanges tokens (RFC 8693).
        idp_client_id: The client at the identity provider.
        id_token: The person's ID token; not in the `repr`.
        idp_client_secret: Secret of the client at the identity provider, None for a public one; not in the `repr`.
        scope: What to ask for beside what the server demands, separated by spaces.
        method: How the client's secret is sent.
    """

    client_id: str
    client_secret: str = field(repr=False)
    issuer: str
    idp_token_endpoint: str
    idp_client_id: str
    id_token: str = field(repr=False)
    idp_client_secret: str | None = field(default=None, repr=False)
    scope: str | None = None
    method: SecretMethod = "client_secret_basic"

    def __post_init__(self) -> None:
        _check_issuer(self.issuer)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not be shown."""
        secrets = (self.client_secret, self.id_token, self.idp_client_secret)
        return tuple(secret for secret in secrets if secret is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadIdentity:
    """A program signs in with the identity that its platform gives it, a signed assertion.

    Source: SEP-1933, Workload Identity Federation; the grant is that of RFC 7523.

    Attributes:
        client_id: The client at the authorization server.
        assertion: The platform's signed token, its audience being the issuer; not in the `repr`.
        issuer: The authorization server that trusts the platform.
        scope: What to ask for beside what the server demands, separated by spaces.
    """

    client_id: str
    assertion: str = field(repr=False)
    issuer: str
    scope: str | None = None

    def __post_init__(self) -> None:
        _check_issuer(self.issuer)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Values that must not be shown."""
        return (self.assertion,)


Auth: TypeAlias = OAuth | ClientCredentials | PrivateKeyJWT | EnterpriseManaged | WorkloadIdentity
"""How to sign in at a server."""


def chosen_urls(auth: Auth | None) -> tuple[str, ...]:
    """The addresses that whoever set up the sign-in named; others come from servers."""
    if auth is None:
        return ()
    exchange = auth.idp_token_endpoint if isinstance(auth, EnterpriseManaged) else None
    return tuple(url for url in (auth.issuer, exchange) if url is not None)
