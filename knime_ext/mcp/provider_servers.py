"""A provider as the server value that sessions are opened with: variables replaced, files of secrets read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import SecretStr

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.placeholders import resolved
from knime_ext.mcp.provider_models import (
    AuthSettings,
    ClientCredentialsSettings,
    EnterpriseManagedSettings,
    OAuthSettings,
    PrivateKeyJWTSettings,
    Provider,
    SizeLimits,
    SSEProvider,
    StdioProvider,
    TimeLimits,
)
from knime_ext.mcp.servers import Limits, Server, SSEServer, StdioServer, StreamableHTTPServer, Timeouts
from knime_ext.mcp.sign_in import (
    Auth,
    ClientCredentials,
    EnterpriseManaged,
    OAuth,
    PrivateKeyJWT,
    WorkloadIdentity,
)

__all__ = ["to_server"]

_Text = Callable[[str | SecretStr, str], str]
"""A text with its variables replaced, and the field that it stands in."""


def to_server(provider: Provider, environment: Mapping[str, str]) -> Server:
    """The server that a provider describes.

    Args:
        provider: The provider.
        environment: Values of the variables.

    Raises:
        ConfigurationError: A variable is not set, a file cannot be read, or the address is none once its variables
            are replaced.
    """

    def text(value: str | SecretStr, field: str) -> str:
        plain = value.get_secret_value() if isinstance(value, SecretStr) else value
        return resolved(plain, environment, f"{field!r} of provider {provider.name!r}")

    timeouts, limits = _timeouts(provider.timeouts), _limits(provider.limits)
    if isinstance(provider, StdioProvider):
        return StdioServer(
            provider.name,
            text(provider.command, "command"),
            tuple(text(word, f"args.{place}") for place, word in enumerate(provider.args)),
            env={name: text(value, f"env.{name}") for name, value in provider.env.items()},
            cwd=None if provider.cwd is None else Path(text(provider.cwd, "cwd")).expanduser(),
            timeouts=timeouts,
            limits=limits,
        )
    headers = {name: text(value, f"headers.{name}") for name, value in provider.headers.items()}
    if provider.bearer_token is not None:
        headers["Authorization"] = f"Bearer {text(provider.bearer_token, 'bearer_token')}"
    kind = SSEServer if isinstance(provider, SSEProvider) else StreamableHTTPServer
    auth = None if provider.auth is None else _auth(provider.auth, provider.name, text)
    return kind(text(provider.url, "url"), headers=headers, timeouts=timeouts, limits=limits, auth=auth)


def _timeouts(limits: TimeLimits) -> Timeouts:
    return replace(Timeouts(), **limits.model_dump(exclude_none=True))


def _limits(limits: SizeLimits) -> Limits:
    return replace(Limits(), **limits.model_dump(exclude_none=True))


def _auth(settings: AuthSettings, name: str, text: _Text) -> Auth:
    def optional(value: str | SecretStr | None, field: str) -> str | None:
        return None if value is None else text(value, f"auth.{field}")

    client_id = optional(settings.client_id, "client_id")
    issuer = optional(settings.issuer, "issuer")
    scope = optional(settings.scope, "scope")
    if isinstance(settings, OAuthSettings):
        return OAuth(
            account=name,
            client_id=client_id,
            client_secret=optional(settings.client_secret, "client_secret"),
            client_metadata_url=optional(settings.client_metadata_url, "client_metadata_url"),
            issuer=issuer,
            scope=scope,
            redirect_port=settings.redirect_port,
        )
    assert client_id is not None and issuer is not None  # the others require them
    if isinstance(settings, ClientCredentialsSettings):
        secret = text(settings.client_secret, "auth.client_secret")
        return ClientCredentials(
            client_id=client_id, client_secret=secret, issuer=issuer, scope=scope, method=settings.method
        )
    if isinstance(settings, PrivateKeyJWTSettings):
        key = _secret(settings.private_key, settings.private_key_file, "private_key", name, text)
        algorithm = text(settings.algorithm, "auth.algorithm")
        return PrivateKeyJWT(client_id=client_id, private_key=key, issuer=issuer, scope=scope, algorithm=algorithm)
    if isinstance(settings, EnterpriseManagedSettings):
        return EnterpriseManaged(
            client_id=client_id,
            client_secret=text(settings.client_secret, "auth.client_secret"),
            issuer=issuer,
            idp_token_endpoint=text(settings.idp_token_endpoint, "auth.idp_token_endpoint"),
            idp_client_id=text(settings.idp_client_id, "auth.idp_client_id"),
            idp_client_secret=optional(settings.idp_client_secret, "idp_client_secret"),
            id_token=text(settings.id_token, "auth.id_token"),
            scope=scope,
            method=settings.method,
        )
    assertion = _secret(settings.assertion, settings.assertion_file, "assertion", name, text)
    return WorkloadIdentity(client_id=client_id, assertion=assertion, issuer=issuer, scope=scope)


def _secret(value: SecretStr | None, file: Path | None, field: str, name: str, text: _Text) -> str:
    """A secret that stands in the file of providers or in a file of its own."""
    if file is None:
        return text(value or SecretStr(""), f"auth.{field}")
    path = Path(text(str(file), f"auth.{field}_file")).expanduser()
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ConfigurationError(
            f"cannot read {str(path)!r}, which 'auth.{field}_file' of provider {name!r} names: {reason}"
        ) from None
