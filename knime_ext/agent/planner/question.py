"""A question as clauses, and the tools that each clause calls for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from knime_ext.agent.planner.offers import Offer, Offers
from knime_ext.agent.planner.values import Value, values_in
from knime_ext.agent.planner.words import content_words, similarity, split_words, stem

__all__ = ["Clause", "clauses_of", "tools_for"]

FOCUS = 1.6
IMPLIED = 0.8
IN_NAME = 0.4

MIN_SCORE = 2.8
MIN_EXTRA_SCORE = 3.0
MIN_COVERAGE = 0.25
STRONG_WEIGHT = 2.0

_SENTENCES = re.compile(r"(?<=[.?!;])\s+|\n+")
_PARTS = re.compile(
    r",?\s+(?:and\s+)?then\s+|,\s+(?:and\s+|but\s+)(?:also\s+)?|\s+and\s+(?=(?:how|what|who|whom|which|where|when|also)\b)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]+\"|“[^”]+”|`[^`]+`|(?<!\w)'[^']+'(?!\w)")
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_FOCUS = re.compile(r"\b(?:which|what|whose|how many|per|each|every|by)\s+((?:[^\W\d_]|-)+)", re.IGNORECASE)


@dataclass(frozen=True)
class Clause:
    """A part of a question that asks for one thing."""

    text: str

    @cached_property
    def values(self) -> list[Value]:
        """The values in it."""
        return values_in(self.text)

    @property
    def points_back(self) -> bool:
        """True if it speaks of something that was said before: "what does it cost"."""
        return bool({"it", "that", "this", "they", "them", "their"} & set(split_words(self.text)))

    @cached_property
    def words(self) -> dict[str, float]:
        """Stems that tell what is asked, with their weight."""
        said = dict.fromkeys(content_words(_QUOTED.sub(" ", self.text)), 1.0)
        for match in _FOCUS.finditer(self.text):
            if (focus := stem(match.group(1))) in said:
                said[focus] = FOCUS
        for name in (value for value in self.values if value.kind == "name" and value.preposition):
            said |= dict.fromkeys(said.keys() & set(content_words(name.value)), IN_NAME)
        implied = dict.fromkeys((stem(word) for word in self._implied()), IMPLIED)
        return implied | said

    def _implied(self) -> list[str]:
        """Words that nobody says, because a value says them: an amount "in EUR" is about converting currencies."""
        implied: list[str] = []
        for value in self.values:
            if value.kind == "currency":
                implied.append("currency")
                implied += ["convert"] if value.preposition in ("in", "to", "into") and not value.attached else []
            if value.kind in ("date", "email", "url"):
                implied.append(value.kind)
            if value.kind == "number" and value.unit in ("kg", "kilogram", "g", "gram", "lb"):
                implied.append("weight")
        implied += ["count"] if re.search(r"\bhow many\b", self.text, re.IGNORECASE) else []
        return implied + (["amount"] if re.search(r"\bhow much\b", self.text, re.IGNORECASE) else [])


def clauses_of(text: str, offers: Offers) -> list[Clause]:
    """The parts of a question that ask for one thing each."""
    clauses: list[Clause] = []
    for sentence in _SENTENCES.split(text):
        for part in _PARTS.split(sentence):
            clauses += [Clause(piece.strip(" ,")) for piece in _split_at_and(part, offers) if piece.strip(" ,.?!")]
    return clauses


def _split_at_and(part: str, offers: Offers) -> list[str]:
    """Splits "do this and do that", but not "between 2 and 3"."""
    pieces = _AND.split(part)
    joined = [pieces[0]]
    for piece in pieces[1:]:
        if _asks_anew(piece, offers) or _repeats(joined[-1], piece) or _differ(joined[-1], piece, offers):
            joined.append(piece)
        else:
            joined[-1] = f"{joined[-1]} and {piece}"
    return joined


def _asks_anew(piece: str, offers: Offers) -> bool:
    """True for "... and convert ...", where a tool is named by its verb."""
    verbs = {stem(word) for offer in offers.all for word in split_words(offer.name)}
    return stem(next(iter(split_words(piece)), "")) in verbs


def _repeats(left: str, right: str) -> bool:
    """True for "10 USD to EUR and 20 GBP to CHF" or "in Paris and in Rome": the same again with other values."""
    kinds = [value.kind for value in values_in(right) if value.kind in ("number", "currency", "quoted", "date")]
    if len(kinds) > 1 and "number" in kinds and any(value.kind == "number" for value in values_in(left)):
        return True
    begins = right.split(" ", 1)[0].lower()
    return any(
        one.kind == other.kind == "name" and one.preposition == other.preposition == begins
        for one in values_in(left)
        for other in values_in(right)
    )


def _differ(left: str, right: str, offers: Offers) -> bool:
    """True if the two sides are clearly about different tools."""
    first, second = tools_for(Clause(left), offers)[:1], tools_for(Clause(right), offers)[:1]
    strong = [word for word in Clause(right).words for offer in second if offer.weight(word) >= STRONG_WEIGHT]
    return bool(first and strong) and first != second


def tools_for(clause: Clause, offers: Offers) -> list[Offer]:
    """The tools that a clause calls for, the best first: together they explain its words."""
    left = dict(clause.words)
    chosen: list[Offer] = []
    while left:
        best = max(
            (offer for offer in offers.all if offer not in chosen), key=lambda o: _fit(left, o, offers), default=None
        )
        if best is None or not _is_enough(left, best, offers, first=not chosen):
            break
        chosen.append(best)
        left = {word: weight for word, weight in left.items() if not best.weight(word)}
    return chosen


def _fit(words: dict[str, float], offer: Offer, offers: Offers) -> float:
    """The score, with a little more for a tool whose whole name is spoken of."""
    name = content_words(offer.name)
    spoken = sum(
        1 for own in name if any(offer.weight(word) >= STRONG_WEIGHT and similarity(word, own) for word in words)
    )
    return offers.score(words, offer) + (spoken / len(name) if name else 0.0)


def _is_enough(words: dict[str, float], offer: Offer, offers: Offers, *, first: bool) -> bool:
    fitting = {word: weight for word, weight in words.items() if offer.weight(word)}
    if not first:
        strong = any(offer.weight(word) >= STRONG_WEIGHT for word in fitting)
        return strong and offers.score(words, offer) >= MIN_EXTRA_SCORE
    coverage = sum(fitting.values()) / sum(words.values())
    return offers.score(words, offer) >= MIN_SCORE and coverage >= MIN_COVERAGE
