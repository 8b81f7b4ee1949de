"""What came of one prompt: as bytes for the journal, and as cells of the output."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knime_ext.agent.page.batch_page import BatchPageRow
from knime_ext.agent.run import AgentRun

__all__ = ["RowAnswer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowAnswer:
    """What came of one prompt.

    Attributes:
        prompt: What the model was asked.
        answer: Its answer; None if there is none.
        stop_reason: As in `AgentRun`.
        turns: Turns used.
        tool_calls: Calls that the model asked for.
        failed_calls: How many of them failed or were refused.
        tokens: Tokens of all replies.
        seconds: How long it took.
        error: Why there is no answer.
        structured: The answer's values, if it was to have a form.
        trace: `Trace.to_dict` of the run, if traces are kept.
    """

    prompt: str = ""
    answer: str | None = None
    stop_reason: str = "failed"
    turns: int = 0
    tool_calls: int = 0
    failed_calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    error: str | None = None
    structured: Mapping[str, Any] | None = None
    trace: Mapping[str, Any] | None = None

    @classmethod
    def of_run(cls, prompt: str, run: AgentRun, *, trace: bool) -> RowAnswer:
        """What came of a run."""
        return cls(
            prompt=prompt,
            answer=run.answer if run.error is None else None,
            stop_reason=run.stop_reason,
            turns=run.turns,
            tool_calls=run.tool_calls,
            failed_calls=sum(message.role == "tool" and message.is_error for message in run.trace.messages),
            tokens=run.trace.tokens.total,
            seconds=round(run.trace.seconds, 4),
            error=None if run.error is None else str(run.error),
            structured=run.structured,
            trace=run.trace.to_dict() if trace else None,
        )

    def to_bytes(self) -> bytes:
        """For the journal."""
        # What is no text in any encoding could not be written into a table either.
        return json.dumps(
            {name: getattr(self, name) for name in self.__slots__}, ensure_ascii=False, default=str
        ).encode("utf-8", "replace")

    @classmethod
    def from_bytes(cls, payload: bytes) -> RowAnswer:
        """From the journal."""
        return cls(**json.loads(payload))

    def page_row(self, number: int, label: str | None = None) -> BatchPageRow:
        """The row for a page, traces included.

        Args:
            number: Position in the table, from 0.
            label: Its name; "Row 1" and so on if not given.
        """
        return BatchPageRow(
            label=label or f"Row {number + 1}",
            prompt=self.prompt,
            answer=self.answer or "",
            stop_reason=self.stop_reason,
            turns=self.turns,
            tool_calls=self.tool_calls,
            tokens=self.tokens,
            seconds=self.seconds,
            error=self.error,
            trace=self.trace,
        )

    def messages(self) -> list[dict[str, Any]] | None:
        """The conversation as a value of `TRACE_TYPE`; tools under the names that people gave them."""
        return None if self.trace is None else [_message(message) for message in self.trace["messages"]]

    def trace_text(self) -> str | None:
        """The same as JSON."""
        messages = self.messages()
        return None if messages is None else json.dumps(messages, ensure_ascii=False)


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "role": message["role"],
        "content": message["content"],
        "tool_calls": [_call(call) for call in message["tool_calls"]] or None,
        "tool_call_id": message["tool_call_id"],
        "reasoning_content": message["reasoning"] or None,
    }


def _call(call: Mapping[str, Any]) -> dict[str, str]:
    arguments = call["arguments"]
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call["id"], "name": call["tool"], "arguments": text}
