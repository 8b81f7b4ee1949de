"""When a dialog shows or enables a parameter: conditions on other parameters or on the dialog's context."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

__all__ = ["And", "Condition", "Contains", "DialogContextCondition", "Effect", "OneOf", "Or", "Rule"]

FindScope = Callable[[Any], str]


class Condition(ABC):
    """Something that holds or not while the dialog is open."""

    @abstractmethod
    def to_dict(self, find_scope: FindScope, ctx: Any) -> dict[str, Any]:
        """The condition as the dialog's UI schema has it.

        Args:
            find_scope: Gives the JSON pointer of a parameter.
            ctx: The dialog's context.
        """


class _Combined(Condition):
    _type = ""

    def __init__(self, *conditions: Condition) -> None:
        if not conditions:
            raise ValueError(f"{type(self).__name__} needs at least one condition")
        self._conditions = conditions

    def to_dict(self, find_scope: FindScope, ctx: Any) -> dict[str, Any]:
        """The condition as the dialog's UI schema has it."""
        return {"type": self._type, "conditions": [c.to_dict(find_scope, ctx) for c in self._conditions]}


class And(_Combined):
    """Holds if all conditions hold."""

    _type = "AND"


class Or(_Combined):
    """Holds if one of the conditions holds."""

    _type = "OR"


class OneOf(Condition):
    """Holds if a parameter has one of some values.

    Args:
        subject: The parameter.
        values: The values.
    """

    def __init__(self, subject: Any, values: list[Any]) -> None:
        self._subject = subject
        self._values = values

    def to_dict(self, find_scope: FindScope, ctx: Any) -> dict[str, Any]:
        """The condition as the dialog's UI schema has it."""
        return {"scope": find_scope(self._subject), "schema": {"oneOf": [{"const": value} for value in self._values]}}


class Contains(Condition):
    """Holds if the list in a parameter contains a value.

    Args:
        subject: The parameter.
        value: The value.
    """

    def __init__(self, subject: Any, value: Any) -> None:
        self._subject = subject
        self._value = value

    def to_dict(self, find_scope: FindScope, ctx: Any) -> dict[str, Any]:
        """The condition as the dialog's UI schema has it."""
        return {"scope": find_scope(self._subject), "schema": {"contains": {"const": self._value}}}


class DialogContextCondition(Condition):
    """Holds if a function of the dialog's context says so, for example because an input is connected.

    Args:
        ctx_predicate: Function that gets the `DialogCreationContext`.
    """

    def __init__(self, ctx_predicate: Callable[[Any], bool]) -> None:
        self._predicate = ctx_predicate

    def to_dict(self, find_scope: FindScope, ctx: Any) -> dict[str, Any]:
        """The condition as the dialog's UI schema has it: the root is an object, so "null" never holds."""
        return {"scope": "#", "schema": {"type": ["object"] if self._predicate(ctx) else ["null"]}}


class Effect(Enum):
    """What happens to the parameter while the condition holds."""

    SHOW = "SHOW"
    HIDE = "HIDE"
    ENABLE = "ENABLE"
    DISABLE = "DISABLE"


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens to a parameter, and when."""

    condition: Condition
    effect: Effect
