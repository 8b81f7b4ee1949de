"""Asks a model again after failures that pass: rate limits, overload, a broken connection."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_exponential,
    wait_random,
)

from knime_ext.errors import KnimeExtError

__all__ = ["Retries", "retry_after", "will_pass", "without_own_retries"]

T = TypeVar("T")

_PASSING = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often and when a model is asked again.

    Attributes:
        attempts: How often it is asked at most; 1 for never again.
        first_seconds: The first wait; it doubles with every attempt, with a little chance in it.
        longest_seconds: The longest of these waits.
        patience_seconds: The longest wait that a service may ask for (`Retry-After`); a longer one is a failure.
    """

    attempts: int = 6
    first_seconds: float = 1.0
    longest_seconds: float = 60.0
    patience_seconds: float = 300.0

    async def run(self, ask: Callable[[], Awaitable[T]], told_to_wait: Callable[[float], None] | None = None) -> T:
        """Asks until there is a reply, or a failure that will not pass.

        Args:
            ask: Sends one request.
            told_to_wait: Gets the seconds that the service wants everybody to wait, before they are waited.

        Raises:
            Exception: What the last attempt raised.
        """
        if self.attempts <= 1:
            return await ask()
        try:
            return await ask()
        except Exception as error:
            failed = error
        # The first attempt went past tenacity, which costs as much as a small request.
        waiting: list[Exception] = [failed]

        async def again() -> T:
            if waiting:
                raise waiting.pop()
            return await ask()

        backoff = wait_exponential(multiplier=self.first_seconds, max=self.longest_seconds) + wait_random(
            0, self.first_seconds / 4
        )

        def wait(state: RetryCallState) -> float:
            asked = retry_after(_error(state))
            return backoff(state) if asked is None else asked

        def tell(state: RetryCallState) -> None:
            if told_to_wait is not None and _status(_error(state)) == 429:
                told_to_wait(state.upcoming_sleep)

        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.attempts),
            retry=retry_if_exception(self._try_again),
            wait=wait,
            before_sleep=tell,
            sleep=asyncio.sleep,
            reraise=True,
        )
        return await retrying(again)

    def _try_again(self, error: BaseException) -> bool:
        return will_pass(error) and (retry_after(error) or 0) <= self.patience_seconds


def _error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def _status(error: BaseException | None) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def will_pass(error: BaseException) -> bool:
    """Whether the same request may well succeed a little later."""
    if isinstance(error, KnimeExtError):
        return False
    status = _status(error)
    if status is not None:
        return (status in _PASSING or status >= 500) and not _is_quota(error)
    kind = type(error).__name__
    return isinstance(error, (TimeoutError, ConnectionError)) or "Connect" in kind or "Timeout" in kind


def _is_quota(error: BaseException) -> bool:
    """A used-up quota has the status of a rate limit, but waiting does not help."""
    body = getattr(error, "body", None)
    code = cast("Mapping[str, Any]", body).get("code") if isinstance(body, Mapping) else None
    return "insufficient_quota" in (code, getattr(error, "code", None))


def retry_after(error: BaseException | None) -> float | None:
    """Seconds that the service asks to wait; None if it does not say."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return max(0.0, float(milliseconds) / 1000)
        seconds = headers.get("retry-after")
    except (AttributeError, ValueError):
        return None
    return None if not seconds else _seconds(str(seconds).strip())


def _seconds(text: str) -> float | None:
    """A `Retry-After` (RFC 9110, 10.2.3): seconds, or a date."""
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        except ValueError:
            return None
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if seconds < float("inf") else None


def without_own_retries(model: BaseChatModel) -> BaseChatModel:
    """The model without the retries of its provider's library, which would multiply ours and know of no other run."""
    if "max_retries" not in type(model).model_fields:
        return model
    changes: dict[str, Any] = {"max_retries": 0}
    for name in ("root_client", "root_async_client"):
        client = getattr(model, name, None)
        if client is not None and hasattr(client, "with_options"):
            changes[name] = patient = client.with_options(max_retries=0)
            if name.replace("root_", "") in type(model).model_fields:
                changes[name.replace("root_", "")] = patient.chat.completions
    quiet = model.model_copy(update=changes)
    for name in [name for name in vars(quiet) if isinstance(getattr(type(quiet), name, None), cached_property)]:
        del vars(quiet)[name]  # a client that was made with the old number
    return quiet
