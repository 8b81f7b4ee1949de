"""Sentences made of results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from knime_ext.agent.planner.filling import Filling
from knime_ext.agent.planner.goals import Goal, Plan
from knime_ext.agent.planner.offers import Offers
from knime_ext.agent.planner.transcript import Attempt, Transcript
from knime_ext.agent.planner.vocabulary import CURRENCY_CODES, UNITS
from knime_ext.agent.planner.words import split_words, stem

__all__ = ["compose", "describe"]

_MAX_RESULT = 600
_MAX_LISTED = 12
_PLAIN_KEYS = frozenset(("amount", "answer", "output", "result", "text", "value"))


def describe(calls: Sequence[tuple[str, Mapping[str, Any]]], waiting: Sequence[Goal]) -> str:
    """Says what is being called, for people who read along."""
    names = _listed([f"{name} ({_arguments(arguments)})" if arguments else name for name, arguments in calls])
    later = [goal.offer.name for goal in waiting]
    then = f" Then {_listed(later)}." if later else ""
    return f"I call {names}.{then}"


def compose(
    whole: Plan, transcript: Transcript, offers: Offers, given_up: Sequence[tuple[Goal, Filling | None]]
) -> str:
    """The answer: what the tools said, what failed, what nothing could be found for."""
    good = [attempt for attempt in transcript.attempts if not attempt.failed]
    sentences = [_result(attempt) for attempt in good]
    sentences += _failures(transcript, good)
    sentences += [_missing(goal, filling) for goal, filling in given_up if filling is not None]
    if not sentences:
        return _nothing_fits(offers)
    if offers.all and not given_up:
        sentences += [f"I found no tool for “{clause.text.rstrip('.?!')}”." for clause in whole.unmatched]
    return " ".join(sentences)


def _result(attempt: Attempt) -> str:
    """A result as a sentence."""
    structured: Any = attempt.structured
    if isinstance(structured, (dict, list)):
        return f"{_spoken(attempt.tool)} gives {_flat(structured)}."
    text = attempt.text.strip()
    text = text if len(text) <= _MAX_RESULT else text[:_MAX_RESULT] + "…"
    if " " not in text:
        return f"{_spoken(attempt.tool)} gives {text}."
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _failures(transcript: Transcript, good: Sequence[Attempt]) -> list[str]:
    """The last failure of each tool that never succeeded."""
    succeeded = {attempt.tool for attempt in good}
    last = {
        attempt.tool: attempt for attempt in transcript.attempts if attempt.failed and attempt.tool not in succeeded
    }
    return [f"{_spoken(tool)} did not work: {attempt.text.strip().rstrip('.')}." for tool, attempt in last.items()]


def _missing(goal: Goal, filling: Filling) -> str:
    parts = [_slot_text(slot.path, slot.choices) for slot in filling.missing]
    return f"I could not use {goal.offer.name}: the question does not say {_listed(parts)}."


def _slot_text(path: Sequence[str], choices: Sequence[Any]) -> str:
    allowed = f" (one of {', '.join(map(str, choices[:_MAX_LISTED]))})" if choices else ""
    return f"its {' '.join(path[-1].split('_'))}{allowed}"


def _nothing_fits(offers: Offers) -> str:
    if not offers.all:
        return "I have no tools to answer this with, and I am a rule-based planner that knows nothing itself."
    names = offers.names()
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return f"I found no tool that fits this question. My tools are: {', '.join(names[:_MAX_LISTED])}{more}."


def _spoken(name: str) -> str:
    """A tool's name as words."""
    text = " ".join(name.replace("-", "_").split("_")).strip() or name
    return text[:1].upper() + text[1:]


def _arguments(arguments: Mapping[str, Any]) -> str:
    parts: list[str] = []
    for name, value in arguments.items():
        if isinstance(value, dict):
            parts.append(_arguments(cast("dict[str, Any]", value)))
        else:
            parts.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
    return ", ".join(part for part in parts if part)


def _flat(data: Any) -> str:
    """A structured value in words: "15.5 EUR (rate 0.86, days 3)"."""
    if isinstance(data, dict):
        first, *rest = _entries(cast("dict[str, Any]", data)) or ["nothing"]
        return f"{first} ({', '.join(rest)})" if rest else first
    if isinstance(data, list):
        items = cast("list[Any]", data)
        more = f" and {len(items) - _MAX_LISTED} more" if len(items) > _MAX_LISTED else ""
        return (", ".join(_flat(item) for item in items[:_MAX_LISTED]) + more) or "nothing"
    return str(data)


def _entries(data: dict[str, Any]) -> list[str]:
    """The entries of an object; a number is joined with its currency or unit."""
    currency = next((key for key, value in data.items() if isinstance(value, str) and value in CURRENCY_CODES), None)
    amount = next((key for key, value in data.items() if _is_number(value)), None) if currency else None
    entries: list[str] = []
    for key, value in data.items():
        if key == amount and currency:
            entries.append(_entry(key, f"{value} {data[currency]}"))
        elif key != currency or amount is None:
            entries.append(_entry(key, value))
    return entries


def _entry(key: str, value: Any) -> str:
    words = split_words(key)
    if _is_number(value) and words and stem(words[-1]) in UNITS:
        return f"{value} {' '.join(words)}"
    if _is_number(value) and words and words[-1].upper() in CURRENCY_CODES:
        return _entry(" ".join(words[:-1]), f"{value} {words[-1].upper()}")
    return _flat(value) if key in _PLAIN_KEYS else f"{' '.join(words) or key} {_flat(value)}"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
