"""Which tools of a list are meant: by name, glob or enum member. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from typing import TypeAlias

__all__ = ["NamePatterns", "ToolSelection", "matches_any", "name_patterns"]

NamePatterns: TypeAlias = "str | Enum | Iterable[str | Enum]"
"""One or several names, globs (`search_*`) or members of an enum whose values are names."""


def name_patterns(patterns: NamePatterns) -> tuple[str, ...]:
    """The patterns as texts; a single one may stand alone."""
    if isinstance(patterns, (str, Enum)):
        patterns = (patterns,)
    return tuple(str(pattern.value) if isinstance(pattern, Enum) else pattern for pattern in patterns)


def matches_any(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name equals one of the patterns or fits it as a glob; case matters."""
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class ToolSelection:
    """Takes what is included and not excluded.

    Attributes:
        include: Patterns of which a name must fit one; None takes every name, an empty tuple none.
        exclude: Patterns of which a name must fit none.
    """

    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(cls, include: NamePatterns | None = None, exclude: NamePatterns | None = None) -> ToolSelection:
        """The selection that these patterns describe."""
        return cls(
            include=None if include is None else name_patterns(include),
            exclude=() if exclude is None else name_patterns(exclude),
        )

    def takes(self, name: str) -> bool:
        """Whether a tool of that name is selected."""
        if self.include is not None and not matches_any(name, self.include):
            return False
        return not matches_any(name, self.exclude)
