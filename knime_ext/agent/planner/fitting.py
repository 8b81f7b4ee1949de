"""How well a value fits an argument: by type, by words around it, by its place in the sentence."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from knime_ext.agent.planner.schemas import Slot
from knime_ext.agent.planner.values import Value
from knime_ext.agent.planner.vocabulary import CURRENCY_CODES, FROM_WORDS, STOP_WORDS, TO_WORDS, UNITS
from knime_ext.agent.planner.words import similarity, split_words, stem

__all__ = ["fit", "wanted_kind", "wants_free_text"]

RANK_SCORES = (2.0, 0.5, 1.0, 0.2)
"""By `Value.rank`: the clause at hand, the rest of the question, results, earlier conversation."""

STRONG, FAIR, WEAK = 3.0, 2.0, 1.0

_MONEY = frozenset(map(stem, ("amount", "money", "price", "value", "cost", "total", "budget", "balance")))
_COUNT = frozenset(map(stem, ("top", "limit", "count", "number", "max", "maximum", "min", "minimum", "n", "size")))
_COUNTED = frozenset(map(stem, ("top", "first", "last", "best", "next", "limit", "least")))
_DATE = frozenset(map(stem, ("date", "day", "when", "deadline", "since", "until", "birthday")))
_FREE_TEXT = frozenset(
    map(
        stem,
        ("text", "message", "query", "question", "prompt", "content", "search", "term", "input", "body", "comment"),
    )
)
_IDENTIFIER = frozenset(map(stem, ("id", "code", "symbol", "ticker", "key", "number", "identifier", "sku")))
_PLACE = frozenset(map(stem, ("city", "place", "location", "country", "region", "address", "town", "where")))


@lru_cache(maxsize=4096)
def _stems(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(stem(word) for word in words if word not in STOP_WORDS or word in FROM_WORDS | TO_WORDS)


def _share(one: Iterable[str], other: Iterable[str]) -> float:
    return max((similarity(a, b) for a in one for b in other), default=0.0)


def fit(slot: Slot, value: Value) -> float | None:
    """A score; None if the value cannot stand there at all."""
    if slot.choices:
        score = _fit_choice(slot, value)
    elif slot.kind in ("integer", "number"):
        score = _fit_number(slot, value)
    elif slot.kind in ("string", "any"):
        score = _fit_text(slot, value)
    else:
        score = None
    return None if score is None else score + RANK_SCORES[value.rank]


def _fit_choice(slot: Slot, value: Value) -> float | None:
    if not any(_equal(choice, value.value) for choice in slot.choices):
        return None
    return STRONG + _role(slot, value)


def _equal(choice: Any, value: Any) -> bool:
    return choice == value or (isinstance(choice, str) and isinstance(value, str) and choice.lower() == value.lower())


def _role(slot: Slot, value: Value) -> float:
    """Whether the place in the sentence fits "from ..." and "to ..." arguments."""
    words = set(slot.name_words)
    begins, ends = bool(words & FROM_WORDS), bool(words & TO_WORDS)
    if begins == ends:
        return 0.0
    if value.attached:  # "250 USD": the currency that something is converted from
        return FAIR if begins else -STRONG
    towards = value.preposition in ("to", "into", "in", "until", "till", "for")
    away = value.preposition in ("from", "since", "of")
    if not towards and not away:
        return 0.0
    return STRONG if towards == ends else -2 * STRONG


def _fit_number(slot: Slot, value: Value) -> float | None:
    if value.kind != "number" or not _in_range(slot, value.value):
        return None
    stems = _stems(slot.words)
    score = FAIR * _share(value.near, _stems(slot.name_words)) + WEAK * _share(value.near, stems)
    return score + _unit_score(slot, stems, value) + _role(slot, value)


def _in_range(slot: Slot, number: float) -> bool:
    if slot.kind == "integer" and float(number) != int(number):
        return False
    schema = slot.schema
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    return not (
        (isinstance(low, (int, float)) and number < low)
        or (isinstance(high, (int, float)) and number > high)
        or (isinstance(above, (int, float)) and number <= above)
        or (isinstance(below, (int, float)) and number >= below)
    )


def _unit_score(slot: Slot, stems: frozenset[str], value: Value) -> float:
    """An amount of money wants a currency, a weight wants kilograms, a limit wants a bare count."""
    is_money, is_count = bool(stems & _MONEY), bool(stems & _COUNT)
    measures = UNITS.get(value.unit)
    if value.near & _COUNTED and not (is_count or stems & _COUNTED):
        return -2 * STRONG
    if measures:
        return FAIR if _share((stem(measures), value.unit), stems) else -FAIR
    if value.unit:
        return FAIR if is_money else -STRONG
    if value.noun:
        return FAIR if _share((value.noun,), stems) else (-FAIR if is_money else 0.0)
    return 0.0


def _fit_text(slot: Slot, value: Value) -> float | None:
    names = _stems(slot.name_words)
    wanted = wanted_kind(slot)
    if wanted:
        return STRONG + _role(slot, value) if value.kind == wanted else None
    near = FAIR * _share(value.near, names)
    match value.kind:
        case "quoted":
            return STRONG + near
        case "name":
            place = WEAK if names & _PLACE and value.preposition else 0.0
            return FAIR + near + place + _role(slot, value)
        case "phrase":
            place = WEAK if names & _PLACE else 0.0
            only_names_it = {stem(word) for word in split_words(value.value)} <= names  # "of the department"
            return None if only_names_it else WEAK + near + place + _role(slot, value)
        case "code" | "number":
            return FAIR + near if names & _IDENTIFIER else None
        case "json":
            return FAIR + near if near and isinstance(value.value, str) else None
        case "email" | "url":
            return WEAK + near
        case _:
            return None


def wanted_kind(slot: Slot) -> str:
    """The kind of value that an argument is made for, if it is: "currency", "date", "email", "url" or ""."""
    names = _stems(slot.name_words)
    form = slot.schema.get("format")
    about = str(slot.schema.get("description", ""))
    if names & {"currency", "currenc"} or any(code in about.split() for code in CURRENCY_CODES):
        return "currency"
    if form in ("date", "date-time") or "YYYY" in about or names & _DATE:
        return "date"
    if form == "email" or stem("email") in names:
        return "email"
    if form in ("uri", "url") or names & {"url", "uri", "link"}:
        return "url"
    return ""


def wants_free_text(slot: Slot) -> bool:
    """True for an argument that takes any sentence: a query, a message, a comment."""
    return slot.kind == "string" and not slot.choices and bool(_stems(slot.name_words) & _FREE_TEXT)
