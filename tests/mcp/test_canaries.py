"""Secrets are planted wherever a server takes one; nothing that a run leaves behind may hold them."""

import json
import logging
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from knime.types.tool import MCPTool
from knime_ext.errors import KnimeExtError
from knime_ext.mcp import (
    Answer,
    Handlers,
    MCPClient,
    MCPToolCaller,
    Progress,
    Question,
    Server,
    StdioServer,
    StreamableHTTPServer,
    asking,
    decline,
    showing_progress,
    tools_from_listing,
)
from knime_ext.runtime import run_workflow
from knime_ext.runtime.document import Workflow
from tests.servers.legacy import ECHO, JSON, LegacyServer, serving

CANARIES = ["canary-bearer-7f3a", "canary-header-91bc", "canary-environment-55de"]


def providers(url: str) -> dict[str, Server]:
    headers = {"Authorization": f"Bearer {CANARIES[0]}", "X-Api-Key": CANARIES[1]}
    program = str(Path(__file__).parents[1] / "servers" / "lines.py")
    return {
        "crm": StreamableHTTPServer(url, headers=headers),
        "local": StdioServer("local", sys.executable, (program,), env={"API_KEY": CANARIES[2]}),
    }


def assert_no_canary(text: str, where: str) -> None:
    assert [canary for canary in CANARIES if canary in text] == [], f"a secret is in {where}"


def test_a_run_with_providers_leaves_no_secret_in_any_file_event_or_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    events: list[str] = []
    with serving(LegacyServer()) as server:
        node = {
            "id": "provider",
            "factory": "MCPToolProvider",
            "settings": {"server_url": "crm", "more_servers": [{"server": "local"}]},
        }
        workflow = Workflow.model_validate({"format": 1, "name": "w", "nodes": [node], "connections": []})
        result = run_workflow(
            workflow,
            base_dir=tmp_path,
            out=tmp_path / "out",
            providers=providers(server.url),
            events=lambda event: events.append(repr(event)),
        )
        assert {headers["x-api-key"] for headers in server.headers} == {CANARIES[1]}
    assert result.table("provider", 0).num_rows == 7
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert_no_canary(path.read_bytes().decode("latin-1"), str(path))
    assert_no_canary("".join(events), "an event")
    assert_no_canary(caplog.text, "the log")
    assert_no_canary(repr(providers("http://localhost:1/mcp")), "a repr")


@pytest.mark.parametrize("stage", ["initialize", "tools/list", "tools/call"])
@pytest.mark.parametrize("status", [200, 401, 403, 404, 500])
def test_a_server_that_repeats_its_secrets_in_errors_gets_none_into_a_message(
    stage: str, status: int, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)

    async def betray(request: Request, message: JSON) -> Response | None:
        if message.get("method") != stage:
            return None
        text = f"you sent {request.headers.get('authorization')} and {request.headers.get('x-api-key')}"
        error = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32000, "message": text}}
        return JSONResponse(error, status_code=status)

    with serving(LegacyServer(tools=[ECHO], intercept=betray)) as server:
        assert_no_canary(json.dumps(_said(providers(server.url))), "a message")
    assert_no_canary(caplog.text, "the log")


def poisoned(text: str) -> JSON:
    """A tool whose every text repeats something."""
    return {
        "name": "echo",
        "title": f"Echo {text}",
        "description": f"You sent {text}.",
        "inputSchema": {"type": "object", "properties": {"text": {"default": text}, text: {"enum": [text]}}},
        "outputSchema": {"type": "object", "description": text},
        "annotations": {"title": text},
        "_meta": {text: text},
    }


def repeated(text: str) -> JSON:
    """A successful result that repeats something wherever a result can hold a text."""
    blocks: list[JSON] = [
        {
            "type": "text",
            "text": f"plain {text}, as JSON {json.dumps({'sent': text})}, in a URL {quote(text, safe='')}",
        },
        {"type": "resource", "resource": {"uri": f"note://{quote(text)}", "text": text}},
        {"type": "resource_link", "uri": "note://1", "name": text, "description": text},
        {"type": "something-new", "deep": [{"er": text}], text: 1},
    ]
    return {"content": blocks, "structuredContent": {"sent": [text], text: True}, "_meta": {"sent": text}}


