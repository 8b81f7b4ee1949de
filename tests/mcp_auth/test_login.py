"""Signing in with a browser that comes back to a port of this machine, and what happens to those who should not."""

import asyncio
import threading
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from knime_ext.errors import ConfigurationError, MCPAuthError
from knime_ext.mcp import StreamableHTTPServer
from knime_ext.mcp.auth import LoopbackPerson, MemoryStore, account_of, account_state, sign_in, sign_out
from knime_ext.mcp.sign_in import ClientCredentials, OAuth
from tests.servers.oauth import ProtectedServer, protected


def browse(page: str) -> bool:
    """A browser: follows redirects until there are none."""
    assert httpx2.get(page, follow_redirects=True, trust_env=False).status_code == 200
    return True


def in_a_thread(run: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=run)
    thread.start()
    return thread


def registered(server: ProtectedServer, **options: object) -> tuple[StreamableHTTPServer, OAuth]:
    auth = OAuth(account="docs", store=MemoryStore(), **options)  # pyright: ignore[reportArgumentType]
    return StreamableHTTPServer(f"{server.url}/mcp", auth=auth), auth


def test_a_browser_signs_in_and_the_tools_are_listed() -> None:
    shown: list[str] = []
    with protected() as server:
        value, _ = registered(server)
        listing = sign_in(value, "docs", shown.append, browser=browse)
        assert [tool.name for tool in listing.definitions] == ["whoami", "admin", "leak"]
        assert shown[0].startswith(f"{server.issuer.url}/authorize?")
        state = account_state(value)
        assert state is not None and state.state == "signed in" and state.is_refreshable
        assert state.issuer == server.issuer.url


def test_signing_in_again_uses_the_same_client_and_port() -> None:
    with protected() as server:
        value, auth = registered(server)
        sign_in(value, "docs", lambda page: None, browser=browse)
        first = account_of(value, auth).load()
        sign_in(value, "docs", lambda page: None, browser=browse)
        second = account_of(value, auth).load()
        assert server.issuer.events.count("register") == 1 and server.issuer.events.count("authorize") == 2
        assert first.client == second.client and first.tokens != second.tokens


def test_without_a_browser_the_page_is_only_shown() -> None:
    threads: list[threading.Thread] = []
    with protected() as server:
        value, _ = registered(server)
        sign_in(value, "docs", lambda page: threads.append(in_a_thread(lambda: browse(page))), browser=None)
        for thread in threads:
            thread.join(30)
        assert account_state(value) is not None and server.issuer.events.count("authorize") == 1


def test_nobody_coming_back_is_an_error_in_time() -> None:
    with protected() as server:
        value, _ = registered(server)
        with pytest.raises(MCPAuthError, match=r"nobody signed in within 0\.2 s"):
            sign_in(value, "docs", lambda page: None, browser=None, seconds=0.2)


def test_a_refusal_of_the_authorization_server_is_told() -> None:
    def refuse(page: str) -> bool:
        query = parse_qs(urlsplit(page).query)
        back, state = query["redirect_uri"][0], query["state"][0]
        browse(f"{back}?error=access_denied&error_description=not+you&state={state}")
        return True

    with protected() as server:
        value, _ = registered(server)
        with pytest.raises(MCPAuthError, match="access_denied: not you"):
            sign_in(value, "docs", lambda page: None, browser=refuse)


def test_somebody_elses_answer_is_turned_away_and_the_sign_in_goes_on() -> None:
    answers: list[int] = []

    def attacked(page: str) -> bool:
        back = parse_qs(urlsplit(page).query)["redirect_uri"][0]
        forgeries = (f"{back}?code=forged&state=forged", f"{back}?code=forged", back.replace("/callback", "/"))
        answers.extend(httpx2.get(forged, trust_env=False).status_code for forged in forgeries)
        return browse(page)

    with protected() as server:
        value, _ = registered(server)
        sign_in(value, "docs", lambda page: None, browser=attacked)
        assert answers == [404, 404, 404]


@pytest.mark.parametrize("page", ["file:///etc/passwd", "javascript:alert(1)", "http://login.example.org/", "--help"])
def test_a_page_that_no_browser_should_be_given_is_refused(page: str) -> None:
    opened: list[str] = []
    with LoopbackPerson(opened.append, browser=lambda page: bool(opened.append(page))) as person:
        with pytest.raises(MCPAuthError, match="https://"):
            asyncio.run(person.authorize(page))
    assert opened == []


def test_a_port_that_is_taken_is_named() -> None:
    with LoopbackPerson(print) as first:
        port = urlsplit(first.redirect_uri).port
        assert port is not None
        with pytest.raises(MCPAuthError, match=f"port {port}"), LoopbackPerson(print, port=port):
            pass


def test_signing_out_forgets_the_tokens_and_revokes_them() -> None:
    with protected() as server:
        value, auth = registered(server)
        sign_in(value, "docs", lambda page: None, browser=browse)
        refresh = account_of(value, auth).load().tokens
        assert refresh is not None
        assert asyncio.run(sign_out(value, "docs")) is None
        assert server.issuer.revoked == [refresh.refresh_token]
        state = account_state(value)
        assert state is not None and state.state == "signed out"
        assert asyncio.run(sign_out(value, "docs")) is None


def test_signing_out_works_when_the_authorization_server_is_gone() -> None:
    with protected() as server:
        value, _ = registered(server)
        sign_in(value, "docs", lambda page: None, browser=browse)
    assert "could not be told" in (asyncio.run(sign_out(value, "docs")) or "")
    state = account_state(value)
    assert state is not None and state.state == "signed out"


def test_servers_that_no_person_signs_in_at_say_so() -> None:
    auth = ClientCredentials(client_id="a", client_secret="b", issuer="https://login.example.org")
    with pytest.raises(ConfigurationError, match="by a program"):
        sign_in(StreamableHTTPServer("http://127.0.0.1:9/mcp", auth=auth), "docs", print, browser=None)
    with pytest.raises(ConfigurationError, match="wants no sign-in"):
        sign_in(StreamableHTTPServer("http://127.0.0.1:9/mcp"), "docs", print, browser=None)
    state = account_state(StreamableHTTPServer("http://127.0.0.1:9/mcp", auth=auth))
    assert state is not None and state.state == "automatic"
    assert account_state(StreamableHTTPServer("http://127.0.0.1:9/mcp")) is None
