"""One call of a tool on an open conversation: the request, and the rounds that it may take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from mcp import MCPError as WireError
from mcp.client import Client, ClientRequestContext
from mcp.shared.dispatcher import ProgressFnT
from mcp_types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ErrorData,
    InputRequest,
    InputRequiredResult,
    InputResponse,
)
from pydantic import TypeAdapter, ValidationError

from knime_ext.errors import MCPToolNotFoundError
from knime_ext.mcp.exchange import Exchange
from knime_ext.mcp.live_secrets import without_live_secrets
from knime_ext.mcp.loss import is_broken_stream
from knime_ext.mcp.results import result_from_wire
from knime_ext.tools import ToolResult

__all__ = ["call_tool", "is_repeatable"]

MAX_ROUNDS = 10
MAX_PAGES = 100
_PAUSE_SECONDS = 0.1

_Answer = CallToolResult | InputRequiredResult
_ANSWER: TypeAdapter[_Answer] = TypeAdapter(_Answer)

_ABOUT_THE_SESSION = frozenset({INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR})
_ABOUT_THE_WAY = frozenset({401, 403, 404, 407, 429})
_AMBIGUOUS = frozenset({CONNECTION_CLOSED, INTERNAL_ERROR, REQUEST_TIMEOUT})
"""Codes that are the tool's own failure in an ordinary answer, and the session's in an HTTP error."""


def is_repeatable(annotations: Mapping[str, Any] | None) -> bool:
    """Whether the server marks a tool as harmless to call twice."""
    hints = annotations or {}
    return hints.get("readOnlyHint") is True or hints.get("idempotentHint") is True


async def call_tool(
    client: Client,
    name: str,
    arguments: Mapping[str, Any],
    exchange: Exchange,
    on_progress: ProgressFnT | None = None,
) -> ToolResult:
    """Calls a tool.

    `Client.call_tool` is not used: it lists the tools of the server whenever it does not know the tool, to check the
    result against a schema, and throws the result away when it does not fit.

    Args:
        client: An open conversation.
        name: Name of the tool on the server.
        arguments: JSON object.
        exchange: Notes on the request.
        on_progress: Told about progress that the server reports.

    Raises:
        MCPToolNotFoundError: The server has no such tool.
        Exception: Whatever the SDK raises about the session.
    """
    params = CallToolRequestParams(name=name, arguments=dict(arguments))
    for _ in range(MAX_ROUNDS):
        try:
            answer = await _send(client, params, on_progress)
        except ValidationError:
            if exchange.answer is None or exchange.answer.get("resultType", "complete") != "complete":
                raise
            return result_from_wire(exchange.answer)  # odd, but whatever can be read of it is worth more than nothing
        except WireError as error:
            return _refusal(error, name, exchange)
        if isinstance(answer, CallToolResult):
            return result_from_wire(exchange.answer or {})
        responses = await _responses(client, answer.input_requests or {})
        if responses is None:
            return ToolResult.of_text(
                f"The tool {name!r} asks the person in front of the screen for input, which is not possible here.",
                is_error=True,
            )
        if not responses:
            # The server only wants to be asked again, with the state that it gave.
            await anyio.sleep(_PAUSE_SECONDS)
        update = {"request_state": answer.request_state, "input_responses": responses or None}
        params = params.model_copy(update=update)
    return ToolResult.of_text(f"The tool {name!r} did not finish in {MAX_ROUNDS} rounds.", is_error=True)


async def _responses(client: Client, requests: Mapping[str, InputRequest]) -> dict[str, InputResponse] | None:
    """What the handlers answer to a server's questions; None if there is no handler for one of them."""
    responses: dict[str, InputResponse] = {}
    for key, request in requests.items():
        context = ClientRequestContext(
            session=client.session, request_id=key, meta=request.params.meta if request.params else None
        )
        response = await client.session.dispatch_input_request(context, request)
        if isinstance(response, ErrorData):
            return None
        responses[key] = response
    return responses


async def _send(client: Client, params: CallToolRequestParams, on_progress: ProgressFnT | None) -> _Answer:
    request = CallToolRequest(params=params)
    try:
        return await client.session.send_request(request, _ANSWER, progress_callback=on_progress)
    except WireError as error:
        if error.code != HEADER_MISMATCH:
            raise
    # Some arguments travel as headers, too; which ones stands in the list of tools (MCP 2026-07-28).
    await _learn_headers(client, params.name)
    return await client.session.send_request(request, _ANSWER, progress_callback=on_progress)


async def _learn_headers(client: Client, name: str) -> None:
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        cursor = page.next_cursor
        if cursor is None or any(tool.name == name for tool in page.tools):
            return


def _refusal(error: WireError, name: str, exchange: Exchange) -> ToolResult:
    """A server's error as the tool's failure, if it is one: the model may try again with other arguments."""
    if error.code == INVALID_PARAMS and _says_unknown(error.message):
        raise MCPToolNotFoundError(
            f"the server has no tool {name!r} (any more); list its tools again and use one of them"
        ) from error
    notes = (exchange.breach, exchange.failure, exchange.refusal)
    failed_on_the_way = any(note is not None for note in notes) or is_broken_stream(error)
    if failed_on_the_way or error.code in _ABOUT_THE_SESSION:
        raise error
    status = exchange.status or 200
    if status >= 500 or status in _ABOUT_THE_WAY or (status >= 400 and error.code in _AMBIGUOUS):
        raise error
    return ToolResult.of_text(without_live_secrets(error.message) or f"error {error.code}", is_error=True)


def _says_unknown(message: str) -> bool:
    text = message.lower()
    return "tool" in text and ("unknown" in text or "not found" in text)
