"""What the operator's file says about a provider: the form of its entries. Nothing is looked up or opened here."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    model_validator,
)

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.placeholders import has_placeholder
from knime_ext.mcp.servers import Server

__all__ = [
    "AuthSettings",
    "ClientCredentialsSettings",
    "EnterpriseManagedSettings",
    "HTTPProvider",
    "OAuthSettings",
    "PrivateKeyJWTSettings",
    "Provider",
    "SSEProvider",
    "SizeLimits",
    "StdioProvider",
    "TimeLimits",
    "WorkloadIdentitySettings",
    "check_name",
]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_SECRET_WORDS = re.compile(r"key|token|secret|password|passwd|signature|^sig$|^auth", re.IGNORECASE)
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def check_name(name: str) -> str:
    """Rows refer to a provider by its name, `stdio:NAME`, and files may be called by it."""
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no name for a provider; use letters, digits, '.', '_' and '-', at most 64, and begin with a "
            "letter or digit"
        )
    return name


def _check_url(url: str) -> str:
    """What can be said before the variables are known; an address is shown in rows and messages, so no secrets."""
    if "@" in url.partition("//")[2].partition("/")[0]:
        raise ValueError("holds a user or password; put credentials into 'bearer_token', 'headers' or 'auth'")
    query = url.partition("?")[2]
    named = [name for name, _ in parse_qsl(query, keep_blank_values=True) if _SECRET_WORDS.search(name)]
    if named or has_placeholder(query):
        what = repr(named[0]) if named else "a variable"
        raise ValueError(
            f"holds {what} after the '?', and rows show the address; put credentials into 'bearer_token', 'headers' "
            "or 'auth'"
        )
    if not has_placeholder(url) and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc):
        raise ValueError("is no http:// or https:// address; correct it")
    return url


def _check_headers(headers: Mapping[str, SecretStr]) -> Mapping[str, SecretStr]:
    for name, value in headers.items():
        if not _HEADER.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a header")
        if re.search(r"[\r\n\0]", value.get_secret_value()):
            raise ValueError(f"the value of header {name!r} has several lines")
    return headers


Name = Annotated[str, AfterValidator(check_name)]
URL = Annotated[str, AfterValidator(_check_url)]
Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TimeLimits(_Strict):
    """Time limits in seconds; what is absent has the default.

    Attributes:
        connect: For reaching the server and shaking hands.
        list: For the whole list of tools.
        call: For one call, or for its silences if the server reports progress.
        total: For one call, however much progress is reported.
        unused: For an open session that nobody uses.
    """

    connect: PositiveFloat | None = None
    list: PositiveFloat | None = None
    call: PositiveFloat | None = None
    total: PositiveFloat | None = None
    unused: PositiveFloat | None = None


class SizeLimits(_Strict):
    """How much a server may send; what is absent has the default. See `knime_ext.mcp.Limits`."""

    answer_bytes: PositiveInt | None = None
    pages: PositiveInt | None = None
    tools: PositiveInt | None = None
    listing_bytes: PositiveInt | None = None
    schema_bytes: PositiveInt | None = None
    schema_depth: PositiveInt | None = None
    description_chars: PositiveInt | None = None


class OAuthSettings(_Strict):
    """A person signs in: `knime-mcp auth login NAME`. See `knime_ext.mcp.OAuth`."""

    type: Literal["oauth"] = "oauth"
    client_id: Text | None = None
    client_secret: SecretStr | None = None
    client_metadata_url: Text | None = None
    issuer: Text | None = None
    scope: str | None = None
    redirect_port: Annotated[int, Field(ge=0, le=65535)] = 0

    @model_validator(mode="after")
    def _secret_has_client(self) -> Self:
        if self.client_secret is not None and self.client_id is None:
            raise ValueError("'client_secret' needs its 'client_id'")
        if self.client_secret is not None and self.issuer is None:
            raise ValueError("'client_secret' needs the 'issuer' that it belongs to, so that it goes nowhere else")
        return self


class ClientCredentialsSettings(_Strict):
    """A program signs in with a client's secret. See `knime_ext.mcp.ClientCredentials`."""

    type: Literal["client_credentials"] = "client_credentials"
    client_id: Text
    client_secret: SecretStr
    issuer: Text
    scope: str | None = None
    method: Literal["client_secret_basic", "client_secret_post"] = "client_secret_basic"


class PrivateKeyJWTSettings(_Strict):
    """A program signs in with a private key, given as PEM text or as a file. See `knime_ext.mcp.PrivateKeyJWT`."""

    type: Literal["private_key_jwt"] = "private_key_jwt"
    client_id: Text
    private_key: SecretStr | None = None
    private_key_file: Path | None = None
    issuer: Text
    scope: str | None = None
    algorithm: Text = "RS256"

    @model_validator(mode="after")
    def _one_key(self) -> Self:
        if (self.private_key is None) == (self.private_key_file is None):
            raise ValueError("give either 'private_key' or 'private_key_file'")
        return self


