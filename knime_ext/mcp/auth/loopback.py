"""A person with a browser on this machine; the way back is a port that only this machine can reach (RFC 8252)."""

from __future__ import annotations

import asyncio
import secrets
import socket
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

from knime_ext.errors import MCPAuthError

__all__ = ["LoopbackPerson", "checked_page"]

HOST = "127.0.0.1"
PATH = "/callback"
MAX_BYTES = 64 * 1024
READ_SECONDS = 10.0

_PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>KNIME MCP</title>"
    "<body style='font-family:sans-serif;margin:3em'><h1>{title}</h1><p>{text}</p>"
)


def checked_page(url: str) -> str:
    """The page that a person is sent to.

    Raises:
        MCPAuthError: It is none that a browser should be given: an authorization server chooses this address.
    """
    parts = urlsplit(url)
    is_local = parts.hostname in ("127.0.0.1", "::1", "localhost")
    if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and is_local)):
        raise MCPAuthError(
            f"the authorization server's page is no https:// address (it begins with {url[:30]!r}); do not use it"
        )
    return url


class LoopbackPerson:
    """Shows a person where to sign in and waits until the browser comes back.

    A context manager that holds the port.

    Args:
        show: Called with the address of the page.
        port: Port to come back to, 0 for any that is free.
        seconds: How long to wait.
        browser: Opens a page, True if it could; None opens none, so that the person has to.
    """

    def __init__(
        self,
        show: Callable[[str], None],
        *,
        port: int = 0,
        seconds: float = 300.0,
        browser: Callable[[str], bool] | None = webbrowser.open,
    ) -> None:
        self._show = show
        self._port = port
        self._seconds = seconds
        self._browser = browser
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        try:
            self._socket = socket.create_server((HOST, self._port))
        except OSError as error:
            raise MCPAuthError(
                f"cannot wait for the browser on port {self._port} ({error.strerror or error}); close what uses the "
                "port, or choose another 'redirect_port'"
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    @property
    def redirect_uri(self) -> str:
        """Where the browser comes back to."""
        assert self._socket is not None, "use it inside `with`"
        return f"http://{HOST}:{self._socket.getsockname()[1]}{PATH}"

    async def authorize(self, url: str) -> str:
        """Shows the page and waits.

        Returns:
            The address that the browser came back to.

        Raises:
            MCPAuthError: The page cannot be opened, or nobody came back in time.
        """
        assert self._socket is not None, "use it inside `with`"
        page = checked_page(url)
        state = parse_qs(urlsplit(page).query).get("state", [""])[0]
        arrived: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
                await _serve(reader, writer, state, arrived)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

        server = await asyncio.start_server(answer, sock=self._socket.dup(), limit=MAX_BYTES)
        async with server:
            self._show(page)
            if self._browser is not None:
                await asyncio.to_thread(self._browser, page)
            try:
                target = await asyncio.wait_for(arrived, self._seconds)
            except TimeoutError:
                raise MCPAuthError(f"nobody signed in within {self._seconds:g} s; try again") from None
        return f"http://{HOST}{target}"


async def _serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, state: str, arrived: asyncio.Future[str]
) -> None:
    """Answers one request. Only one that knows the state is the browser that was sent away."""
    head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), READ_SECONDS)).decode("latin-1")
    method, _, rest = head.partition(" ")
    target = rest.partition(" ")[0]
    query = parse_qs(urlsplit(target).query)
    is_ours = secrets.compare_digest(query.get("state", [""])[0].encode(), state.encode())
    if method != "GET" or urlsplit(target).path != PATH or not is_ours:
        await _reply(writer, "404 Not Found", "Not here", "This is no answer to the sign-in that is under way.")
        return
    if "error" in query:
        await _reply(writer, "200 OK", "Not signed in", "The server refused; the terminal says more.")
    else:
        await _reply(writer, "200 OK", "Signed in", "You can close this window and go back to the terminal.")
    if not arrived.done():
        arrived.set_result(target)


async def _reply(writer: asyncio.StreamWriter, status: str, title: str, text: str) -> None:
    body = _PAGE.format(title=title, text=text).encode()
    writer.write(
        f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n".encode()
        + body
    )
    await writer.drain()
