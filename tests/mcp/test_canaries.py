"""Secrets are planted wherever a server takes one; nothing that a run leaves behind may hold them."""

import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from knime_ext.errors import KnimeExtError
from knime_ext.mcp import MCPToolCaller, Server, StdioServer, StreamableHTTPServer, tools_from_listing
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
