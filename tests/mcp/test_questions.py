"""Servers that ask in the middle of a call are answered by whoever the host names, or by nobody."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from knime_ext.mcp import SessionPool, StdioServer, StreamableHTTPServer
from knime_ext.mcp.questions import Answer, Handlers, Question, answer_with_defaults, asking, decline
from knime_ext.tools import ToolResult
from tests.mcp.bench import run
from tests.servers.legacy import JSON, LegacyServer, serving, text_result

CURIOUS = StdioServer("curious", sys.executable, (str(Path(__file__).parents[1] / "servers" / "curious.py"),))

FORM: JSON = {
    "message": "Who\u202e are you?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "Ann"},
            "age": {"type": "integer", "default": 30},
            "color": {"type": "string", "enum": ["red", "blue"], "default": "blue"},
        },
        "required": ["name"],
    },
}
WITHOUT_DEFAULT: JSON = {
    "message": "Who?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}
PAGE: JSON = {"mode": "url", "message": "Pay here", "url": "https://pay.example/1", "elicitationId": "1"}


def asked(tool: str, params: JSON, handlers: Handlers) -> Any:
    """What the server of the handshake era was answered."""

    async def scenario() -> ToolResult:
        async with SessionPool() as pool:
            with asking(handlers):
                return await pool.session(CURIOUS).call_tool(tool, params)

    return json.loads(run(scenario()).text)


def test_a_form_is_answered_by_the_handler_and_what_it_leaves_out_takes_its_default():
    questions: list[Question] = []

    async def elicit(question: Question) -> Answer:
        questions.append(question)
        return Answer(action="accept", content={"name": "Bob"})

    answer = asked("elicit", FORM, Handlers(elicit=elicit))
    assert answer == {"action": "accept", "content": {"name": "Bob", "age": 30, "color": "blue"}}
    [question] = questions
    assert question.message == "Who are you?"
    assert question.schema is not None and question.schema["required"] == ["name"]


def test_a_form_whose_required_fields_have_defaults_is_answered_with_them():
    answer = asked("elicit", FORM, Handlers(elicit=answer_with_defaults))
    assert answer == {"action": "accept", "content": {"name": "Ann", "age": 30, "color": "blue"}}


def test_a_form_that_needs_a_person_is_declined_where_only_defaults_answer():
    assert asked("elicit", WITHOUT_DEFAULT, Handlers(elicit=answer_with_defaults)) == {"action": "decline"}
    assert asked("elicit", PAGE, Handlers(elicit=answer_with_defaults)) == {"action": "decline"}


def test_every_question_can_be_declined():
    assert asked("elicit", FORM, Handlers(elicit=decline)) == {"action": "decline"}


def test_a_web_page_is_shown_to_the_handler_and_its_consent_carries_no_content():
    pages: list[str | None] = []

    def elicit(question: Question) -> Answer:
        pages.append(question.url)
        return Answer(action="accept", content={"ignored": 1})

    assert asked("elicit", PAGE, Handlers(elicit=elicit)) == {"action": "accept"}
    assert pages == ["https://pay.example/1"]


@pytest.mark.parametrize("url", ["file:///etc/passwd", "javascript:alert(1)", "vscode://x"])
def test_pages_that_are_no_web_pages_are_declined_without_asking(url: str):
    def elicit(question: Question) -> Answer:
        raise AssertionError("must not be asked")

    assert asked("elicit", PAGE | {"url": url}, Handlers(elicit=elicit)) == {"action": "decline"}


def test_an_answer_that_does_not_fit_the_form_is_not_sent():
    def elicit(question: Question) -> Answer:
        return Answer(action="accept", content={"age": "old"})

    answer = asked("elicit", FORM, Handlers(elicit=elicit))
    assert answer["error"]["code"] == -32602


def test_what_has_no_handler_is_not_offered():
    assert asked("offered", {}, Handlers()) == {}
    assert set(asked("offered", {}, Handlers(elicit=decline))) == {"elicitation"}
    assert set(asked("offered", {}, Handlers(sample=lambda params: params, roots=()))) == {"sampling", "roots"}


def test_roots_and_sampling_are_answered_by_their_handlers():
    assert asked("roots", {}, Handlers(roots=("file:///data",))) == {"roots": [{"uri": "file:///data"}]}

    def sample(params: Any) -> JSON:
        text = f"heard {params['messages'][0]['content']['text']}"
        return {"role": "assistant", "model": "m", "content": {"type": "text", "text": text}}

    params = {"messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}], "maxTokens": 5}
    assert asked("sample", params, Handlers(sample=sample))["content"]["text"] == "heard hello"


def modern(calls: list[JSON], questions: JSON) -> LegacyServer:
    """A server of today's era that asks once, and then gives back what it was answered."""

    async def answer(request: Request, message: JSON) -> Response:
        result: JSON = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
        if message["method"] == "server/discover":
            result |= {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        else:
            calls.append(message)
            given = message["params"].get("inputResponses")
            ask = {"resultType": "input_required", "inputRequests": questions, "requestState": "opaque ä"}
            result = ask if given is None else {"resultType": "complete", **text_result(json.dumps(given))}
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})

    return LegacyServer(intercept=answer)


def test_in_todays_era_answers_go_out_with_a_new_call_and_the_servers_state():
    calls: list[JSON] = []
    questions = {"a": {"method": "elicitation/create", "params": FORM}, "b": {"method": "roots/list"}}
    with serving(modern(calls, questions)) as server:

        async def scenario() -> ToolResult:
            async with SessionPool() as pool:
                with asking(Handlers(elicit=answer_with_defaults, roots=("file:///data",))):
                    return await pool.session(StreamableHTTPServer(server.url)).call_tool("curious", {"x": 1})

        given = json.loads(run(scenario()).text)
    assert given["a"] == {"action": "accept", "content": {"name": "Ann", "age": 30, "color": "blue"}}
    assert given["b"]["roots"] == [{"uri": "file:///data"}]
    first, second = calls
    assert first["id"] != second["id"]
    assert second["params"]["requestState"] == "opaque ä"
    assert second["params"]["arguments"] == {"x": 1}


def test_in_todays_era_a_question_without_a_handler_is_told_to_the_model():
    with serving(modern([], {"a": {"method": "elicitation/create", "params": FORM}})) as server:

        async def scenario() -> ToolResult:
            async with SessionPool() as pool:
                return await pool.session(StreamableHTTPServer(server.url)).call_tool("curious", {})

        result = run(scenario())
    assert result.is_error and "which is not possible here" in result.text
