"""What came of one prompt: as bytes for the journal, and as cells of the output."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from knime_ext.agent.run import AgentRun

__all__ = ["TRACE_TYPE", "RowAnswer", "trace_messages"]

TRACE_TYPE = pa.list_(
    pa.struct(
        [
            pa.field("role", pa.string()),
            pa.field("content", pa.string()),
            pa.field(
                "tool_calls",
                pa.list_(pa.struct([(name, pa.string()) for name in ("id", "name", "arguments")])),
            ),
            pa.field("tool_call_id", pa.string()),
            pa.field("reasoning_content", pa.string()),
        ]
    )
)
"""A conversation in one cell; arguments are JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowAnswer:
    """What came of one prompt.

    Attributes:
        prompt: What the model was asked.
        answer: Its answer; None if there is none.
        stop_reason: As in `AgentRun`.
        turns: Turns used.
        tool_calls: Calls that the model asked for.
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
            tokens=run.trace.tokens.total,
            seconds=round(run.trace.seconds, 4),
            error=None if run.error is None else str(run.error),
            structured=getattr(run, "structured", None),
            trace=run.trace.to_dict() if trace else None,
        )

    def to_bytes(self) -> bytes:
        """For the journal."""
        # What is no text in any encoding could not be written into a table either.
        return json.dumps(asdict(self), ensure_ascii=False, default=str).encode("utf-8", "replace")

    @classmethod
    def from_bytes(cls, payload: bytes) -> RowAnswer:
        """From the journal."""
        return cls(**json.loads(payload))

    def cells(self) -> dict[str, Any]:
        """The cells that every output has, by the endings of their columns' names."""
        return {
            "": self.answer,
            "trace": None if self.trace is None else trace_messages(self.trace["messages"]),
            "stop_reason": self.stop_reason,
            "turns": self.turns,
            "tool_calls": self.tool_calls,
            "tokens": self.tokens,
            "seconds": self.seconds,
            "error": self.error,
        }


def trace_messages(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The messages of `Trace.to_dict` as values of `TRACE_TYPE`; tools under the names that people gave them."""
    return [
        {
            "role": message["role"],
            "content": message["content"],
            "tool_calls": [_call(call) for call in message["tool_calls"]] or None,
            "tool_call_id": message["tool_call_id"],
            "reasoning_content": message["reasoning"] or None,
        }
        for message in messages
    ]


def _call(call: Mapping[str, Any]) -> dict[str, str]:
    arguments = call["arguments"]
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call["id"], "name": call["tool"], "arguments": text}
