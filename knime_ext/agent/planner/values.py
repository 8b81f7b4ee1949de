"""Values that a text holds: numbers with their units, quoted words, currencies, dates, names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, cast

from knime_ext.agent.planner.vocabulary import (
    CURRENCY_CODES,
    CURRENCY_SYMBOLS,
    CURRENCY_WORDS,
    NUMBER_WORDS,
    PREPOSITIONS,
    STOP_WORDS,
    UNITS,
)
from knime_ext.agent.planner.words import split_words, stem

__all__ = ["Token", "Value", "tokens_of", "values_in", "values_in_json"]

_NEAR = 2

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS)

_TOKEN = re.compile(
    rf"""
      (?P<quoted>"[^"\n]+"|“[^”\n]+”|`[^`\n]+`|(?<!\w)'[^'\n]+'(?!\w))
    | (?P<url>https?://[^\s,;"')]+)
    | (?P<email>[\w.+-]+@[\w-]+\.[\w.-]*\w)
    | (?P<date>\d{{4}}-\d{{2}}-\d{{2}}
        | \d{{1,2}}\.?\s+(?:{_MONTH})\.?,?\s+\d{{4}} | (?:{_MONTH})\.?\s+\d{{1,2}},?\s+\d{{4}})
    | (?P<number>(?<![\w.-])[-−]?\d+(?:,\d{{3}})*(?:\.\d+)?(?![\d]))
    | (?P<symbol>[€$£¥₹₩%])
    | (?P<word>[^\W\d_][\w&'’-]*)
    | (?P<punctuation>[^\s\w])
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A piece of a text: its kind, its text, and where it begins."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """Something that may fill an argument.

    Attributes:
        kind: "number", "currency", "date", "email", "url", "quoted", "name", "code", "phrase" or "json".
        value: The value itself.
        start: Where it begins in its text.
        end: Where it ends.
        preposition: The preposition before it, if any.
        near: Stems of the words around it, or of the keys above it in JSON.
        unit: Currency code or unit (stem) of a number.
        noun: Stem of the word behind a number, if it counts something.
        attached: True for a currency that belongs to a number.
        rank: How it was found: 0 in the part of the question at hand, higher the farther away.
    """

    kind: str
    value: Any
    start: int = 0
    end: int = 0
    preposition: str = ""
    near: frozenset[str] = frozenset()
    unit: str = ""
    noun: str = ""
    attached: bool = False
    rank: int = 0


def tokens_of(text: str) -> list[Token]:
    """The pieces of a text, in order."""
    return [
        Token(kind=str(found.lastgroup), text=found.group(), start=found.start()) for found in _TOKEN.finditer(text)
    ]


def values_in(text: str) -> list[Value]:
    """All values of a text, in order."""
    tokens = tokens_of(text)
    values = [value for index in range(len(tokens)) for value in _values_at(tokens, index)]
    return sorted([*values, *_names(tokens), *_phrases(tokens)], key=lambda value: value.start)


def values_in_json(data: Any) -> list[Value]:
    """The values of a structured result, with the words of their keys."""
    return list(_json_values(data, ()))


def _json_values(data: Any, keys: tuple[str, ...]) -> Iterator[Value]:
    if isinstance(data, dict):
        units = [text for text in cast("dict[str, Any]", data).values() if _is_currency(text)]
        for key, part in cast("dict[str, Any]", data).items():
            for value in _json_values(part, (*keys, key)):
                alone = value.kind == "number" and not value.unit and len(units) == 1
                yield replace(value, unit=units[0]) if alone else value
    elif isinstance(data, list):
        for part in cast("list[Any]", data):
            yield from _json_values(part, keys)
    elif data is not None:
        near = frozenset(stem(word) for key in keys for word in split_words(key))
        kind = "number" if isinstance(data, (int, float)) and not isinstance(data, bool) else "json"
        yield Value(kind="currency" if _is_currency(data) else kind, value=data, near=near)


def _is_currency(value: Any) -> bool:
    return isinstance(value, str) and value in CURRENCY_CODES


def parsed_json(text: str) -> Any:
    """The JSON value that a text is, or None."""
    try:
        return json.loads(text) if text.lstrip()[:1] in ("{", "[") else None
    except ValueError:
        return None


def _values_at(tokens: Sequence[Token], index: int) -> Iterator[Value]:
    token = tokens[index]
    found = Value(
        kind=token.kind,
        value=token.text,
        start=token.start,
        end=token.end,
        preposition=_preposition(tokens, index),
        near=_near(tokens, index),
    )
    match token.kind:
        case "number":
            yield _number(tokens, index, replace(found, value=_parsed_number(token.text)))
        case "date":
            if day := _parsed_date(token.text):
                yield replace(found, value=day)
        case "quoted":
            yield replace(found, value=token.text[1:-1].strip())
        case "url" | "email":
            yield found
        case "word" | "symbol":
            yield from _special_word(tokens, index, found)
        case _:
            return


def _special_word(tokens: Sequence[Token], index: int, found: Value) -> Iterator[Value]:
    text = tokens[index].text
    if code := _currency(text):
        attached = _neighbour_is_number(tokens, index)
        yield replace(found, kind="currency", value=code, attached=attached)
    elif text.lower() in NUMBER_WORDS:
        yield _number(tokens, index, replace(found, kind="number", value=NUMBER_WORDS[text.lower()]))
    elif text.isupper() and 2 <= len(text) <= 8:
        yield replace(found, kind="code")


def _currency(text: str) -> str:
    if text in CURRENCY_CODES:
        return text
    return CURRENCY_SYMBOLS.get(text) or CURRENCY_WORDS.get(text.lower(), "")


def _parsed_number(text: str) -> int | float:
    plain = text.replace(",", "").replace("−", "-")
    return float(plain) if "." in plain else int(plain)


def _parsed_date(text: str) -> str:
    if text[:4].isdigit():
        return text
    number_words = re.findall(r"\d+|[^\W\d_]+", text)
    month = next(_MONTHS.index(full) + 1 for full in _MONTHS for word in number_words if full[:3] == word[:3].lower())
    numbers = [int(word) for word in number_words if word.isdigit()]
    try:
        return date(max(numbers), month, min(numbers)).isoformat()
    except ValueError:
        return ""


def _number(tokens: Sequence[Token], index: int, found: Value) -> Value:
    """A number with what it counts or measures."""
    before = tokens[index - 1].text if index else ""
    after = tokens[index + 1].text if index + 1 < len(tokens) else ""
    if code := _currency(after) or _currency(before):
        return replace(found, unit=code)
    if stem(after) in UNITS:
        return replace(found, unit=stem(after))
    counts = after[:1].isalpha() and after.lower() not in STOP_WORDS | PREPOSITIONS
    return replace(found, noun=stem(after)) if counts else found


def _neighbour_is_number(tokens: Sequence[Token], index: int) -> bool:
    beside = [tokens[place] for place in (index - 1, index + 1) if 0 <= place < len(tokens)]
    return any(token.kind == "number" or token.text.lower() in NUMBER_WORDS for token in beside)


def _preposition(tokens: Sequence[Token], index: int) -> str:
    """The preposition before a value, with at most an article, a number or a few words of the same phrase between."""
    for place in range(index - 1, max(index - 4, -1), -1):
        token = tokens[place]
        if token.kind == "punctuation" and token.text not in "(":
            return ""
        if token.text.lower() in PREPOSITIONS:
            return token.text.lower()
    return ""


def _near(tokens: Sequence[Token], index: int) -> frozenset[str]:
    """Stems of the words around a value, up to the next punctuation."""
    stems: set[str] = set()
    for step in (-1, 1):
        place, seen = index + step, 0
        while 0 <= place < len(tokens) and seen < _NEAR:
            token = tokens[place]
            if token.kind == "punctuation" and token.text not in ":=(":
                break
            if token.kind == "word" and (token.text.lower() not in STOP_WORDS or token.text.lower() == "first"):
                stems.update(stem(word) for word in split_words(token.text))
                seen += 1
            place += step
    return frozenset(stems)


def _names(tokens: Sequence[Token]) -> Iterator[Value]:
    """Words in capitals that belong together, such as "Northwind Traders"; a lone one must not begin a sentence."""
    index = 0
    while index < len(tokens):
        end = index
        while end < len(tokens) and _is_capitalised(tokens[end], joined=end > index):
            end += 1
        if end > index and (end - index > 1 or not _begins_sentence(tokens, index)):
            text = " ".join(token.text for token in tokens[index:end])
            yield Value(
                kind="name",
                value=text,
                start=tokens[index].start,
                end=tokens[end - 1].end,
                preposition=_preposition(tokens, index),
                near=_near(tokens, index),
            )
        index = max(end, index + 1)


def _is_capitalised(token: Token, *, joined: bool) -> bool:
    text = token.text
    if joined and text == "&":
        return True
    plain = token.kind == "word" and text[:1].isupper() and not _currency(text)
    is_code = text.isupper() and len(text) > 1
    return plain and not is_code and text.lower() not in STOP_WORDS


def _begins_sentence(tokens: Sequence[Token], index: int) -> bool:
    return index == 0 or (tokens[index - 1].kind == "punctuation" and tokens[index - 1].text in ".?!")


def _phrases(tokens: Sequence[Token]) -> Iterator[Value]:
    """What follows a preposition, up to three plain words: "in berlin", "about solar panels"."""
    for index, token in enumerate(tokens):
        if token.text.lower() not in PREPOSITIONS:
            continue
        words: list[Token] = []
        for following in tokens[index + 1 : index + 5]:
            lower = following.text.lower()
            if not words and lower in ("the", "a", "an", "our", "my"):
                continue
            if following.kind != "word" or lower in STOP_WORDS or lower in PREPOSITIONS or len(words) == 3:
                break
            words.append(following)
        if words:
            text = " ".join(word.text for word in words)
            yield Value(
                kind="phrase",
                value=text,
                start=words[0].start,
                end=words[-1].end,
                preposition=token.text.lower(),
                near=_near(tokens, index),
            )
