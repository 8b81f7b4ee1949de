"""Finds the few tools of many that fit a question in words: BM25 over names, descriptions and parameters. No I/O."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from knime_ext.tools.definition import ToolDefinition

__all__ = ["FOUND", "MAX_FOUND", "SEARCH_TOOLS", "ToolSearch", "first_line"]

MAX_FOUND = 20
"""Tools that one search finds at most."""

FOUND = 5
"""Tools that a search finds if it does not say how many."""

SEARCH_TOOLS = ToolDefinition(
    name="search_tools",
    description="Finds tools by words of their names and descriptions.",
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What the tool shall do, in a few words."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_FOUND,
                "default": FOUND,
                "description": "How many tools to find.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    wire_name="search_tools",
    display_name="search_tools",
    annotations={"readOnlyHint": True, "idempotentHint": True},
    origin="agent",
)

_NAME_WEIGHT = 3
"""A word in the name counts as often as that many in the description."""

_MAX_WORDS = 2_000
"""Words of one tool that are looked at; nobody needs to read more to know what it does."""

_DIGITS = 6
"""Scores that differ less are equal, so that the order never hangs on rounding."""

_PART = re.compile(
    r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+"  # HTTPServer2 -> HTTP, Server, 2
    "|[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]"  # scripts that are written without spaces: each sign
    r"|[^\W\d_A-Za-z\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]+"
)


class ToolSearch:
    """An index of tools, made once and searched from any thread.

    Args:
        definitions: The tools, names unique.
    """

    def __init__(self, definitions: Sequence[ToolDefinition]) -> None:
        from bm25s import BM25

        self._names = tuple(definition.name for definition in definitions)
        texts = [list(_words_of(definition))[:_MAX_WORDS] for definition in definitions]
        self._index: Any = None
        if any(texts):
            self._index = BM25()
            self._index.index(texts, show_progress=False)

    def find(self, query: str, limit: int = FOUND) -> list[str]:
        """The names of the tools that fit best, the best one first.

        Args:
            query: Words in any language; only tools that share a word with it are found.
            limit: How many to find at most.

        Returns:
            At most `limit` names; equal scores in the order of the tools. A tool of exactly that name comes first.
        """
        scores = self._scores(query)
        wanted = query.strip()
        ranked = sorted(
            (place for place, score in enumerate(scores) if score > 0 or self._names[place] == wanted),
            key=lambda place: (self._names[place] != wanted, -scores[place], place),
        )
        return [self._names[place] for place in ranked[: max(limit, 0)]]

    def _scores(self, query: str) -> list[float]:
        words = list(dict.fromkeys(_words(query)))[:_MAX_WORDS]
        if self._index is None or not words:
            return [0.0] * len(self._names)
        known = [word for word in words if word in self._index.vocab_dict]
        if not known:
            return [0.0] * len(self._names)
        return [round(float(score), _DIGITS) for score in self._index.get_scores(known)]


def first_line(description: str, length: int = 200) -> str:
    """The first line of a description, cut where it is long."""
    line = next(iter(description.strip().splitlines()), "")
    return line if len(line) <= length else line[: length - 1] + "…"


def _words_of(definition: ToolDefinition) -> Iterator[str]:
    names = dict.fromkeys((definition.name, definition.wire_name, definition.display_name))
    for _ in range(_NAME_WEIGHT):
        yield from dict.fromkeys(word for name in names for word in _words(name))
    yield from _words(definition.description)
    properties = definition.parameters.get("properties")
    if isinstance(properties, Mapping):
        for name in cast("Mapping[str, Any]", properties):
            yield from _words(name)


def _words(text: str) -> Iterator[str]:
    """The words of a text, as people separate them in prose and programmers in names, without accents and plurals."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    for part in _PART.findall(unicodedata.normalize("NFC", plain)):
        word = str(part).casefold()
        yield word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
