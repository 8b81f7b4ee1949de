"""What differs between two JSON values, so exactly that one can be made of the other. No I/O."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

__all__ = ["ABSENT", "Difference", "differences", "reverted"]


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final[Any] = _Absent()
"""Stands for a value that is not there; null is a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place where two values differ.

    Attributes:
        path: Keys and indices that lead there.
        before: The first value's part, or `ABSENT`.
        after: The second value's part, or `ABSENT`.
    """

    path: tuple[str | int, ...]
    before: Any
    after: Any

    @property
    def place(self) -> str:
        """The path as JSON Pointer (RFC 6901)."""
        return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in self.path)

    def __str__(self) -> str:
        return f"{self.place or '/'}: {_shown(self.before)} -> {_shown(self.after)}"


def _shown(value: Any) -> str:
    return "nothing" if value is ABSENT else json.dumps(value, ensure_ascii=False)


def differences(before: Any, after: Any, path: tuple[str | int, ...] = ()) -> Iterator[Difference]:
    """The places where two JSON values differ, outermost keys first."""
    if isinstance(before, dict) and isinstance(after, dict):
        old, new = cast("dict[str, Any]", before), cast("dict[str, Any]", after)
        for key in {**old, **new}:
            yield from differences(old.get(key, ABSENT), new.get(key, ABSENT), (*path, key))
        return
    if isinstance(before, list) and isinstance(after, list):
        old_items, new_items = cast("list[Any]", before), cast("list[Any]", after)
        if len(old_items) == len(new_items):
            for place, (old_item, new_item) in enumerate(zip(old_items, new_items, strict=True)):
                yield from differences(old_item, new_item, (*path, place))
            return
    if not _same(before, after):
        yield Difference(path=path, before=before, after=after)


def _same(before: Any, after: Any) -> bool:
    """Equal as JSON: 1 and true are not, 1 and 1.0 neither."""
    return repr(before) == repr(after)


def reverted(after: Any, changes: Sequence[Difference]) -> Any:
    """The first value, made of the second and their differences."""
    holder: Any = [copy.deepcopy(after)]
    for change in changes:
        target: Any = holder
        steps: tuple[str | int, ...] = (0, *change.path)
        for step in steps[:-1]:
            target = target[step]
        if change.before is ABSENT:
            del target[steps[-1]]
        else:
            target[steps[-1]] = copy.deepcopy(change.before)
    return holder[0]
