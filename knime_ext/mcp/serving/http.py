"""The streamable HTTP transport of a server: loopback unless a token guards it."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import socket
from collections.abc import Callable, Generator, MutableMapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.live_secrets import keep_secret
from knime_ext.mcp.serving.toolset_server import ToolsetServer

__all__ = ["HTTPDoor", "serve_http"]

PATH = "/mcp"
GRACE_SECONDS = 1
"""How long running calls may take to end by themselves when the server is told to stop."""

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class HTTPDoor:
    """Where the server listens and whom it lets in.

    Attributes:
        host: Name or address of the interface.
        port: Port; 0 takes a free one.
        token: What clients must send as `Authorization: Bearer …`; None lets everybody in who can reach it.
        names: Further names that clients may call the host by, such as that of a proxy.

    Raises:
        ConfigurationError: Others could reach the server, and there is no token.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = field(default=None, repr=False)
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.token is None and not self.is_loopback:
            raise ConfigurationError(
                f"on the interface {self.host!r} other computers could call the tools, so a token is needed: put one "
                "into an environment variable and name it with --token-env, or listen on 127.0.0.1"
            )
        if self.token is not None and (not self.token.isascii() or not self.token.isprintable() or " " in self.token):
            raise ConfigurationError("the token holds characters that no HTTP header can carry; choose another one")

    @property
    def is_loopback(self) -> bool:
        """Whether only programs of this computer can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def security(self) -> TransportSecuritySettings:
        """Which `Host` and `Origin` headers are believed: a web page must not reach the server under its own name."""
        names = [*_LOOPBACK_NAMES, _bracketed(self.host), *self.names]
        if not self.is_loopback:
            names += [socket.gethostname(), socket.getfqdn()]
        hosts = list(dict.fromkeys(names))
        return TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[*hosts, *(f"{host}:*" for host in hosts)],
            allowed_origins=[
                f"{scheme}://{host}{port}" for host in hosts for scheme in _SCHEMES for port in ("", ":*")
            ],
        )


_SCHEMES = ("http", "https")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class _BearerGate:
    """Lets requests through that carry the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_known(scope):
            await self._app(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b"a bearer token is needed"})

    def _is_known(self, scope: MutableMapping[str, Any]) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, token = given[0].partition(b" ") if len(given) == 1 else (b"", b"", b"")
        return hmac.compare_digest(scheme.lower().capitalize() + b" " + token.strip(), self._wanted)


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leaves signals to whoever runs the server."""
        yield


async def serve_http(
    server: ToolsetServer, door: HTTPDoor, stop: asyncio.Event, ready: Callable[[str], None] = lambda url: None
) -> None:
    """Serves any number of clients over streamable HTTP until `stop` is set; then running calls are cancelled.

    Args:
        server: What is served.
        door: Where.
        stop: Ends the server.
        ready: Told the URL once the server listens.

    Raises:
        ConfigurationError: The port is taken, or the interface is none of this computer.
    """
    keep_secret(door.token)
    app: ASGIApp = server.wire.streamable_http_app(streamable_http_path=PATH, transport_security=door.security())
    if door.token is not None:
        app = _BearerGate(app, door.token)
    listener = _listener(door)
    ready(f"http://{_bracketed(door.host)}:{listener.getsockname()[1]}{PATH}")
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    listening = _Uvicorn(config)
    serving = asyncio.create_task(listening.serve(sockets=[listener]))
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        listening.should_exit = True
        with suppress(asyncio.CancelledError):
            await serving


def _listener(door: HTTPDoor) -> socket.socket:
    family = socket.AF_INET6 if ":" in door.host else socket.AF_INET
    try:
        return socket.create_server((door.host, door.port), family=family, backlog=128)
    except OSError as error:
        raise ConfigurationError(
            f"cannot listen on {door.host}:{door.port}: {error.strerror or error}; choose another port or interface"
        ) from None