def test_a_server_that_repeats_its_secrets_in_lists_results_progress_and_log_messages_gets_none_any_further(
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level(logging.DEBUG)
    shown: list[Progress] = []
    asked: list[Question] = []

    def decline_noting(question: Question) -> Answer:
        asked.append(question)
        return decline(question)

    async def repeat(request: Request, message: JSON) -> Response | None:
        text = f"{request.headers.get('authorization')} {request.headers.get('x-api-key')}"
        match message.get("method"):
            case "server/discover":
                return _answer(message, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
            case "tools/list":
                broken = {"name": f"broken {text}", "inputSchema": {"type": text}}
                return _answer(message, {"tools": [poisoned(text), broken, {**ECHO, "name": text}]})
            case "tools/call" if "inputResponses" not in message["params"]:
                form = {
                    "message": text,
                    "requestedSchema": {"type": "object", "properties": {text: {"type": "string"}}},
                }
                questions = {"a": {"method": "elicitation/create", "params": form}}
                return _answer(message, {"resultType": "input_required", "inputRequests": questions})
            case _:
                return StreamingResponse(_stream(message, text), media_type="text/event-stream")

    with serving(LegacyServer(intercept=repeat)) as server:
        known = providers(server.url)
        with asking(Handlers(elicit=decline_noting)), showing_progress(shown.append), MCPToolCaller(known) as caller:
            [listing] = caller.list_tools([known["crm"]])
            rows = tools_from_listing(listing, provider="crm")
            result = caller.call(rows[0], {"text": "x"})
    assert [tool.tool_name for tool in rows] == ["echo"] and len(listing.problems) == 2
    assert result.text.startswith('plain *** ***, as JSON {"sent": "*** ***"}, in a URL ***%20***\n')
    assert result.structured == {"sent": ["*** ***"], "*** ***": True}
    assert shown and asked
    for what in (listing, rows, [vars(row) for row in rows], result, result.text, shown, asked):
        assert_no_canary(repr(what), f"a {type(what).__name__}")
    assert_no_canary(caplog.text, "the log")


async def _stream(message: JSON, text: str) -> AsyncIterator[str]:
    token = message["params"]["_meta"]["progressToken"]
    said: list[JSON] = [
        {"method": "notifications/message", "params": {"level": "error", "data": text, "logger": text}},
        {"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "message": text}},
        {"id": message["id"], "result": {"resultType": "complete", **repeated(text)}},
    ]
    for one in said:
        yield f"event: message\ndata: {json.dumps({'jsonrpc': '2.0', **one})}\n\n"


def _answer(message: JSON, result: JSON) -> Response:
    hints = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": hints | result})


def test_a_child_process_that_prints_its_environment_gives_away_no_key():
    with MCPToolCaller(providers("http://localhost:1/mcp")) as caller:
        text = caller.text(MCPTool("environment", "", {}, "stdio:local", provider="local"), {})
    assert json.loads(text)["API_KEY"] == "***"


def test_words_in_headers_that_are_no_secrets_stay_in_results():
    with serving(LegacyServer()) as server:
        value = StreamableHTTPServer(server.url, headers={"X-Tenant": "northwind", "X-Signature": "northwind-1"})
        with MCPClient(value) as client:
            assert client.call_tool("echo", {"text": "northwind, northwind-1"}).text == "northwind, ***"


def _said(known: dict[str, Server]) -> list[Any]:
    """Everything that a caller gets to hear."""
    heard: list[Any] = []
    with MCPToolCaller(known) as caller:
        [listing] = caller.list_tools([known["crm"]])
        heard += [repr(listing), listing.error]
        for tool in tools_from_listing(listing, provider="crm"):
            try:
                heard.append(repr(caller.call(tool, {"text": "x"})))
            except KnimeExtError as error:
                heard += [str(error), repr(error.__cause__)]
    return heard
