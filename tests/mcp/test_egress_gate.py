"""The egress policy at work: real servers, real redirects, names that change their meaning."""

import asyncio
import socket
from collections.abc import Generator, Iterator
from ipaddress import IPv4Address
from typing import Any

import anyio
import httpcore2
import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from knime.types.tool import MCPTool
from knime_ext.errors import EgressDenied
from knime_ext.mcp import EgressPolicy, MCPToolCaller, MCPToolset, SessionPool, StreamableHTTPServer, URLServer
from knime_ext.mcp.egress_gate import AddressRefused, EgressGate, first_connection
from knime_ext.mcp.guarded_client import GuardedClient
from knime_ext.mcp.listed import forget_listed
from tests.mcp.bench import listed, run
from tests.servers.legacy import JSON, LegacyServer, serving

STRICT = EgressPolicy()


@pytest.fixture(autouse=True)
def nothing_is_listed() -> Iterator[None]:
    forget_listed()
    yield
    forget_listed()


def row(url: str) -> MCPTool:
    return MCPTool(name="echo", description="", parameter_schema={}, server_uri=url)


def test_a_row_made_elsewhere_cannot_reach_this_computer_and_nothing_is_sent():
    with serving(LegacyServer()) as server:
        with MCPToolCaller(policy=STRICT) as caller, pytest.raises(EgressDenied, match="rule 'rows'"):
            caller.call(row(server.url), {"text": "x"})
        assert server.seen == []


def test_rows_of_a_server_that_this_run_has_listed_can_be_called():
    with serving(LegacyServer()) as server:
        with MCPToolCaller(policy=STRICT) as caller:
            caller.list_tools([URLServer(server.url)])
            assert caller.text(row(server.url), {"text": "x"}) == "x"
        with MCPToolCaller(policy=STRICT) as another:
            assert another.text(row(server.url), {"text": "y"}) == "y"


def test_rows_at_the_address_of_a_registered_provider_can_be_called():
    with serving(LegacyServer()) as server:
        policy = EgressPolicy(preset="server")
        with MCPToolCaller({"it": StreamableHTTPServer(server.url)}, policy=policy) as caller:
            assert caller.text(row(server.url), {"text": "x"}) == "x"


def test_on_a_shared_executor_a_refused_server_is_data_in_its_listing():
    with serving(LegacyServer()) as server:

        async def scenario():
            async with SessionPool(policy=EgressPolicy(preset="server")) as pool:
                return await MCPToolset(URLServer(server.url), pool).list()

        listing = run(scenario())
        assert listing.error is not None and "only registered providers may be used" in listing.error
        assert server.seen == []


def test_a_workflow_of_somebody_else_reaches_nothing_on_this_computer_not_even_by_listing_it_first():
    policy = EgressPolicy(preset="foreign")
    with serving(LegacyServer()) as server, MCPToolCaller(policy=policy) as caller:
        (listing,) = caller.list_tools([URLServer(server.url)])
        assert listing.error is not None and "somebody else has written" in listing.error
        with pytest.raises(EgressDenied):
            caller.text(row(server.url), {"text": "x"})
        assert server.clients == set()
    with serving(LegacyServer()) as server:
        assert listed(URLServer(server.url)).error is None  # as by a person, earlier in the same process
        asked = len(server.seen)
        with MCPToolCaller(policy=policy) as caller, pytest.raises(EgressDenied):
            caller.text(row(server.url), {"text": "x"})
        assert len(server.seen) == asked


def test_a_name_is_stopped_by_what_it_means_and_nothing_is_sent():
    with serving(LegacyServer()) as server:
        port = httpx2.URL(server.url).port
        # Forms of 127.0.0.1 that only the resolver understands.
        for name in ("127.1", "0x7f000001", "2130706433"):
            tool = row(f"https://{name}:{port}/mcp")
            with (
                MCPToolCaller(policy=STRICT) as caller,
                pytest.raises(EgressDenied, match="loopback address 127"),
            ):
                caller.call(tool, {"text": "x"})
        assert server.clients == set()


class RebindingLoop(asyncio.SelectorEventLoop):
    """Every name means 127.0.0.1 when it is asked for first, and 127.0.0.2 from then on."""

    asked: list[str] = []

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> list[Any]:
        self.asked.append(host)
        address = "127.0.0.1" if len(self.asked) == 1 else "127.0.0.2"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]


def test_the_connection_goes_to_the_checked_address_even_if_the_name_changes_its_meaning():
    async def scenario(url: str) -> int:
        policy = EgressPolicy.from_environment({"KNIME_MCP_ALLOW": "127.0.0.1"})
        server = StreamableHTTPServer(url)
        async with GuardedClient(server, EgressGate(policy, url, "row", {})) as client:
            return (await client.post(url, json={"method": "initialize", "id": 1})).status_code

    RebindingLoop.asked.clear()
    with serving(LegacyServer()) as server, asyncio.Runner(loop_factory=RebindingLoop) as runner:
        port = httpx2.URL(server.url).port
        assert runner.run(scenario(f"http://rebind.example:{port}/mcp")) == 200
    assert RebindingLoop.asked == ["rebind.example"]


