"""What a server may ask its client in the middle of a call, and who answers.

A server can ask the person for input (elicitation, as a form or by a web page), the client's model for a text
(sampling) and for the folders it may work in (roots). A handler answers; what has none is not offered to servers.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from mcp.client import ClientRequestContext
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    ListRootsResult,
    Root,
)
from pydantic import ValidationError

from knime_ext.errors import InvalidArguments
from knime_ext.mcp.foreign_text import quotable
from knime_ext.tools import check_arguments

__all__ = [
    "NOBODY",
    "Answer",
    "Handlers",
    "Question",
    "answer_with_defaults",
    "asking",
    "current_handlers",
    "decline",
    "defaults_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question of a server to the person.

    Attributes:
        message: What it says; foreign text.
        schema: JSON Schema object of the answer, None if the question is asked on a web page.
        url: The web page, http or https, None for a form.
        server: Address of the server that asks.
    """

    message: str
    schema: Mapping[str, Any] | None = None
    url: str | None = None
    server: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer to a question.

    Attributes:
        action: Whether the person agrees, says no, or does not answer.
        content: The fields of a form that were filled in; the others take their defaults.
    """

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any] = field(default_factory=dict[str, Any])


Elicit: TypeAlias = Callable[[Question], Answer | Awaitable[Answer]]
Sample: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any] | Awaitable[Mapping[str, Any]]]


def defaults_of(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults that the fields of a form have."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    return {name: part["default"] for name, part in properties.items() if isinstance(part, dict) and "default" in part}


def answer_with_defaults(question: Question) -> Answer:
    """Accepts a form whose required fields all have defaults, and declines everything else."""
    if question.schema is None:
        return Answer(action="decline")
    known = defaults_of(question.schema)
    missing = [name for name in question.schema.get("required") or () if name not in known]
    return Answer(action="decline") if missing else Answer(action="accept", content=known)


def decline(question: Question) -> Answer:
    """Declines every question."""
    return Answer(action="decline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Handlers:
    """Who answers the questions of servers; None is nobody.

    Attributes:
        elicit: Answers questions to the person; a plain or an async function.
        sample: Answers requests for a text of the model: JSON of the request's `params` to JSON of the result.
        roots: Folders that servers are told they may work in, as `file://` URIs.
    """

    elicit: Elicit | None = None
    sample: Sample | None = None
    roots: tuple[str, ...] | None = None

    def callbacks(self, clean: Callable[[Any], Any]) -> dict[str, Any]:
        """The arguments of the SDK's client; what it is not given it does not offer to servers.

        Args:
            clean: Takes secrets out of what a server asks.
        """
        given = {
            "elicitation_callback": partial(self._elicited, clean) if self.elicit is not None else None,
            "sampling_callback": partial(self._sampled, clean) if self.sample is not None else None,
            "list_roots_callback": self._rooted if self.roots is not None else None,
        }
        return {name: callback for name, callback in given.items() if callback is not None}

    async def _elicited(
        self, clean: Callable[[Any], Any], context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        assert self.elicit is not None
        schema, url = None, None
        if isinstance(params, ElicitRequestFormParams):
            schema = params.model_dump(by_alias=True, mode="json", exclude_none=True)["requestedSchema"]
            schema = clean(schema)
        else:
            url = params.url
            if urlsplit(url).scheme not in ("http", "https") or clean(url) != url:
                return ElicitResult(action="decline")
        answer = self.elicit(Question(message=quotable(clean(params.message)), schema=schema, url=url))
        answer = await answer if inspect.isawaitable(answer) else answer
        if answer.action != "accept" or schema is None:
            return ElicitResult(action=answer.action)
        content = defaults_of(schema) | dict(answer.content)
        try:
            check_arguments(schema, content, "question")
        except InvalidArguments as error:
            return ErrorData(code=INVALID_PARAMS, message=str(error))
        return ElicitResult(action="accept", content=content)

    async def _sampled(
        self, clean: Callable[[Any], Any], context: ClientRequestContext, params: CreateMessageRequestParams
    ) -> CreateMessageResult | ErrorData:
        assert self.sample is not None
        result = self.sample(clean(params.model_dump(by_alias=True, mode="json", exclude_none=True)))
        result = await result if inspect.isawaitable(result) else result
        try:
            return CreateMessageResult.model_validate(result)
        except ValidationError:
            return ErrorData(code=INVALID_REQUEST, message="the model gave nothing that can be passed on")

    async def _rooted(self, context: ClientRequestContext) -> ListRootsResult | ErrorData:
        return ListRootsResult(roots=[Root.model_validate({"uri": uri}) for uri in self.roots or ()])


NOBODY = Handlers()
_current: ContextVar[Handlers] = ContextVar("knime_mcp_handlers", default=NOBODY)


def current_handlers() -> Handlers:
    """Who answers questions during the calls that are made in this context."""
    return _current.get()


@contextmanager
def asking(handlers: Handlers) -> Generator[None]:
    """Lets these handlers answer during the calls that are made inside."""
    token = _current.set(handlers)
    try:
        yield
    finally:
        _current.reset(token)
