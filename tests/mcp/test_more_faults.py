"""Servers that forget, drip, change their list, or show the certificate of somebody else."""

import asyncio
import datetime
import json
import ssl
import threading
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from knime_ext.errors import MCPError, MCPSessionLost, MCPTimeout
from knime_ext.mcp import MCPToolset, SessionPool, StreamableHTTPServer, Timeouts
from tests.mcp.bench import called, listed, run
from tests.servers.legacy import ECHO, JSON, LegacyServer, serving, text_result


def test_a_server_that_answers_404_to_every_second_call_is_greeted_again_each_time():
    refused = iter([False, True] * 20)

    async def forget(request: Request, message: JSON) -> Response | None:
        if message.get("method") == "tools/call" and next(refused):
            server.end_sessions()
        return None

    with serving(LegacyServer(intercept=forget)) as server:

        async def scenario() -> list[str]:
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url), pool)
                return [(await tools.call("echo", {"text": str(number)})).text for number in range(10)]

        assert run(scenario()) == [str(number) for number in range(10)]
    assert len(server.clients) == 1


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_server_that_fails_every_second_call_keeps_its_session_and_answers_the_others(status: int):
    failing = iter([False, True] * 5)

    async def fail(request: Request, message: JSON) -> Response | None:
        is_failing = message.get("method") == "tools/call" and next(failing)
        return Response("out of order", status_code=status) if is_failing else None

    with serving(LegacyServer(intercept=fail)) as server:

        async def scenario() -> list[str]:
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url), pool)
                return [await answer_of(tools, str(number)) for number in range(10)]

        answers = run(scenario())
    assert answers[::2] == ["0", "2", "4", "6", "8"]
    assert all(f"HTTP {status}" in answer for answer in answers[1::2])
    assert (server.handshakes, len(server.clients), server.calls()) == (1, 1, 10)


async def answer_of(tools: MCPToolset, text: str) -> str:
    """The result of a call, or what it fails with."""
    try:
        return (await tools.call("echo", {"text": text})).text
    except MCPError as error:
        return str(error)


@pytest.mark.parametrize("beginning", [": hello\n\n", 'event: message\ndata: {"jsonrpc": "2.0", "id"'])
def test_a_stream_that_is_cut_before_the_answer_leaves_the_outcome_unknown_and_the_next_call_works(beginning: str):
    cut = iter([True])

    async def break_off(request: Request, message: JSON) -> Response | None:
        if message.get("method") != "tools/call" or not next(cut, False):
            return None

        async def events() -> AsyncIterator[str]:
            yield beginning

        return StreamingResponse(events(), media_type="text/event-stream")

    with serving(LegacyServer(intercept=break_off)) as server:

        async def scenario() -> str:
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url), pool)
                with pytest.raises(MCPSessionLost, match="unknown whether the call took effect"):
                    await tools.call("echo", {"text": "x"})
                return (await tools.call("echo", {"text": "again"})).text

        assert run(scenario()) == "again"
        assert server.calls() == 2


def test_an_answer_that_drips_is_given_up_when_its_time_is_over():
    async def drip(request: Request, message: JSON) -> Response | None:
        if message.get("method") != "tools/call":
            return None

        async def bytes_by_bytes() -> AsyncIterator[bytes]:
            while not await request.is_disconnected():
                yield b" "
                await asyncio.sleep(0.05)

        return StreamingResponse(bytes_by_bytes(), media_type="application/json")

    with serving(LegacyServer(intercept=drip)) as server:
        with pytest.raises(MCPTimeout, match="within 1 s"):
            called(StreamableHTTPServer(server.url, timeouts=Timeouts(call=1)), "echo")


def test_a_kept_list_is_forgotten_when_the_server_says_that_it_has_changed():
    listings: list[JSON] = []

    async def modern(request: Request, message: JSON) -> Response:
        result: JSON = {"resultType": "complete", "ttlMs": 60_000, "cacheScope": "public"}
        match message["method"]:
            case "server/discover":
                result |= {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}}}
            case "tools/list":
                listings.append(message)
                result |= {"tools": [{**ECHO, "name": f"echo_{len(listings)}"}]}
            case _:
                answer = {
                    "jsonrpc": "2.0",
                    "id": message["id"],
                    "result": {"resultType": "complete", **text_result("!")},
                }
                note: JSON = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}}
                events = "".join(f"event: message\ndata: {json.dumps(each)}\n\n" for each in (note, answer))
                return Response(events, media_type="text/event-stream")
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    with serving(LegacyServer(intercept=modern)) as server:

        async def scenario() -> list[str]:
            async with SessionPool() as pool:
                tools = MCPToolset(StreamableHTTPServer(server.url), pool)
                names = [(await tools.list()).definitions[0].name for _ in range(2)]
                await tools.call("echo_1", {})
                return [*names, (await tools.list()).definitions[0].name]

        assert run(scenario()) == ["echo_1", "echo_1", "echo_2"]


@contextmanager
def serving_tls(folder: Path, name: str) -> Generator[str]:
    """A server over TLS with a certificate that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    pem.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    server = LegacyServer()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    loop = asyncio.new_event_loop()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server.seen.append((await reader.read(100)).decode("latin-1"))
        writer.close()

    listener = loop.run_until_complete(asyncio.start_server(refuse, "127.0.0.1", 0, ssl=context))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}/mcp"
        assert server.seen == []
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        listener.close()
        loop.run_until_complete(listener.wait_closed())
        loop.close()


def test_a_certificate_that_nobody_vouches_for_is_refused_before_anything_is_sent(tmp_path: Path):
    with serving_tls(tmp_path, "somebody else") as url:
        error = listed(StreamableHTTPServer(url, headers={"Authorization": "Bearer s3cret"})).error
    assert error is not None
    assert "cannot reach server" in error and "certificate" in error.lower()
