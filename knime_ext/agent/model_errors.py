"""Failures of a chat model's provider, as one sentence that holds no key."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from knime_ext.errors import AgentError, KnimeExtError

__all__ = ["model_name", "translated"]

_MAX_REASON = 300

_BY_STATUS = {
    400: "rejected the request",
    401: "refused the credentials; check the API key",
    403: "refused access; check the API key and its rights",
    404: "was not found; check the model's name and the base URL",
    408: "did not answer in time; try again",
    413: "got more than it takes; shorten the prompt or the tools' results",
    429: "is limiting the rate or the quota is used up; wait and run again, or raise the limit",
}


def model_name(model: Any) -> str:
    """The name that people know a chat model by."""
    for attribute in ("model_name", "model", "model_id"):
        name = getattr(model, attribute, None)
        if isinstance(name, str) and name:
            return name
    return type(model).__name__


def _secrets(model: BaseChatModel) -> list[str]:
    values = vars(model).values()
    return [secret for value in values if isinstance(value, SecretStr) and (secret := value.get_secret_value())]


def _reason(error: BaseException, model: BaseChatModel) -> str:
    """The provider's own words: the first line, without the model's credentials."""
    body = getattr(error, "body", None)
    said = cast("dict[str, Any]", body).get("message") if isinstance(body, dict) else None
    text = str(said or error)
    for secret in _secrets(model):
        text = text.replace(secret, "***")
    line = text.strip().splitlines()[0] if text.strip() else type(error).__name__
    return line if len(line) <= _MAX_REASON else line[:_MAX_REASON] + "…"


def _sentence(error: Exception, model: BaseChatModel) -> str:
    name = model_name(model)
    status = getattr(error, "status_code", None)
    # What a provider says about credentials may quote them, so it is never repeated.
    if status in (401, 403, 404, 408, 413, 429):
        return f"the chat model {name!r} {_BY_STATUS[status]} (HTTP {status})."
    if isinstance(status, int) and status >= 500:
        return f"the chat model {name!r} is failing on its server (HTTP {status}); try again later."
    if isinstance(status, int):
        return f"the chat model {name!r} {_BY_STATUS[400]} (HTTP {status}): {_reason(error, model)}"
    kind = type(error).__name__
    if isinstance(error, TimeoutError) or "Timeout" in kind:
        return f"the chat model {name!r} did not answer in time; try again or raise its time limit."
    if isinstance(error, ConnectionError) or "Connect" in kind:
        return f"the chat model {name!r} cannot be reached; check the base URL and the network."
    return f"the chat model {name!r} failed: {_reason(error, model)}"


@contextmanager
def translated(model: BaseChatModel) -> Generator[None]:
    """Turns what a provider's library raises into an AgentError.

    Raises:
        AgentError: The model failed; the message says what to do and holds no credentials.
    """
    try:
        yield
    except (KnimeExtError, asyncio.CancelledError):
        raise
    except Exception as error:
        # The cause would show the provider's text, and with it possibly the key, in a traceback.
        raise AgentError(_sentence(error, model)) from None
