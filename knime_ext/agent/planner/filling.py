"""Fills the arguments of a call from the values at hand."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from knime_ext.agent.data import DataLine
from knime_ext.agent.planner.fitting import fit, wanted_kind, wants_free_text
from knime_ext.agent.planner.offers import Offer
from knime_ext.agent.planner.schemas import Slot
from knime_ext.agent.planner.values import Value
from knime_ext.agent.planner.vocabulary import FALSE_WORDS
from knime_ext.agent.planner.words import content_words, similarity, split_words, stem

__all__ = ["Evidence", "Filling", "fill"]

MIN_REQUIRED = 0.5
MIN_OPTIONAL = 4.0

Place = tuple[tuple[str, ...], str]
"""An argument (its path) with a value in it (as JSON): what is not to be tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a call can be filled from.

    Attributes:
        text: The part of the question that the call is for.
        values: Values, each with the rank of where it comes from.
        data: The tables.
    """

    text: str
    values: Sequence[Value]
    data: Sequence[DataLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """Arguments of a call, and what is missing.

    Attributes:
        arguments: The arguments found.
        missing: Required arguments that nothing fits.
        places: What was filled with what, the least certain first.
        rank: The farthest rank of any value used.
    """

    arguments: dict[str, Any]
    missing: tuple[Slot, ...]
    places: tuple[Place, ...]
    rank: int


def fill(
    offer: Offer,
    evidence: Evidence,
    *,
    banned: Collection[Place] = (),
    insist: Collection[str] = (),
) -> Filling:
    """Fills a call as well as the evidence allows.

    Args:
        offer: The tool.
        evidence: What there is.
        banned: Fillings that have failed.
        insist: Names of optional arguments that the tool asked for after all.
    """
    slots = [replace(slot, required=True) if slot.path[-1] in insist else slot for slot in offer.slots]
    chosen = _matched(slots, evidence, banned)
    for slot in slots:
        if slot.path not in chosen and (found := _special(slot, evidence, chosen)) is not None:
            chosen[slot.path] = (found, 0.0, 0)
    chosen = _consistent(slots, chosen, evidence)
    missing = [slot for slot in slots if slot.required and slot.path not in chosen]
    for slot in [slot for slot in missing if slot.has_default]:
        chosen[slot.path] = (slot.schema["default"], 0.0, 0)
    by_doubt = sorted(chosen.items(), key=lambda item: item[1][1])
    return Filling(
        arguments=_nested({path: value for path, (value, _, _) in chosen.items()}, slots),
        missing=tuple(slot for slot in missing if slot.path not in chosen),
        places=tuple((path, json.dumps(value, default=str)) for path, (value, _, _) in by_doubt),
        rank=max((rank for _, _, rank in chosen.values()), default=0),
    )


Chosen = dict[tuple[str, ...], tuple[Any, float, int]]
"""Path of an argument to its value, the score and the rank of the value."""


def _matched(slots: Sequence[Slot], evidence: Evidence, banned: Collection[Place]) -> Chosen:
    """The best pairs of arguments and values first; each value is used once."""
    pairs: list[tuple[float, int, int]] = []
    for place, slot in enumerate(slots):
        least = MIN_REQUIRED if slot.required else _least_optional(slot)
        for position, value in enumerate(evidence.values):
            score = None if slot.is_data_id else fit(slot, value)
            if score is not None and score >= least and (slot.required or value.rank < 2):
                pairs.append((-score - slot.required, place, position))
    chosen: Chosen = {}
    used: set[int] = set()
    for negative, place, position in sorted(pairs):
        slot, value = slots[place], evidence.values[position]
        found = _as_typed(slot, value.value)
        if slot.path in chosen or position in used or (slot.path, json.dumps(found, default=str)) in banned:
            continue
        chosen[slot.path] = (found, -negative, value.rank)
        used |= _same_thing(evidence.values, position)
    return chosen


def _least_optional(slot: Slot) -> float:
    """A text that nothing asks for needs words that speak of it; anything else only has to fit well."""
    return MIN_OPTIONAL + (1.5 if slot.kind == "string" and not slot.choices and not wanted_kind(slot) else 0.0)


def _same_thing(values: Sequence[Value], position: int) -> set[int]:
    """A value and whatever else was read from the same words."""
    value = values[position]
    return {
        index
        for index, other in enumerate(values)
        if index == position or (other.rank == value.rank and other.rank < 2 and _overlap(value, other))
    }


def _overlap(one: Value, other: Value) -> bool:
    return one.start < other.end and other.start < one.end and one.value != other.value


def _as_typed(slot: Slot, value: Any) -> Any:
    if slot.choices:
        matching = (choice for choice in slot.choices if str(choice).lower() == str(value).lower())
        return next(matching, value)
    if slot.kind == "integer":
        return int(value)
    if slot.kind == "string" and not isinstance(value, str):
        return str(value)
    return value


def _special(slot: Slot, evidence: Evidence, chosen: Chosen) -> Any:
    """Values that are not picked from a list: tables, choices, flags, lists, whole sentences."""
    if slot.is_data_id:
        best = best_data(slot, evidence)
        return best.id if best else None
    if "const" in slot.schema:
        return slot.schema["const"]
    if slot.choices:
        return _mentioned_choice(slot, evidence.text)
    if slot.kind == "boolean":
        return _flag(slot, evidence.text)
    if slot.kind == "array":
        return _list(slot, evidence, [value for value, _, _ in chosen.values()]) or None
    if slot.required and wants_free_text(slot):
        return evidence.text.strip() or None
    return None


def _mentioned_choice(slot: Slot, text: str) -> Any:
    said = [stem(word) for word in split_words(text)]
    for choice in slot.choices:
        words = [stem(word) for word in split_words(str(choice))]
        spans = (said[start : start + len(words)] for start in range(len(said)))
        if words and words in spans:
            return choice
    return None


def _flag(slot: Slot, text: str) -> bool | None:
    """True or False if the text speaks of it; False if it is required and the text does not."""
    words = split_words(text)
    names = {stem(word) for word in content_words(" ".join(slot.name_words))}
    for index, word in enumerate(words):
        if names and stem(word) in names and len(names & {stem(other) for other in words}) == len(names):
            return not FALSE_WORDS & set(words[max(index - 2, 0) : index])
    return False if slot.required and not slot.has_default else None


def _list(slot: Slot, evidence: Evidence, taken: Sequence[Any]) -> list[Any]:
    items = cast("Mapping[str, Any]", slot.schema.get("items") or {})
    kind = str(items.get("type", "any"))
    item = Slot(
        path=slot.path, kind=kind, required=True, schema={**items, "description": slot.schema.get("description", "")}
    )
    wanted = {"string": ("quoted", "name", "currency", "code"), "any": ("quoted", "number")}.get(kind, ("number",))
    found = [
        _as_typed(item, value.value)
        for value in evidence.values
        if value.rank == 0
        and value.value not in taken
        and value.kind in wanted
        and (score := fit(item, value)) is not None
        and score >= MIN_REQUIRED
    ]
    if slot.required or any(
        similarity(word, stem(name)) for word in content_words(evidence.text) for name in slot.name_words
    ):
        return found
    return []


def best_data(slot: Slot, evidence: Evidence) -> DataLine | None:
    """The table that fits an input best: by name, by columns, by words; the oldest of equals."""
    return max(evidence.data, key=lambda item: (data_fit(slot, item, evidence.text), -item.id), default=None)


def data_fit(slot: Slot, item: DataLine, text: str) -> float:
    """How well a table fits an input."""
    about = str(slot.schema.get("description", ""))
    wanted = content_words(f"{slot.path[-1]} {about}")
    score = 3.0 * sum(similarity(a, b) for a in content_words(slot.path[-1]) for b in content_words(item.name))
    score += sum(1.0 for column in item.columns if column in about)
    own = content_words(f"{item.name} {item.description} {' '.join(item.columns)}")
    score += 0.5 * sum(1.0 for word in wanted if word in own)
    return score + 0.25 * sum(1.0 for word in content_words(text) if word in own)


def _consistent(slots: Sequence[Slot], chosen: Chosen, evidence: Evidence) -> Chosen:
    """An amount that brings its currency gives it to the argument that asks for it."""
    units = [value for value in evidence.values if value.kind == "number" and value.unit.isupper()]
    amounts = [found for found, _, _ in chosen.values() if isinstance(found, (int, float))]
    unit = next((value for value in units if value.value in amounts), None)
    if unit is None:
        return chosen
    code = Value(kind="currency", value=unit.unit, attached=True, rank=unit.rank, start=unit.start)
    for slot in slots:
        score = fit(slot, code) if slot.path not in chosen else None
        if score is not None and score >= MIN_REQUIRED:
            return chosen | {slot.path: (_as_typed(slot, code.value), score, code.rank)}
    return chosen


def _nested(flat: Mapping[tuple[str, ...], Any], slots: Sequence[Slot]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for slot in slots:
        if slot.path in flat:
            inner = arguments
            for key in slot.path[:-1]:
                inner = inner.setdefault(key, {})
            inner[slot.path[-1]] = flat[slot.path]
    return arguments
