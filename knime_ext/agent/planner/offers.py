"""The tools that a model was offered, as the planner looks at them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Any

from knime_ext.agent.planner.schemas import Slot, slots_of
from knime_ext.agent.planner.words import content_words, similarity

__all__ = ["Offer", "Offers"]

NAME_WEIGHT = 3.0
FIRST_SENTENCE_WEIGHT = 1.5
DESCRIPTION_WEIGHT = 1.0
ARGUMENT_WEIGHT = 1.0

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s|\n")
_OUTPUT_PORTS = re.compile(r"^Data outputs:\n((?:- .*\n?)+)", re.MULTILINE)


@dataclass(frozen=True)
class Offer:
    """One tool.

    Attributes:
        name: Name to call it by.
        description: Its description.
        schema: JSON Schema of its arguments.
    """

    name: str
    description: str
    schema: Mapping[str, Any]

    @classmethod
    def read(cls, tool: Mapping[str, Any]) -> Offer:
        """A tool in OpenAI's form."""
        function = tool.get("function", tool)
        return cls(function["name"], function.get("description") or "", function.get("parameters") or {})

    @cached_property
    def slots(self) -> list[Slot]:
        """The values that a call may carry."""
        return slots_of(self.schema)

    @cached_property
    def weights(self) -> dict[str, float]:
        """Stems that tell what the tool is for, with how much they tell."""
        weights: dict[str, float] = {}

        def give(text: str, weight: float) -> None:
            for word in content_words(text):
                weights[word] = max(weights.get(word, 0.0), weight)

        first, *rest = _SENTENCE_END.split(self.description)
        give(" ".join(rest), DESCRIPTION_WEIGHT)
        for slot in self.slots:
            give(f"{slot.path[-1]} {' '.join(map(str, slot.choices))}", ARGUMENT_WEIGHT)
        give(first, FIRST_SENTENCE_WEIGHT)
        give(self.name, NAME_WEIGHT)
        return weights

    @cached_property
    def output_ports(self) -> list[str]:
        """Names and descriptions of the tables that the tool gives."""
        found = _OUTPUT_PORTS.search(self.description)
        return [line.removeprefix("- ") for line in found.group(1).splitlines()] if found else []

    def weight(self, word: str) -> float:
        """How much a word of a question speaks for this tool, before its rarity."""
        if word not in self._looked_up:
            weights = (similarity(word, own) * weight for own, weight in self.weights.items())
            self._looked_up[word] = max(weights, default=0.0)
        return self._looked_up[word]

    @cached_property
    def _looked_up(self) -> dict[str, float]:
        return {}


class Offers:
    """All tools that were offered, with the rarity of their words."""

    def __init__(self, tools: Sequence[Mapping[str, Any]]) -> None:
        self.all = [Offer.read(tool) for tool in tools]
        self._rarities: dict[str, float] = {}
        self._by_name = {offer.name: offer for offer in self.all}

    def __getitem__(self, name: str) -> Offer:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def rarity(self, word: str) -> float:
        """1 for a word that fits every tool, more for one that fits few."""
        if word not in self._rarities:
            fitting = sum(1 for offer in self.all if offer.weight(word) > 0)
            self._rarities[word] = 1.0 + log(len(self.all) / fitting) if fitting else 1.0
        return self._rarities[word]

    def score(self, words: Mapping[str, float], offer: Offer) -> float:
        """How well a tool fits weighted words of a question."""
        return sum(self.rarity(word) * offer.weight(word) * weight for word, weight in words.items())

    def names(self) -> list[str]:
        """The names, in order."""
        return list(self._by_name)
