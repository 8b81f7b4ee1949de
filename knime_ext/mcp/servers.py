"""How to reach an MCP server: frozen values that can key a pool, fill a dialog or be compared.

Values only; nothing here opens a connection. Headers and environment hold secrets, so they never appear in
a `repr`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.sign_in import Auth

__all__ = [
    "HTTPServer",
    "Limits",
    "SSEServer",
    "Server",
    "StdioServer",
    "StreamableHTTPServer",
    "Timeouts",
    "URLServer",
    "server_from_uri",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Time limits in seconds; None is no limit.

    Attributes:
        connect: For reaching the server, or starting it, and the MCP handshake.
        list: For receiving the whole list of tools, all pages.
        call: For one call of a tool, a repetition after a lost session included. Progress that the server reports
            starts it anew, so for slow tools it is a limit on silence.
        total: For one call in any case, however much progress is reported; at least `call`.
        unused: For an open session that nobody uses. Afterwards its connections are closed, and a child process ends;
            the next use opens another.
    """

    connect: float | None = 10.0
    list: float | None = 30.0
    call: float | None = 60.0
    total: float | None = 600.0
    unused: float | None = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a server may send.

    Attributes:
        answer_bytes: Size of one answer: the body of an HTTP response, one server-sent event, one line of stdio.
        pages: Pages of one list of tools.
        tools: Tools in one list, the unusable ones included.
        listing_bytes: Size of the tools of one list together.
        schema_bytes: Size of the schema of a tool's arguments, and of that of its results.
        schema_depth: Levels of nesting in a schema.
        description_chars: Length of a tool's description, and of its name and title.
    """

    answer_bytes: int = 32 * 1024 * 1024
    pages: int = 1_000
    tools: int = 10_000
    listing_bytes: int = 32 * 1024 * 1024
    schema_bytes: int = 256 * 1024
    schema_depth: int = 100
    description_chars: int = 32 * 1024


def _without_user(url: str) -> str:
    scheme, separator, rest = url.partition("//")
    authority, slash, path = rest.partition("/")
    return scheme + separator + authority.rpartition("@")[2] + slash + path


def _check_url(url: str) -> None:
    shown = _without_user(url)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigurationError(f"the server address {shown!r} is not a URL ({error}); correct it") from None
    if parts.scheme not in ("http", "https") or not host or url != url.strip():
        raise ConfigurationError(
            f"the server address {shown!r} is neither an http:// nor an https:// URL nor 'stdio:NAME' of a registered "
            "provider; correct it"
        )
    if "@" in parts.netloc:
        raise ConfigurationError(
            f"the server address {shown!r} holds a user name or password; remove it and register the server as a "
            "provider with the credentials in its headers"
        )


@dataclass(frozen=True, slots=True)
class HTTPServer:
    """What the servers behind a URL have in common.

    Attributes:
        url: The endpoint, http or https, without user and password.
        headers: Sent with every request, such as `{"Authorization": "Bearer ..."}`. Secret: not in the `repr`.
        timeouts: Time limits.
        limits: How much the server may send.
        auth: How to sign in, None if the server wants no sign-in or the headers hold what it wants.

    Raises:
        ConfigurationError: The URL is none, or holds a user or password.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False, hash=False)
    timeouts: Timeouts = Timeouts()
    limits: Limits = Limits()
    auth: Auth | None = None

    def __post_init__(self) -> None:
        _check_url(self.url)
        object.__setattr__(self, "headers", dict(self.headers))

    @property
    def uri(self) -> str:
        """The address that rows hold."""
        return self.url


@dataclass(frozen=True, slots=True)
class SSEServer(HTTPServer):
    """A server that speaks HTTP+SSE, the first HTTP transport of MCP (2024-11-05)."""


@dataclass(frozen=True, slots=True)
class StreamableHTTPServer(HTTPServer):
    """A server that speaks streamable HTTP, today's HTTP transport of MCP."""


@dataclass(frozen=True, slots=True)
class URLServer(HTTPServer):
    """A server of which only the URL is known: streamable HTTP is tried first, HTTP+SSE is the fallback.

    What a URL turns out to speak is remembered for the whole process and forgotten when it stops working.
    """


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A server that is started as a child process and speaks over its standard input and output.

    Attributes:
        name: The name that rows refer to it by, as `stdio:NAME`. Rows never hold the command.
        command: The program; it is started without a shell.
        args: Its arguments.
        env: Environment variables, added to the few harmless ones that every child gets. Secret: not in the `repr`.
        cwd: Working directory.
        timeouts: Time limits.
        limits: How much the server may send.
    """

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False, hash=False)
    cwd: str | Path | None = None
    timeouts: Timeouts = Timeouts()
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        object.__setattr__(self, "args", tuple(self.args))
        object.__setattr__(self, "env", dict(self.env))

    @property
    def uri(self) -> str:
        """The address that rows hold."""
        return f"stdio:{self.name}"


Server: TypeAlias = SSEServer | StreamableHTTPServer | StdioServer | URLServer
"""How to reach one MCP server."""


def server_from_uri(
    uri: str, providers: Mapping[str, Server] | None = None, *, timeouts: Timeouts | None = None
) -> Server:
    """The server that an address in a row means.

    Args:
        uri: An http or https URL, or `stdio:NAME`.
        providers: The servers that the operator registered, by name.
        timeouts: Time limits for a server given by URL; a provider has its own.

    Raises:
        ConfigurationError: The address is none, holds credentials, or names a provider that is not registered.
    """
    if not uri.startswith("stdio:"):
        return URLServer(uri, timeouts=timeouts or Timeouts())
    name = uri.removeprefix("stdio:")
    if providers is None or name not in providers:
        known = ", ".join(map(repr, sorted(providers or ()))) or "none"
        raise ConfigurationError(
            f"no provider {name!r} is registered (known: {known}); a command can only come from a registered "
            "provider, never from a row: register one under that name or correct the address"
        )
    return providers[name]
