"""The gate that every request to one server passes: it asks the egress policy and connects to what it has checked.

A name is resolved here, once per connection, every address is checked, and the connection goes to those addresses and
no others: a name that means something else a moment later changes nothing. Requests of sign-in flows and redirects go
through the same gate.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

import anyio
import httpcore2
import httpx2

from knime_ext.errors import EgressDenied
from knime_ext.mcp.egress import EgressPolicy, Origin
from knime_ext.mcp.egress_rules import Target
from knime_ext.mcp.reach import Address, Reach, address_in, reach_of

__all__ = ["AddressRefused", "DirectTransport", "EgressGate", "ProxiedTransport", "first_connection"]

_CONNECT_DELAY = 0.25
"""Seconds before the next address of a name is tried beside a slow one (RFC 8305)."""


_requested: ContextVar[str] = ContextVar("knime_mcp_requested")
"""The URL for which a connection is made; the HTTP library only hands host and port on."""


_sending: ContextVar[str] = ContextVar("knime_mcp_sending")
"""The URL of the request that the client was asked to send, of which the one on its way may be a consequence."""


class AddressRefused(httpx2.ConnectError):
    """The egress policy stopped a request; the text says which rule."""


class EgressGate:
    """The egress policy as it applies to one server.

    Args:
        policy: The policy.
        url: The server's endpoint.
        origin: Where that URL comes from.
        headers: The server's own headers, which only it may see.
        chosen: More URLs that come from where the endpoint comes from, such as that of its authorization server.
    """

    def __init__(
        self,
        policy: EgressPolicy,
        url: str,
        origin: Origin,
        headers: Mapping[str, str],
        chosen: Iterable[str] = (),
    ) -> None:
        self._policy = policy
        self._url = url
        self._own = Target.of(url)
        self._origin: Origin = origin
        self._chosen = frozenset(map(Target.of, chosen))
        self._headers = dict(headers)
        self._near = Reach.PUBLIC

    def admit(self, url: str | None = None) -> None:
        """Checks a URL by itself, before anything is resolved or sent; without one, the server's own.

        Raises:
            EgressDenied: The policy does not let it pass.
        """
        self._check(self._url if url is None else url, None, is_preview=True)

    def admit_unresolved(self, url: str) -> None:
        """Checks a URL whose name somebody else resolves: the operator's proxy.

        Raises:
            EgressDenied: The policy does not let it pass.
        """
        self._check(url, None, is_preview=False)

    def admit_addresses(self, url: str, addresses: Iterable[Address]) -> None:
        """Checks what a name turned out to mean; one bad address spoils it.

        Raises:
            EgressDenied: The policy does not let it pass.
        """
        for address in addresses:
            self._check(url, address, is_preview=False)
            if self._is_own(Target.of(url)):
                self._near = max(self._near, reach_of(address))

    def strip(self, request: httpx2.Request) -> None:
        """Takes the server's credentials out of a request that goes to somebody else."""
        if self._is_own(Target.of(str(request.url))):
            return
        for name, value in self._headers.items():
            if request.headers.get(name) == value:
                del request.headers[name]

    @contextmanager
    def sending(self, url: str) -> Generator[None]:
        """Says that everything sent inside is a consequence of a request to this URL."""
        token = _sending.set(url)
        try:
            yield
        finally:
            _sending.reset(token)

    def _check(self, url: str, address: Address | None, *, is_preview: bool) -> None:
        target = Target.of(url)
        # A request that was sent to the server and goes elsewhere belongs to its sign-in.
        link: Origin = "metadata" if self._is_own(Target.of(_sending.get(self._url))) else "redirect"
        origin: Origin = self._origin if self._is_own(target) or target in self._chosen else link
        # What a person or the operator chose may lead where it is itself; a row may not even lead there.
        near = self._near if self._policy.trusts(self._origin) else Reach.PUBLIC
        self._policy.check(url, origin, address=address, near=near, is_preview=is_preview)

    def _is_own(self, target: Target) -> bool:
        """Whether a target is the server: same scheme, host and port, or the same host over https instead of http."""
        if target == self._own:
            return True
        upgrade = (self._own.scheme, self._own.port, target.scheme, target.port) == ("http", 80, "https", 443)
        return upgrade and target.host == self._own.host


