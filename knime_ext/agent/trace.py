"""What happened in one agent run, message by message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from knime_ext.errors import ConfigurationError

__all__ = ["Timing", "Tokens", "Trace", "TraceCall", "TraceMessage", "TraceTable"]

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When something happened.

    Attributes:
        start: Seconds since the run began.
        seconds: How long it took.
    """

    start: float = 0.0
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """As JSON, rounded to a tenth of a millisecond."""
        return {"start": round(self.start, 4), "seconds": round(self.seconds, 4)}

    @classmethod
    def from_dict(cls, shown: Mapping[str, Any]) -> Timing:
        """Reads what `to_dict` gave."""
        return cls(start=shown.get("start", 0.0), seconds=shown.get("seconds", 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Tokens as the model counted them; zero where it does not say."""

    input: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        """Input and output."""
        return self.input + self.output

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(input=self.input + other.input, output=self.output + other.output)

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"input": self.input, "output": self.output, "total": self.total}

    @classmethod
    def from_dict(cls, shown: Mapping[str, Any]) -> Tokens:
        """Reads what `to_dict` gave."""
        return cls(input=shown.get("input", 0), output=shown.get("output", 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceCall:
    """A call that the model asked for.

    Attributes:
        id: Identifier that the answering message repeats.
        tool: Name for people.
        name: Name that the model used.
        kind: "workflow", "mcp", or "" for any other tool.
        arguments: The arguments, or the raw text of a call that could not be read.
    """

    id: str
    tool: str
    name: str
    kind: str = ""
    arguments: Any = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"id": self.id, "tool": self.tool, "name": self.name, "kind": self.kind, "arguments": self.arguments}

    @classmethod
    def from_dict(cls, shown: Mapping[str, Any]) -> TraceCall:
        """Reads what `to_dict` gave."""
        return cls(**{name: shown[name] for name in ("id", "tool", "name", "kind", "arguments")})


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTable:
    """A table that a tool put into the data repository."""

    id: str
    name: str
    columns: Mapping[str, str]
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {"id": self.id, "name": self.name, "columns": dict(self.columns), "rows": self.rows}

    @classmethod
    def from_dict(cls, shown: Mapping[str, Any]) -> TraceTable:
        """Reads what `to_dict` gave."""
        return cls(id=shown["id"], name=shown["name"], columns=dict(shown["columns"]), rows=shown["rows"])


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceMessage:
    """One message of the run.

    Attributes:
        role: Who speaks.
        content: The text.
        turn: Number of the model's reply that it is or belongs to, from 1; 0 before the first.
        blocks: Content that is no text: images, audio, resources, as MCP blocks; large ones without their data.
        reasoning: What the model gave as its reasoning, if anything.
        tool_calls: Calls that the model asks for.
        tool_call_id: The call that a tool's message answers.
        tool: Name of the answering tool, for people.
        is_error: True if the call failed or was refused.
        origin: Who wrote a tool's message: "workflow", "server" and its host or provider, "tool" for any other tool,
            "agent" for a refusal or a time limit of our own.
        tables: Tables handed over by the call.
        tokens: Tokens of the model's reply.
        timing: When it happened.
    """

    role: Role
    content: str
    turn: int = 0
    blocks: Sequence[Mapping[str, Any]] = ()
    reasoning: str = ""
    tool_calls: Sequence[TraceCall] = ()
    tool_call_id: str | None = None
    tool: str | None = None
    is_error: bool = False
    origin: str | None = None
    tables: Sequence[TraceTable] = ()
    tokens: Tokens = field(default_factory=Tokens)
    timing: Timing = field(default_factory=Timing)

    def to_dict(self, *, timings: bool = True) -> dict[str, Any]:
        """As JSON: the same for the same run, apart from "timing"."""
        shown: dict[str, Any] = {
            "role": self.role,
            "content": self.content,
            "turn": self.turn,
            "blocks": [dict(block) for block in self.blocks],
            "reasoning": self.reasoning,
            "tool_calls": [call.to_dict() for call in self.tool_calls],
            "tool_call_id": self.tool_call_id,
            "tool": self.tool,
            "is_error": self.is_error,
            "origin": self.origin,
            "tables": [table.to_dict() for table in self.tables],
            "tokens": self.tokens.to_dict(),
        }
        return shown | ({"timing": self.timing.to_dict()} if timings else {})

    @classmethod
    def from_dict(cls, shown: Mapping[str, Any]) -> TraceMessage:
        """Reads what `to_dict` gave; times and other fields that were left out have their defaults."""
        return cls(
            role=shown["role"],
            content=shown["content"],
            turn=shown.get("turn", 0),
            blocks=tuple(dict(block) for block in shown.get("blocks", ())),
            reasoning=shown.get("reasoning", ""),
            tool_calls=tuple(TraceCall.from_dict(call) for call in shown.get("tool_calls", ())),
            tool_call_id=shown.get("tool_call_id"),
            tool=shown.get("tool"),
            is_error=shown.get("is_error", False),
            origin=shown.get("origin"),
            tables=tuple(TraceTable.from_dict(table) for table in shown.get("tables", ())),
            tokens=Tokens.from_dict(shown.get("tokens", {})),
            timing=Timing.from_dict(shown.get("timing", {})),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Everything that happened in one run.

    Attributes:
        model: Name of the model.
        question: What the run was asked.
        messages: Every message, in order; tools' messages in the order of their calls.
        turns: Turns used.
        stop_reason: Why it ended, as in `AgentRun.stop_reason`.
        error: Why it failed, if it did.
        started_at: When it began, as ISO 8601 in UTC.
        seconds: How long it took.
    """

    model: str
    question: str
    messages: Sequence[TraceMessage]
    turns: int
    stop_reason: str
    error: str | None = None
    started_at: str = ""
    seconds: float = 0.0

    @property
    def tool_calls(self) -> int:
        """Number of calls that the model asked for."""
        return sum(len(message.tool_calls) for message in self.messages)

    @property
    def tokens(self) -> Tokens:
        """Tokens of all replies."""
        return sum((message.tokens for message in self.messages), Tokens())

    def to_dict(self, *, timings: bool = True) -> dict[str, Any]:
        """As JSON.

        Args:
            timings: False leaves every time out: then equal runs give equal values.
        """
        shown: dict[str, Any] = {
            "format": 1,
            "model": self.model,
            "question": self.question,
            "turns": self.turns,
            "calls": self.tool_calls,
            "stop_reason": self.stop_reason,
            "error": self.error,
            "tokens": self.tokens.to_dict(),
            "messages": [message.to_dict(timings=timings) for message in self.messages],
        }
        timing = {"started_at": self.started_at, "seconds": round(self.seconds, 4)}
        return shown | ({"timing": timing} if timings else {})

    @classmethod
    def from_dict(cls, shown: Mapping[str, Any]) -> Trace:
        """Reads what `to_dict` gave, with times or without.

        Raises:
            ConfigurationError: It is no trace.
        """
        timing: Mapping[str, Any] = shown.get("timing", {})
        try:
            return cls(
                model=shown["model"],
                question=shown["question"],
                messages=tuple(TraceMessage.from_dict(message) for message in shown["messages"]),
                turns=shown["turns"],
                stop_reason=shown["stop_reason"],
                error=shown["error"],
                started_at=timing.get("started_at", ""),
                seconds=timing.get("seconds", 0.0),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ConfigurationError(
                f"this is no trace of an agent's run ({type(error).__name__}: {error}); pass what Trace.to_dict gave."
            ) from None
