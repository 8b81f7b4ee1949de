"""Asks the person in front of the client whether a call may go out."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from mcp.server import ServerRequestContext
from mcp_types import CallToolRequestParams, ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from knime_ext.errors import ApprovalRequired
from knime_ext.tools import ToolDefinition, text_for_model

__all__ = ["AskFirst", "ask_client", "serving_call"]

_KEY = "approval"
_MAX_SHOWN = 2_000
_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"approve": {"type": "boolean", "title": "Allow this call", "default": False}},
    "required": ["approve"],
}


class AskFirst(Exception):
    """The client has to ask the person and then to call again, for its protocol lets nobody ask in between.

    Attributes:
        answer: What to answer to the call.
    """

    def __init__(self, answer: InputRequiredResult) -> None:
        super().__init__("the client is asked for approval")
        self.answer = answer


_Call = tuple[ServerRequestContext[Any], CallToolRequestParams]
_current: ContextVar[_Call | None] = ContextVar("knime_mcp_served_call", default=None)


@contextmanager
def serving_call(ctx: ServerRequestContext[Any], params: CallToolRequestParams) -> Generator[None]:
    """Lets `ask_client` reach the client whose call is served inside."""
    token = _current.set((ctx, params))
    try:
        yield
    finally:
        _current.reset(token)


async def ask_client(tool: ToolDefinition, arguments: Mapping[str, Any]) -> bool:
    """Asks the person in front of the client that calls at the moment; for `Toolset.governed_by`.

    Raises:
        ApprovalRequired: The client cannot ask anybody.
        AskFirst: The answer comes with a further call.
    """
    call = _current.get()
    capabilities = None if call is None else call[0].session.client_capabilities
    if call is None or capabilities is None or capabilities.elicitation is None:
        raise ApprovalRequired(
            f"the call of {tool.name!r} needs a person's approval, and this client cannot ask for it; do without it"
        )
    ctx, params = call
    request = ElicitRequestFormParams(message=_question(tool, arguments), requested_schema=_FORM)
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return _is_yes(await ctx.session.elicit_form(request.message, _FORM, ctx.request_id))
    responses = params.input_responses or {}
    if _KEY not in responses:
        raise AskFirst(InputRequiredResult(input_requests={_KEY: ElicitRequest(params=request)}))
    return _is_yes(responses[_KEY])


def _question(tool: ToolDefinition, arguments: Mapping[str, Any]) -> str:
    shown = text_for_model(json.dumps(dict(arguments), ensure_ascii=False))
    cut = shown if len(shown) <= _MAX_SHOWN else shown[:_MAX_SHOWN] + "…"
    return f"Allow the call of {tool.name!r} with these arguments?\n{cut}"


def _is_yes(response: Any) -> bool:
    return (
        isinstance(response, ElicitResult)
        and response.action == "accept"
        and (response.content or {}).get("approve") is True
    )