class _CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Resolves names itself and connects to the addresses that the gate let pass."""

    def __init__(self, gate: EgressGate) -> None:
        self._gate = gate
        self._inner = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connects to one of the checked addresses of a host, the first that answers."""

        async def connect(address: Address) -> httpcore2.AsyncNetworkStream:
            return await self._inner.connect_tcp(str(address), port, None, local_address, socket_options)

        try:
            with anyio.fail_after(timeout):
                addresses = await _resolved(host, port)
                self._gate.admit_addresses(_requested.get(), addresses)
                return await first_connection(connect, addresses)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"no connection within {timeout:g} s") from error

    async def sleep(self, seconds: float) -> None:
        """Waits."""
        await anyio.sleep(seconds)


async def _resolved(host: str, port: int) -> list[Address]:
    """The addresses of a host, in the order in which the system prefers them."""
    literal = address_in(host)
    if literal is not None:
        return [literal]
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpcore2.ConnectError(str(error)) from error
    addresses = (address_in(str(entry[4][0])) for entry in found)
    return list(dict.fromkeys(address for address in addresses if address is not None))


async def first_connection(
    connect: Callable[[Address], Awaitable[httpcore2.AsyncNetworkStream]], addresses: Sequence[Address]
) -> httpcore2.AsyncNetworkStream:
    """The first connection that comes about; the next address is tried beside one that is slow."""
    connected: list[httpcore2.AsyncNetworkStream] = []
    failures: list[Exception] = [httpcore2.ConnectError("the name has no address")]

    async def attempt(address: Address, done: anyio.Event) -> None:
        try:
            stream = await connect(address)
            if connected:
                await stream.aclose()
            else:
                connected.append(stream)
                tasks.cancel_scope.cancel()
        except httpcore2.ConnectError as error:
            failures.append(error)
        finally:
            done.set()

    try:
        async with anyio.create_task_group() as tasks:
            for address in addresses:
                done = anyio.Event()
                tasks.start_soon(attempt, address, done)
                with anyio.move_on_after(_CONNECT_DELAY):
                    await done.wait()
    except BaseException:
        # Given up at the moment in which the connection came about: nobody else knows of it.
        with anyio.CancelScope(shield=True):
            for stream in connected:
                await stream.aclose()
        raise
    if connected:
        return connected[0]
    raise failures[-1]


class _GatedTransport(httpx2.AsyncHTTPTransport):
    """A transport that sends nothing past the gate, whoever made the request.

    Args:
        gate: The gate.
        admit: How it checks a URL before it is sent.
        options: Of the transport.
    """

    def __init__(self, gate: EgressGate, admit: Callable[[str], None], **options: Any) -> None:
        super().__init__(**options)
        self._gate = gate
        self._admit = admit

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Sends a request if the policy lets it pass, without credentials that are meant for somebody else."""
        token = _requested.set(str(request.url))
        try:
            self._admit(str(request.url))
            self._gate.strip(request)
            return await super().handle_async_request(request)
        except EgressDenied as denied:
            raise AddressRefused(str(denied)) from denied
        finally:
            _requested.reset(token)


class DirectTransport(_GatedTransport):
    """Connects by itself, to addresses that were checked."""

    def __init__(self, gate: EgressGate, *, verify: Any, limits: httpx2.Limits) -> None:
        super().__init__(gate, gate.admit, verify=verify, limits=limits)
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=verify,
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=_CheckedBackend(gate),
        )


class ProxiedTransport(_GatedTransport):
    """Sends through the proxy that the operator named in the environment, which resolves names itself."""

    def __init__(self, gate: EgressGate, proxy: Any, *, verify: Any, limits: httpx2.Limits) -> None:
        super().__init__(gate, gate.admit_unresolved, proxy=proxy, verify=verify, limits=limits)
