"""Texts as words: split, shortened to their stems, grouped with words of the same meaning."""

from __future__ import annotations

import re
from functools import lru_cache

from knime_ext.agent.planner.vocabulary import STOP_WORDS, SYNONYMS

__all__ = ["content_words", "similarity", "split_words", "stem"]

_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?|%")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "s")

SYNONYM_WEIGHT = 0.7


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A word without its usual endings: "orders" and "order", "ranked" and "ranking" become the same."""
    word = word.lower().removesuffix("'s")
    if len(word) <= 3 or word.endswith("ss"):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            base = word[: -len(ending)]
            return _tidy(base + "y" if ending in ("ies", "ied") else base)
    return _tidy(word)


def _tidy(base: str) -> str:
    """The same end for "estimate" and "estimat(ing)", "ship" and "shipp(ing)"."""
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsaeiou":
        return base[:-1]
    return base[:-1] if len(base) > 3 and base.endswith("e") else base


def split_words(text: str) -> list[str]:
    """All words of a text in lower case; names like `fromCurrency` and `from_currency` are taken apart."""
    return [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text))]


def content_words(text: str) -> list[str]:
    """The stems of the words that say something, in order, each once."""
    stems = (stem(word) for word in split_words(text) if word not in STOP_WORDS)
    return list(dict.fromkeys(word for word in stems if len(word) > 1 and word not in STOP_WORDS))


@lru_cache(maxsize=1)
def _groups() -> dict[str, frozenset[int]]:
    groups: dict[str, set[int]] = {}
    for number, words in enumerate(SYNONYMS):
        for word in words:
            groups.setdefault(stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in groups.items()}


@lru_cache(maxsize=65536)
def similarity(one: str, other: str) -> float:
    """How much two stems mean the same: 1 for equal ones, less for synonyms, else 0."""
    if one == other:
        return 1.0
    groups = _groups()
    return SYNONYM_WEIGHT if groups.get(one, frozenset()) & groups.get(other, frozenset()) else 0.0
