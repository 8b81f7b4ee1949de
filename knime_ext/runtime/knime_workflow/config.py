"""The tree that KNIME keeps all of its settings in: configs hold typed entries and further configs, by key.

An entry's value stays the text that stands in the file; `Entry.value` gives it as the type that the entry names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = [
    "ARRAY_SIZE",
    "Config",
    "Entry",
    "Place",
    "boolean",
    "char",
    "double",
    "integer",
    "is_writable_key",
    "long",
    "text",
    "texts",
]

ARRAY_SIZE = "array-size"
_INT, _LONG = 31, 63
_NO_KEY = re.compile(r"[\x00-\x1f\ud800-\udfff\ufffe\uffff]")

Place: TypeAlias = str
"""Keys of the configs around an entry and its own, joined by "/"."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One typed value.

    Attributes:
        type: KNIME's name of the type, such as "xstring".
        written: The value as the file has it; None for null.
    """

    type: str
    written: str | None

    @property
    def value(self) -> Any:
        """The value in Python.

        Raises:
            ValueError: The text is none of its type.
        """
        if self.written is None:
            return None
        if self.type in ("xint", "xlong", "xshort", "xbyte"):
            return int(self.written)
        if self.type in ("xdouble", "xfloat"):
            return _read_number(self.written)
        return self.written.lower() == "true" if self.type == "xboolean" else self.written


class Config(dict[str, "Entry | Config"]):
    """Entries and configs by key, in the order of the file."""

    def config(self, place: Place) -> Config:
        """The config at a place, made if it is not there."""
        here = self
        for key in place.split("/"):
            below = here.get(key)
            if not isinstance(below, Config):
                below = here[key] = Config()
            here = below
        return here

    def put(self, place: Place, content: Entry | Config) -> None:
        """Sets what is at a place."""
        above, _, key = place.rpartition("/")
        (self.config(above) if above else self)[key] = content

    def find(self, place: Place) -> Entry | Config | None:
        """What is at a place, None if there is nothing."""
        here: Entry | Config | None = self
        for key in place.split("/"):
            here = here.get(key) if isinstance(here, Config) else None
        return here

    def below(self, place: Place) -> Config:
        """The config at a place; an empty one if there is none."""
        found = self.find(place)
        return found if isinstance(found, Config) else Config()

    def value(self, place: Place, default: Any = None) -> Any:
        """The value of the entry at a place, the default if there is none or it is null.

        Raises:
            ValueError: The entry's text is none of its type.
        """
        found = self.find(place)
        value = found.value if isinstance(found, Entry) else None
        return default if value is None else value

    def string(self, place: Place, default: str = "") -> str:
        """The text of the entry at a place, the default if there is none or it is null."""
        found = self.find(place)
        return found.written if isinstance(found, Entry) and found.written is not None else default

    def array(self, place: Place) -> list[Any]:
        """The values of an array of entries; empty if there is none.

        Raises:
            ValueError: The text of an entry is none of its type.
        """
        return [entry.value for entry in self.below(place).numbered() if isinstance(entry, Entry)]

    def numbered(self) -> Iterator[Entry | Config]:
        """What stands under the keys "0", "1" and so on, without a gap."""
        for number in range(len(self)):
            if str(number) not in self:
                return
            yield self[str(number)]

    def configs(self) -> Iterator[tuple[str, Config]]:
        """The configs in here with their keys."""
        return ((key, content) for key, content in self.items() if isinstance(content, Config))


def is_writable_key(key: str) -> bool:
    """Whether XML can hold a key; unlike values, keys have no escapes."""
    return bool(key) and not _NO_KEY.search(key)


def text(value: str | None) -> Entry:
    """A text, or null."""
    return Entry("xstring", value)


def boolean(value: bool) -> Entry:
    """A Boolean."""
    return Entry("xboolean", "true" if value else "false")


def integer(value: int) -> Entry:
    """A whole number of 32 bits; beyond them the nearest, because KNIME cannot load a file with any other."""
    return Entry("xint", str(_within(value, _INT)))


def long(value: int) -> Entry:
    """A whole number of 64 bits; beyond them the nearest."""
    return Entry("xlong", str(_within(value, _LONG)))


def double(value: float) -> Entry:
    """A number, as Java writes it."""
    try:
        return Entry("xdouble", _written_number(float(value)))
    except OverflowError:
        return Entry("xdouble", _written_number(math.inf if value > 0 else -math.inf))


def char(value: str) -> Entry:
    """One character."""
    return Entry("xchar", value)


def texts(values: Iterable[str | None]) -> Config:
    """An array of texts."""
    entries = list(map(text, values))
    return Config({ARRAY_SIZE: integer(len(entries)), **{str(at): entry for at, entry in enumerate(entries)}})


def _within(value: int, bits: int) -> int:
    return max(-(1 << bits), min(value, (1 << bits) - 1))


def _written_number(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def _read_number(written: str) -> float:
    return float({"Infinity": "inf", "-Infinity": "-inf"}.get(written, written))
