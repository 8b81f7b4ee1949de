"""What code of a model may use up."""

from __future__ import annotations

from dataclasses import dataclass, fields

from knime_ext.errors import ConfigurationError

__all__ = ["CodeLimits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeLimits:
    """Limits of one piece of code, from its start to its end.

    What goes beyond the first six ends the code, and its variables are again as they were before it.

    Attributes:
        seconds: Time of computing, without waiting for tools.
        total_seconds: Time in all, tools included.
        memory: Bytes that the interpreter may take.
        recursion: Depth of nested calls of functions.
        tool_calls: Number of tool calls.
        output_bytes: Bytes of text that it may print.
        result_chars: Characters of the result, written out; what is longer is refused, the variables stay.
        code_chars: Length of the code.
        value_chars: Characters of one tool's result as JSON; the call of a tool that gives more fails.
        seconds_per_call: Time of one tool call; None for none but what the tool has itself, as servers' tools do.
        parallel_calls: Tool calls at the same time.

    Raises:
        ConfigurationError: A limit is not above 0.
    """

    seconds: float = 10.0
    total_seconds: float = 300.0
    memory: int = 64 * 1024 * 1024
    recursion: int = 200
    tool_calls: int = 1000
    output_bytes: int = 20_000
    result_chars: int = 20_000
    code_chars: int = 100_000
    value_chars: int = 5_000_000
    seconds_per_call: float | None = None
    parallel_calls: int = 16

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not value > 0:
                raise ConfigurationError(f"the limit {field.name!r} of code is {value}; give more than 0.")
