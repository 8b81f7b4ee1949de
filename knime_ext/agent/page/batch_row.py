"""One row of a table of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knime_ext.agent.page.outcomes import Outcome, outcome
from knime_ext.agent.trace import Trace, TraceMessage

__all__ = ["BatchPageRow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPageRow:
    """One row of a batch.

    Attributes:
        label: Name of the row, such as its row identifier.
        prompt: What was asked.
        answer: What the agent answered; empty if it did not.
        stop_reason: Why the run ended, as in a trace.
        turns: Turns used.
        tool_calls: Calls that the model asked for.
        tokens: Input and output tokens together.
        seconds: How long the run took.
        error: Why the row failed, if it did.
        trace: The run, or what `Trace.to_dict` made of it; None if traces are not saved.
    """

    label: str
    prompt: str
    answer: str = ""
    stop_reason: str = "answered"
    turns: int = 0
    tool_calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    error: str | None = None
    trace: Trace | Mapping[str, Any] | None = None

    @property
    def outcome(self) -> Outcome:
        """How the run ended."""
        return outcome(self.stop_reason, error=self.error, answered=bool(self.answer.strip()))

    @property
    def failed_calls(self) -> int:
        """Calls that failed or were refused, as far as the trace tells."""
        if self.trace is None:
            return 0
        if isinstance(self.trace, Trace):
            return sum(message.is_error for message in self.trace.messages)
        return sum(bool(message.get("is_error")) for message in self.trace.get("messages", ()))

    def run(self) -> Trace:
        """The run; without a saved one, what the row itself tells of it.

        Raises:
            ConfigurationError: What was saved is no trace.
        """
        if isinstance(self.trace, Trace):
            return self.trace
        if self.trace is not None:
            return Trace.from_dict(self.trace)
        answer = [TraceMessage(role="assistant", content=self.answer, turn=1)] if self.answer else []
        return Trace(
            model="",
            question=self.prompt,
            messages=[TraceMessage(role="user", content=self.prompt), *answer],
            turns=self.turns,
            stop_reason=self.stop_reason,
            error=self.error,
            seconds=self.seconds,
        )
