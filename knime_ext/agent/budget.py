"""What a run may spend, alone and together with others. No clock: whoever drives a run says how late it is."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Literal

from knime_ext.errors import ConfigurationError

__all__ = ["Allowance", "Budget", "Limit", "Outside", "Spent", "StopReason", "WhenExhausted"]

WhenExhausted = Literal["fail", "answer", "refuse"]
StopReason = Literal["answered", "turn_limit", "call_limit", "time_limit", "token_limit", "cancelled", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a run may spend.

    Attributes:
        turns: Replies that ask for tools; one reply with three parallel calls is one turn. 0 allows no tools.
        calls: Tool calls of the run. Of a turn that asks for more, the first ones that still fit are called and the
            others refused. None for no limit.
        seconds: Time of the run, model and tools together; a final answer gets up to a minute more. None for no
            limit.
        seconds_per_call: Time limit of each tool call; None for no limit.

    Raises:
        ConfigurationError: A number is negative, or a time is not above 0.
    """

    turns: int = 25
    calls: int | None = None
    seconds: float | None = None
    seconds_per_call: float | None = None

    def __post_init__(self) -> None:
        _not_negative(turns=self.turns, calls=self.calls)
        for name, seconds in (("seconds", self.seconds), ("seconds_per_call", self.seconds_per_call)):
            if seconds is not None and not seconds > 0:
                raise ConfigurationError(
                    f"{name!r} of a budget is {seconds:g}; give more than 0, or None for no limit."
                )


def _not_negative(**numbers: int | None) -> None:
    for name, number in numbers.items():
        if number is not None and number < 0:
            raise ConfigurationError(f"{name!r} of a budget is {number}; give 0 or more.")


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit that is used up.

    Attributes:
        stop_reason: How a run is marked that answers after it.
        what: What is used up, in words.
    """

    stop_reason: StopReason
    what: str

    @classmethod
    def of_turns(cls, turns: int) -> Limit:
        """The turns of one run."""
        return cls("turn_limit", f"the budget of {_counted(turns, 'turn')} with tools")

    @classmethod
    def of_calls(cls, calls: int, *, shared: bool = False) -> Limit:
        """The calls of one run, or of all runs."""
        return cls("call_limit", f"the budget of {_counted(calls, 'tool call')}{_SHARED if shared else ''}")

    @classmethod
    def of_seconds(cls, seconds: float) -> Limit:
        """The time of one run."""
        return cls("time_limit", f"the time of {seconds:g} seconds")

    @classmethod
    def of_tokens(cls, tokens: int) -> Limit:
        """The tokens of all runs."""
        return cls("token_limit", f"the budget of {_counted(tokens, 'token')}{_SHARED}")


_SHARED = " for all runs together"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """What the loop cannot know by itself.

    Attributes:
        seconds: Seconds since the run began.
        granted: Calls that the shared allowance grants for this reply; None if it does not limit them.
        limit: The shared limit that is used up.
    """

    seconds: float = 0.0
    granted: int | None = None
    limit: Limit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What runs have spent together.

    Attributes:
        tokens: Tokens, as the models count them.
        calls: Tool calls that were made.
    """

    tokens: int = 0
    calls: int = 0


class Allowance:
    """What many runs may spend together, such as all rows of a table. Any thread may use it.

    Tokens are counted when a reply is there, so the runs that are going on at that moment may go beyond the limit by
    a reply or two. A run that begins when no tokens are left fails without asking the model. Replies of models that
    count no tokens cost nothing here.
    """

    def __init__(self, *, tokens: int | None = None, calls: int | None = None) -> None:
        """Nothing is spent yet.

        Args:
            tokens: Tokens of the models' replies and what they were asked; None for no limit.
            calls: Tool calls; None for no limit.

        Raises:
            ConfigurationError: A number is negative.
        """
        _not_negative(tokens=tokens, calls=calls)
        self.tokens = tokens
        self.calls = calls
        self._spent = Spent()
        self._lock = threading.Lock()

    @property
    def spent(self) -> Spent:
        """What is spent so far."""
        return self._spent

    @property
    def exhausted(self) -> Limit | None:
        """The limit after which no run may begin or go on with tools; None as long as something is left."""
        if self.tokens is not None and self._spent.tokens >= self.tokens:
            return Limit.of_tokens(self.tokens)
        if self.calls is not None and self._spent.calls >= self.calls:
            return Limit.of_calls(self.calls, shared=True)
        return None

    def spend(self, *, tokens: int = 0, calls: int = 0) -> None:
        """Writes down what was spent, also beyond the limit; for example before the runs of a resumed table."""
        with self._lock:
            self._spent = Spent(tokens=self._spent.tokens + tokens, calls=self._spent.calls + calls)

    def take_calls(self, wanted: int) -> int:
        """Takes up to `wanted` calls and gives how many there were left to take."""
        with self._lock:
            left = wanted if self.calls is None else min(wanted, max(0, self.calls - self._spent.calls))
            self._spent = Spent(tokens=self._spent.tokens, calls=self._spent.calls + left)
            return left