def test_a_name_that_means_a_forbidden_address_is_not_connected_to():
    class MetadataLoop(RebindingLoop):
        async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> list[Any]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", port))]

    async def scenario() -> None:
        url = "http://innocent.example/mcp"
        async with SessionPool(policy=STRICT) as pool:
            await pool.session(StreamableHTTPServer(url)).connect()

    with asyncio.Runner(loop_factory=MetadataLoop) as runner, pytest.raises(EgressDenied, match="rule 'never'"):
        runner.run(scenario())


def test_headers_of_a_server_do_not_follow_to_another_origin():
    with serving(LegacyServer()) as home, serving(LegacyServer()) as elsewhere:

        async def scenario() -> None:
            server = StreamableHTTPServer(home.url, headers={"Authorization": "Bearer s3cret", "X-Key": "s3cret"})
            gate = EgressGate(STRICT, server.url, "typed", server.headers)
            async with GuardedClient(server, gate) as client:
                await client.post(home.url, json={"method": "initialize", "id": 1})
                await client.post(elsewhere.url, json={"method": "initialize", "id": 1})

        run(scenario())
        assert home.headers[0]["authorization"] == "Bearer s3cret"
        assert "s3cret" not in str(elsewhere.headers)


class Wanderer(httpx2.Auth):
    """A sign-in that first asks somebody else."""

    def __init__(self, elsewhere: str) -> None:
        self.elsewhere = elsewhere

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        yield httpx2.Request("GET", self.elsewhere)
        yield request


def test_requests_of_a_sign_in_pass_the_same_gate():
    with serving(LegacyServer()) as server:

        async def scenario(elsewhere: str, policy: EgressPolicy) -> int:
            known = StreamableHTTPServer(server.url)
            async with GuardedClient(known, EgressGate(policy, known.url, "typed", {})) as client:
                client.auth = Wanderer(elsewhere)
                return (await client.post(known.url, json={"method": "initialize", "id": 1})).status_code

        with pytest.raises(AddressRefused, match="rule 'never'"):
            run(scenario("http://169.254.169.254/latest", EgressPolicy.from_environment({"KNIME_MCP_ALLOW": "*"})))
        with pytest.raises(AddressRefused, match="a server's word about its sign-in, which must use https"):
            run(scenario("http://login.example/token", STRICT))
        assert server.seen == []


def test_a_server_on_this_computer_may_have_its_sign_in_here_too():
    with serving(LegacyServer()) as server, serving(LegacyServer()) as login:

        async def scenario() -> int:
            known = StreamableHTTPServer(server.url)
            async with GuardedClient(known, EgressGate(STRICT, known.url, "typed", {})) as client:
                await client.post(known.url, json={"method": "initialize", "id": 0})
                client.auth = Wanderer(login.url)
                return (await client.post(known.url, json={"method": "initialize", "id": 1})).status_code

        assert run(scenario()) == 200
        assert login.seen == ["GET"]


def test_a_redirect_to_another_host_is_not_followed_and_its_credentials_stay_home():
    with serving(LegacyServer()) as elsewhere:

        async def move(request: Request, message: JSON) -> Response:
            return RedirectResponse(elsewhere.url, status_code=307)

        with serving(LegacyServer(intercept=move)) as server:

            async def scenario():
                async with SessionPool(policy=STRICT) as pool:
                    known = StreamableHTTPServer(server.url, headers={"Authorization": "Bearer s3cret"})
                    return await MCPToolset(known, pool).list()

            listing = run(scenario())
        assert listing.error is not None and "moved to" in listing.error
        assert elsewhere.seen == []


class Stream(httpcore2.AsyncNetworkStream):
    """A connection that notes that it was closed."""

    is_closed = False

    async def aclose(self) -> None:
        self.is_closed = True


def test_a_connection_that_comes_about_while_it_is_given_up_is_closed():
    async def scenario() -> Stream:
        stream = Stream()
        with anyio.CancelScope() as scope:

            async def connect(address: object) -> Stream:
                scope.cancel()
                return stream

            await first_connection(connect, [IPv4Address("127.0.0.1")])
        return stream

    assert run(scenario()).is_closed


def test_a_slow_address_does_not_hold_up_the_next_one():
    async def scenario() -> str:
        async def connect(address: object) -> Stream:
            if str(address) == "127.0.0.1":
                await anyio.sleep_forever()
            return stream

        stream = Stream()
        chosen = await first_connection(connect, [IPv4Address("127.0.0.1"), IPv4Address("127.0.0.2")])
        return "the second" if chosen is stream else "another"

    assert run(scenario(), seconds=5) == "the second"
