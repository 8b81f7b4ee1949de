"""People and programs sign in at a real authorization server, over our own sessions."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from knime_ext.errors import MCPAuthError, MCPError
from knime_ext.mcp import MCPClient, SessionPool, StreamableHTTPServer, Timeouts
from knime_ext.mcp.auth import MemoryStore, account_of
from knime_ext.mcp.auth.accounts import Account, account_key
from knime_ext.mcp.leased_session import LeasedSession
from knime_ext.mcp.sign_in import (
    Auth,
    ClientCredentials,
    EnterpriseManaged,
    OAuth,
    PrivateKeyJWT,
    WorkloadIdentity,
)
from tests.mcp_auth.people import ObligingPerson
from tests.servers.oauth import JWT_BEARER, TOKEN_EXCHANGE, AuthorizationServer, Grant, ProtectedServer, protected

T = TypeVar("T")
SECONDS = 60


def with_session(server: ProtectedServer, auth: Auth, use: Callable[[LeasedSession], Awaitable[T]]) -> T:
    async def go() -> T:
        async with SessionPool() as pool:
            value = StreamableHTTPServer(f"{server.url}/mcp", auth=auth, timeouts=Timeouts(connect=20))
            return await use(pool.session(value))

    async def bounded() -> T:
        return await asyncio.wait_for(go(), SECONDS)

    return asyncio.run(bounded())


async def whoami(session: LeasedSession) -> str:
    return (await session.call_tool("whoami", {})).text


def test_a_person_signs_in_once_and_the_next_process_uses_the_stored_token() -> None:
    store, person = MemoryStore(), ObligingPerson()
    with protected() as server:
        assert with_session(server, OAuth(person=person, store=store), whoami) == "somebody"
        assert server.issuer.events == ["register", "authorize", "authorization_code"]
        assert with_session(server, OAuth(store=store), whoami) == "somebody"
        assert server.issuer.events == ["register", "authorize", "authorization_code"]


def test_signing_in_uses_pkce_state_and_the_resource() -> None:
    person = ObligingPerson()
    with protected() as server:
        with_session(server, OAuth(person=person, store=MemoryStore()), whoami)
        (page,) = person.pages
        assert "code_challenge_method=S256" in page and "state=" in page and "resource=" in page
        assert server.issuer.forms[0]["resource"] == f"{server.url}/mcp"


def test_a_session_in_the_middle_of_a_run_survives_refreshes() -> None:
    store = MemoryStore()

    async def run(session: LeasedSession) -> None:
        issuer = server.issuer
        for _ in range(3):
            await whoami(session)
            issuer.tokens.clear()  # the server forgets every access token before its time
        await whoami(session)

    with protected() as server:
        with_session(server, OAuth(person=ObligingPerson(), store=store), run)
        assert len(server.sessions) == 1 and {session for session, _ in server.calls} == set(server.sessions)
        assert len({token for _, token in server.calls}) == 4
        assert server.issuer.events.count("refresh_token") == 3 and server.issuer.events.count("authorize") == 1


def test_a_token_is_refreshed_before_it_ends() -> None:
    store = MemoryStore()

    async def run(session: LeasedSession) -> int:
        await whoami(session)
        before = server.authorizations.count("") + _refused(server)
        deadline = asyncio.get_running_loop().time() + 20
        while server.issuer.events.count("refresh_token") < 2:
            assert asyncio.get_running_loop().time() < deadline
            await whoami(session)
            await asyncio.sleep(0.05)
        return _refused(server) + server.authorizations.count("") - before

    with protected(AuthorizationServer(life=2)) as server:
        assert with_session(server, OAuth(person=ObligingPerson(), store=store), run) == 0
        assert len(server.sessions) == 1


DAY = 24 * 3600.0


@pytest.mark.parametrize("told", [0.0, 1.0, -DAY])
def test_a_token_that_is_said_to_end_at_once_is_used_and_refreshed_at_most_once_per_request(told: float) -> None:
    async def run(session: LeasedSession) -> list[str]:
        return [await whoami(session) for _ in range(5)]

    with protected(AuthorizationServer(told_life=told)) as server:
        assert with_session(server, OAuth(person=ObligingPerson(), store=MemoryStore()), run) == ["somebody"] * 5
        assert server.issuer.events.count("authorize") == 1
        assert server.issuer.events.count("refresh_token") <= len(server.authorizations)


@pytest.mark.parametrize("ahead", [-DAY, DAY])
def test_a_clock_that_was_wrong_when_a_token_was_stored_costs_one_refresh_and_no_sign_in(ahead: float) -> None:
    store, person = MemoryStore(), ObligingPerson()
    with protected() as server:
        assert with_session(server, OAuth(person=person, store=store), whoami) == "somebody"
        key = account_key("", f"{server.url}/mcp")
        account = Account.model_validate_json(store.get(key) or "")
        assert account.expires_at is not None
        account.expires_at += ahead
        store.set(key, account.model_dump_json(exclude_none=True))
        if ahead > 0:
            server.issuer.tokens.clear()  # what the clock takes for valid ended long ago
        assert with_session(server, OAuth(store=store), whoami) == "somebody"
        assert server.issuer.events == ["register", "authorize", "authorization_code", "refresh_token"]


def test_tokens_that_are_dead_on_arrival_are_an_error_after_few_tries() -> None:
    with protected(AuthorizationServer(life=-1, told_life=DAY)) as server:
        with pytest.raises(MCPAuthError):
            with_session(server, OAuth(person=ObligingPerson(), store=MemoryStore()), whoami)
        assert len(server.issuer.events) < 10


def test_a_given_token_that_has_ended_is_refused_in_a_sentence_and_a_new_one_is_welcome() -> None:
    with protected() as server:
        old, new = "expired-4f1d9c", "fresh-8b2e7a"
        server.issuer.tokens[old] = Grant("", time.monotonic() - 1, "client")
        server.issuer.tokens[new] = Grant("", time.monotonic() + 60, "client")
        with MCPClient(f"{server.url}/mcp", token=old) as client, pytest.raises(MCPAuthError) as caught:
            client.call_tool("whoami")
        assert "refused the credentials (HTTP 401)" in str(caught.value) and old not in str(caught.value)
        with MCPClient(f"{server.url}/mcp", token=new) as client:
            assert client.call_tool("whoami").text == "somebody"


def _refused(server: ProtectedServer) -> int:
    known = server.issuer.tokens
    return sum(header != "" and header.removeprefix("Bearer ") not in known for header in server.authorizations)


def test_many_calls_at_once_refresh_once() -> None:
    async def run(session: LeasedSession) -> None:
        await whoami(session)
        server.issuer.tokens.clear()
        await asyncio.gather(*(whoami(session) for _ in range(20)))

    with protected() as server:
        with_session(server, OAuth(person=ObligingPerson(), store=MemoryStore()), run)
        assert server.issuer.events.count("refresh_token") == 1
        assert len(server.calls) == 21


def test_tokens_that_another_process_has_refreshed_are_taken_over() -> None:
    store = MemoryStore()

    async def run(session: LeasedSession) -> None:
        await whoami(session)
        server.issuer.tokens.clear()
        # Another process uses the refresh token, which works only once.
        thread = threading.Thread(target=with_session, args=(server, OAuth(store=store), whoami))
        thread.start()
        await asyncio.to_thread(thread.join)
        await whoami(session)

    with protected() as server:
        with_session(server, OAuth(person=ObligingPerson(), store=store), run)
        assert server.issuer.events.count("refresh_token") == 1 and server.issuer.events.count("authorize") == 1


def test_without_a_person_a_missing_sign_in_says_what_to_do_and_asks_nobody() -> None:
    with protected() as server:
        with pytest.raises(MCPAuthError, match="knime-mcp auth login docs"):
            with_session(server, OAuth(account="docs", store=MemoryStore()), whoami)
        assert server.issuer.events == []


def test_a_refresh_token_that_is_refused_is_forgotten_and_the_person_asked_to_sign_in_again() -> None:
    store = MemoryStore()
    with protected() as server:
        with_session(server, OAuth(account="docs", person=ObligingPerson(), store=store), whoami)
        server.issuer.tokens.clear()
        server.issuer.refuse_refresh = True
        with pytest.raises(MCPAuthError, match="knime-mcp auth login docs"):
            with_session(server, OAuth(account="docs", store=store), whoami)
        auth = OAuth(account="docs", store=store)
        account = account_of(StreamableHTTPServer(f"{server.url}/mcp", auth=auth), auth).load()
        assert account.tokens is None and account.client is not None


def test_an_authorization_server_that_is_out_of_order_costs_no_tokens() -> None:
    store = MemoryStore()
    auth = OAuth(account="docs", store=store)
    with protected() as server:
        with_session(server, OAuth(account="docs", person=ObligingPerson(), store=store), whoami)
        server.issuer.tokens.clear()
        server.issuer.broken = 503
        with pytest.raises(MCPAuthError, match="503"):
            with_session(server, auth, whoami)
        server.issuer.broken = None
        assert with_session(server, auth, whoami) == "somebody"


def test_a_failed_sign_in_of_one_call_does_not_end_the_session() -> None:
    async def run(session: LeasedSession) -> None:
        await whoami(session)
        server.issuer.tokens.clear()
        server.issuer.broken = 503
        with pytest.raises(MCPAuthError):
            await whoami(session)
        server.issuer.broken = None
        await whoami(session)

    with protected() as server:
        with_session(server, OAuth(person=ObligingPerson(), store=MemoryStore()), run)
        assert len(server.sessions) == 1


def test_more_rights_are_asked_for_when_a_tool_needs_them() -> None:
    async def run(session: LeasedSession) -> None:
        await whoami(session)
        await session.call_tool("admin", {})

    with protected() as server:
        server.rights["admin"] = "admin:write"
        person = ObligingPerson()
        with_session(server, OAuth(scope="read", person=person, store=MemoryStore()), run)
        assert "scope=read" in person.pages[0] and len(person.pages) == 2
        assert server.issuer.tokens[server.calls[-1][1]].scope.split() == ["read", "admin:write"]


def test_without_a_person_missing_rights_are_named() -> None:
    store = MemoryStore()

    async def run(session: LeasedSession) -> None:
        await whoami(session)
        with pytest.raises(MCPAuthError, match="'admin:write'.*auth login docs"):
            await session.call_tool("admin", {})
        await whoami(session)

    with protected() as server:
        server.rights["admin"] = "admin:write"
        with_session(server, OAuth(account="docs", person=ObligingPerson(), store=store), whoami)
        with_session(server, OAuth(account="docs", store=store), run)
        assert server.issuer.events.count("authorize") == 1


def test_a_server_that_moves_to_another_authorization_server_gets_a_new_client() -> None:
    store = MemoryStore()
    with protected() as old, protected() as new:
        with_session(old, OAuth(person=ObligingPerson(), store=store), whoami)
        first = set(old.issuer.clients)
        old.issuer = new.issuer
        with_session(old, OAuth(person=ObligingPerson(), store=store), whoami)
        assert new.issuer.events == ["register", "authorize", "authorization_code"]
        assert not first & set(new.issuer.clients)
        assert not any("refresh" in str(form) for form in new.issuer.forms)


def test_a_client_that_belongs_elsewhere_is_not_shown_to_an_authorization_server() -> None:
    with protected() as server:
        auth = OAuth(client_id="mine", issuer="https://login.example.org", person=ObligingPerson(), store=MemoryStore())
        with pytest.raises(MCPAuthError, match="login.example.org"):
            with_session(server, auth, whoami)
        assert server.issuer.events == []


def test_a_client_that_was_registered_beforehand_is_used() -> None:
    with protected(AuthorizationServer(clients={"mine": "its-secret"})) as server:
        auth = OAuth(
            client_id="mine",
            client_secret="its-secret",
            issuer=server.issuer.url,
            person=ObligingPerson(),
            store=MemoryStore(),
        )
        assert with_session(server, auth, whoami) == "somebody"
        assert server.issuer.events == ["authorize", "authorization_code"]


def test_a_metadata_document_takes_the_place_of_a_registration() -> None:
    document = "https://client.example.org/knime-mcp.json"
    with protected(AuthorizationServer(cimd=True, clients={document: None})) as server:
        auth = OAuth(client_metadata_url=document, person=ObligingPerson(), store=MemoryStore())
        assert with_session(server, auth, whoami) == "somebody"
        assert server.issuer.events == ["authorize", "authorization_code"]


def test_a_program_signs_in_with_its_secret() -> None:
    with protected(AuthorizationServer(clients={"robot": "s3cret"})) as server:
        auth = ClientCredentials(client_id="robot", client_secret="s3cret", issuer=server.issuer.url, scope="read")
        assert with_session(server, auth, whoami) == "somebody"
        assert server.issuer.events == ["client_credentials"] and server.issuer.forms[0]["scope"] == "read"


def test_a_program_gets_a_new_token_when_its_old_one_ends() -> None:
    async def run(session: LeasedSession) -> None:
        await whoami(session)
        server.issuer.tokens.clear()
        await asyncio.gather(*(whoami(session) for _ in range(5)))

    with protected(AuthorizationServer(clients={"robot": "s3cret"})) as server:
        auth = ClientCredentials(client_id="robot", client_secret="s3cret", issuer=server.issuer.url)
        with_session(server, auth, run)
        assert server.issuer.events == ["client_credentials"] * 2 and len(server.sessions) == 1


def test_a_secret_is_only_sent_to_the_authorization_server_that_it_belongs_to() -> None:
    with protected(AuthorizationServer(clients={"robot": "s3cret"})) as server:
        auth = ClientCredentials(client_id="robot", client_secret="s3cret", issuer="https://login.example.org")
        with pytest.raises(MCPAuthError, match="'client_id', 'client_secret' and 'issuer'"):
            with_session(server, auth, whoami)
        assert server.issuer.events == []


def test_a_wrong_secret_is_refused_in_a_sentence_without_it() -> None:
    with protected(AuthorizationServer(clients={"robot": "s3cret"})) as server:
        auth = ClientCredentials(client_id="robot", client_secret="wr0ng-canary", issuer=server.issuer.url)
        with pytest.raises(MCPAuthError, match="invalid_client") as caught:
            with_session(server, auth, whoami)
        assert "wr0ng-canary" not in str(caught.value) and server.issuer.events == ["client_credentials"]


def _key_pair() -> tuple[str, str]:
    key = ec.generate_private_key(ec.SECP256R1())
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = key.public_key().public_bytes(encoding, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


def test_a_program_signs_in_with_a_private_key() -> None:
    private, public = _key_pair()
    with protected(AuthorizationServer(public_keys={"robot": public})) as server:
        auth = PrivateKeyJWT(client_id="robot", private_key=private, algorithm="ES256", issuer=server.issuer.url)
        assert with_session(server, auth, whoami) == "somebody"
        assert server.issuer.events == ["client_credentials"]


def test_a_key_that_is_none_is_refused_without_being_shown() -> None:
    with protected() as server:
        auth = PrivateKeyJWT(client_id="robot", private_key="canary-no-key", issuer=server.issuer.url)
        with pytest.raises(MCPAuthError, match="cannot sign with 'RS256'") as caught:
            with_session(server, auth, whoami)
        assert "canary" not in str(caught.value)


def test_a_program_signs_in_with_the_identity_of_its_platform() -> None:
    with protected(AuthorizationServer(clients={"robot": None}, assertions={"from-the-platform"})) as server:
        auth = WorkloadIdentity(client_id="robot", assertion="from-the-platform", issuer=server.issuer.url)
        assert with_session(server, auth, whoami) == "somebody"
        assert server.issuer.events == [JWT_BEARER]


def test_the_identity_provider_of_a_company_decides() -> None:
    clients = {"app": "app-secret", "app-at-idp": None}
    with protected(AuthorizationServer(clients=clients, assertions={"id-token"})) as server:
        auth = EnterpriseManaged(
            client_id="app",
            client_secret="app-secret",
            issuer=server.issuer.url,
            idp_token_endpoint=f"{server.issuer.url}/token",
            idp_client_id="app-at-idp",
            id_token="id-token",
        )

        async def run(session: LeasedSession) -> None:
            await whoami(session)
            server.issuer.tokens.clear()
            await asyncio.gather(*(whoami(session) for _ in range(5)))

        with_session(server, auth, run)
        assert server.issuer.events == [TOKEN_EXCHANGE, JWT_BEARER] * 2 and len(server.sessions) == 1


def test_an_authorization_server_that_cannot_be_reached_is_named() -> None:
    with protected() as server:
        dead = "http://127.0.0.1:9"
        server.issuer.url = dead
        auth = OAuth(account="docs", person=ObligingPerson(), store=MemoryStore())
        with pytest.raises(MCPAuthError, match="cannot reach the authorization server 'http://127.0.0.1:9'"):
            with_session(server, auth, whoami)


def test_no_token_and_no_code_is_in_an_error_a_log_or_a_repr(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    store = MemoryStore()
    auth = OAuth(account="docs", person=ObligingPerson(), store=store)
    texts: list[str] = []

    async def run(session: LeasedSession) -> None:
        await whoami(session)
        texts.append(str(await session.call_tool("leak", {})))
        server.issuer.tokens.clear()
        server.issuer.refuse_refresh = True
        await whoami(session)
        server.issuer.tokens.clear()
        server.issuer.broken = 400
        with pytest.raises(MCPError) as caught:
            await whoami(session)
        texts.append(str(caught.value))

    with protected() as server:
        with_session(server, auth, run)
        value = StreamableHTTPServer(f"{server.url}/mcp", auth=auth)
        texts += [repr(value), repr(auth), repr(account_of(value, auth).load()), repr(account_of(value, auth))]
        # The HTTP library logs every header at the level DEBUG, the browser of our person included.
        records = [record for record in caplog.records if not record.name.startswith("httpcore2")]
        texts += [record.getMessage() + str(record.exc_info) + str(record.exc_text) for record in records]
        everything = "\n".join(texts)
        assert len(server.issuer.secrets) >= 5
        assert [secret for secret in server.issuer.secrets if secret in everything] == []


class SlowPerson(ObligingPerson):
    """Takes longer than a server of the era before 2026 may take to answer the question for its era."""

    async def authorize(self, url: str) -> str:
        before = self.asked
        deadline = asyncio.get_running_loop().time() + 20
        while self.asked - before < 60:
            assert asyncio.get_running_loop().time() < deadline
            await asyncio.sleep(0.1)
            self.asked += 1
        return await super().authorize(url)

    asked = 0


def test_a_person_may_take_longer_than_the_server_may() -> None:
    with protected() as server:
        server.modern = True
        assert with_session(server, OAuth(person=SlowPerson(), store=MemoryStore()), whoami) == "somebody"
        assert server.issuer.events.count("authorize") == 1 and server.sessions == []


def test_a_token_that_a_program_gives_takes_the_place_of_a_sign_in() -> None:
    with protected() as server:
        server.issuer.tokens["given"] = Grant("", float("inf"), "")
        value = StreamableHTTPServer(f"{server.url}/mcp", auth=OAuth(account="docs", store=MemoryStore()))
        with MCPClient(value, token="given") as client:
            assert client.call_tool("whoami").success
        assert server.issuer.events == []
