"""Which server somebody means who names a URL, a provider or a server value."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.servers import HTTPServer, Server, StdioServer, URLServer

if TYPE_CHECKING:
    from knime_ext.mcp.provider_models import Provider

__all__ = ["NamedServers", "ProviderMap", "ServerChoice", "choose_server", "unknown_provider", "with_credentials"]

ProviderMap: TypeAlias = "Mapping[str, Server] | Mapping[str, Provider]"
"""Registered servers by name: as servers, or as providers whose variables are still to be replaced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerChoice:
    """A server, and the name that it is registered under, if it is."""

    server: Server
    provider: str | None = None


def choose_server(which: Server | str, providers: ProviderMap | None = None) -> ServerChoice:
    """The server that is meant.

    Args:
        which: A server value, an http or https URL, the name of a provider, or `stdio:NAME` of one.
        providers: Registered servers by name; None for the operator's own.

    Raises:
        ConfigurationError: The address is none, or there is no such provider, or it cannot be used.
    """
    if not isinstance(which, str):
        return ServerChoice(server=which, provider=which.name if isinstance(which, StdioServer) else None)
    name = which.removeprefix("stdio:")
    if "://" in name or "/" in name:
        return ServerChoice(server=URLServer(which))
    return ServerChoice(server=_registered(name, providers), provider=name)


def _registered(name: str, providers: ProviderMap | None) -> Server:
    from knime_ext.mcp.providers import Providers, load_providers

    known = load_providers() if providers is None else providers
    if isinstance(known, Providers):
        return known.server(name)
    found = known.get(name)
    if found is None:
        raise unknown_provider(name, known)
    return found if isinstance(found, HTTPServer | StdioServer) else Providers([found]).server(found.name)


class NamedServers(Mapping[str, Server]):
    """Registered servers by name, each made when it is first asked for and then kept.

    Asking for one that cannot be used raises a ConfigurationError that says why.
    """

    def __init__(self, providers: ProviderMap) -> None:
        self._providers = providers
        self._made: dict[str, Server] = {}

    def __getitem__(self, name: str) -> Server:
        if name not in self._providers:
            raise KeyError(name)
        if name not in self._made:
            self._made[name] = _registered(name, self._providers)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._providers)

    def __len__(self) -> int:
        return len(self._providers)


def unknown_provider(name: str, known: Iterable[str]) -> ConfigurationError:
    """The error for a name that no provider has."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(map(repr, names)) or 'none'}"
    return ConfigurationError(f"no provider {name!r} is registered; {hint}")


def with_credentials(server: Server, token: str | None, headers: Mapping[str, str] | None) -> Server:
    """The server with a bearer token and more headers, which replace its own of the same names.

    Raises:
        ConfigurationError: The server is a program and takes neither.
    """
    added = dict(headers or {}) | ({"Authorization": f"Bearer {token}"} if token else {})
    if not added:
        return server
    if isinstance(server, StdioServer):
        raise ConfigurationError(
            f"server {server.uri!r} is a program and takes no token and no headers; put its credentials into `env`"
        )
    replaced = {name.lower() for name in added}
    kept = {name: value for name, value in server.headers.items() if name.lower() not in replaced}
    # A token that is given takes the place of a sign-in, which would overwrite it.
    auth = None if "authorization" in replaced else server.auth
    return replace(server, headers=kept | added, auth=auth)