class EnterpriseManagedSettings(_Strict):
    """The company's identity provider decides. See `knime_ext.mcp.EnterpriseManaged`."""

    type: Literal["enterprise_managed"] = "enterprise_managed"
    client_id: Text
    client_secret: SecretStr
    issuer: Text
    idp_token_endpoint: Text
    idp_client_id: Text
    idp_client_secret: SecretStr | None = None
    id_token: SecretStr
    scope: str | None = None
    method: Literal["client_secret_basic", "client_secret_post"] = "client_secret_basic"


class WorkloadIdentitySettings(_Strict):
    """A program signs in with its platform's identity, given as text or as a file.

    See `knime_ext.mcp.WorkloadIdentity`.
    """

    type: Literal["workload_identity"] = "workload_identity"
    client_id: Text
    assertion: SecretStr | None = None
    assertion_file: Path | None = None
    issuer: Text
    scope: str | None = None

    @model_validator(mode="after")
    def _one_assertion(self) -> Self:
        if (self.assertion is None) == (self.assertion_file is None):
            raise ValueError("give either 'assertion' or 'assertion_file'")
        return self


AuthSettings: TypeAlias = Annotated[
    OAuthSettings
    | ClientCredentialsSettings
    | PrivateKeyJWTSettings
    | EnterpriseManagedSettings
    | WorkloadIdentitySettings,
    Field(discriminator="type"),
]
"""How to sign in at a provider."""


class _Provider(_Strict):
    """What all providers have.

    Attributes:
        name: What rows, workflows and people call it.
        enabled: False for one that must not be used at the moment.
        timeouts: Time limits.
        limits: How much the server may send.
    """

    name: Name
    enabled: bool = True
    timeouts: TimeLimits = TimeLimits()
    limits: SizeLimits = SizeLimits()

    def server(self, environment: Mapping[str, str] | None = None) -> Server:
        """How to reach the provider, its variables replaced.

        Args:
            environment: Values of the variables; None for those of this process.

        Raises:
            ConfigurationError: The provider is switched off, a variable is not set, or a file cannot be read.
        """
        from knime_ext.mcp.provider_servers import to_server

        if not self.enabled:
            raise ConfigurationError(
                f"provider {self.name!r} is switched off; switch it on with `knime-mcp config mcp enable {self.name}`"
            )
        assert isinstance(self, StdioProvider | SSEProvider | HTTPProvider)
        return to_server(self, os.environ if environment is None else environment)


class StdioProvider(_Provider):
    """A server that is started as a child process.

    Attributes:
        command: The program, started without a shell.
        args: Its arguments.
        env: Environment variables for it, beside a few harmless ones. Shown as stars.
        cwd: Its working folder.
    """

    provider_type: Literal["stdio"] = "stdio"
    command: Text
    args: tuple[str, ...] = ()
    env: Mapping[str, SecretStr] = Field(default_factory=dict[str, SecretStr])
    cwd: Text | None = None


class _URLProvider(_Provider):
    url: URL
    bearer_token: SecretStr | None = None
    headers: Annotated[Mapping[str, SecretStr], AfterValidator(_check_headers)] = Field(
        default_factory=dict[str, SecretStr]
    )
    auth: AuthSettings | None = None

    @model_validator(mode="after")
    def _one_authorization(self) -> Self:
        ways = [
            *(["'bearer_token'"] if self.bearer_token is not None else []),
            *(["the header 'Authorization'"] if "authorization" in map(str.lower, self.headers) else []),
            *(["'auth'"] if self.auth is not None else []),
        ]
        if len(ways) > 1:
            raise ValueError(f"{' and '.join(ways)} exclude each other; keep one of them")
        return self


class HTTPProvider(_URLProvider):
    """A server behind a URL that speaks streamable HTTP.

    Attributes:
        url: Its endpoint.
        bearer_token: Sent as `Authorization: Bearer ...`. Shown as stars.
        headers: Sent with every request. Shown as stars.
        auth: How to sign in instead.
    """

    provider_type: Literal["http"] = "http"


class SSEProvider(_URLProvider):
    """A server behind a URL that speaks HTTP+SSE, the older transport; otherwise as `HTTPProvider`."""

    provider_type: Literal["sse"] = "sse"


Provider: TypeAlias = Annotated[StdioProvider | SSEProvider | HTTPProvider, Field(discriminator="provider_type")]
"""A server that the operator registered under a name."""
