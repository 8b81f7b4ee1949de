"""How runs end, for people."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Outcome", "outcome"]

_LABELS = {
    "answered": "Answered",
    "turn_limit": "Turn limit reached",
    "call_limit": "Call limit reached",
    "time_limit": "Time limit reached",
    "token_limit": "Token limit reached",
    "cancelled": "Cancelled",
    "failed": "Failed",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a run.

    Attributes:
        label: Words for people.
        tone: "good"; "warn" if there is an answer although a limit was reached; "bad" if there is none.
    """

    label: str
    tone: str


def outcome(stop_reason: str, *, error: str | None, answered: bool) -> Outcome:
    """What a stop reason means.

    Args:
        stop_reason: The reason as the trace has it; reasons that are not known here are shown as they are.
        error: Why the run failed, if it did.
        answered: Whether there is an answer.
    """
    label = _LABELS.get(stop_reason) or stop_reason.replace("_", " ").capitalize() or "Unknown"
    if error is not None or stop_reason in ("failed", "cancelled"):
        return Outcome(label if stop_reason != "answered" else "Failed", "bad")
    if stop_reason == "answered":
        return Outcome(label, "good")
    return Outcome(label, "warn" if answered else "bad")
