"""What all parameters share: a descriptor on the node's class whose value lives in the node.

Values sit in `node.__parameters__`, a dict of attribute name to value; a group's value is such a dict again.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, ClassVar, Generic, Self, TypeVar, cast, overload

from knime_ext.runtime.knext.conditions import Condition, Effect, Rule
from knime_ext.runtime.knext.version import Version, extension_version

__all__ = ["DefaultValue", "Member", "Parameter", "Values", "values_of"]

T = TypeVar("T")
DefaultValue = T | Callable[[Version], T]
"""A default, or a function that gives it for a version of the extension."""

Values = dict[str, Any]


def values_of(owner: object) -> Values:
    """The values of a node's or a group's parameters by attribute name; filled as they are read or set."""
    return vars(owner).setdefault("__parameters__", {})


class Member:
    """A parameter or a group of them: a named part of a node's settings.

    Attributes:
        name: Name of the attribute, which is also the key in the settings.
        label: Name for people.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
        applied_rule: When the dialog shows or enables it, if that depends on something.
    """

    name: str
    label: str
    since_version: Version
    is_advanced: bool
    applied_rule: Rule | None

    def read(self, values: Values, name: str) -> Any:
        """The value for the node's code."""
        raise NotImplementedError

    def to_json(self, values: Values, name: str) -> Any:
        """The value as settings keep it."""
        raise NotImplementedError

    def load(self, values: Values, name: str, settings: Any, version: Version | None = None) -> None:
        """Checks and takes a value from settings that this version of the extension wrote, if known."""
        raise NotImplementedError

    def set_default(self, values: Values, name: str, version: Version | None = None) -> None:
        """Takes the default of a version of the extension, the current one if not given."""
        raise NotImplementedError

    def json_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of the value in the settings."""
        raise NotImplementedError


class Parameter(Member, Generic[T]):
    """One setting of a node; an attribute of the node's class or of a parameter group.

    Args:
        label: Name for people; the name of the attribute if not given.
        description: What it does, in Markdown.
        default_value: The default, or a function that gives it for a version of the extension.
        validator: Function that raises ValueError for an unusable value; replaces the built-in check.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
    """

    keeps_builtin_check: ClassVar[bool] = False

    def __init__(
        self,
        label: str | None,
        description: str | None,
        default_value: Any,
        validator: Callable[[Any], None] | None = None,
        since_version: Version | str | None = None,
        is_advanced: bool = False,
    ) -> None:
        self.label = label or ""
        self._has_label = label is not None
        self.description = description or ""
        self.default_value = default_value
        self.since_version = Version.parse_version(since_version)
        self.is_advanced = is_advanced
        self.applied_rule = None
        self._validator = validator

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        if not self._has_label:
            self.label = name

    @overload
    def __get__(self, obj: None, objtype: type | None = None) -> Self: ...
    @overload
    def __get__(self, obj: object, objtype: type | None = None) -> T: ...
    def __get__(self, obj: object | None, objtype: type | None = None) -> Self | T:
        return self if obj is None else self.read(values_of(obj), self.name)

    def __set__(self, obj: object, value: T) -> None:
        self.assign(values_of(obj), self.name, value)

    def read(self, values: Values, name: str) -> T:
        """The value for the node's code; the default if none was set."""
        if name not in values:
            values[name] = self.default_for()
        return values[name]

    def assign(self, values: Values, name: str, value: Any) -> None:
        """Checks and takes a value.

        Raises:
            ValueError: The value is unusable.
            TypeError: The value is of another type.
        """
        self.check(value)
        values[name] = value

    def default_for(self, version: Version | None = None) -> Any:
        """The default of a version of the extension, the current one if not given."""
        if callable(self.default_value):
            return cast("Callable[[Version], Any]", self.default_value)(version or extension_version())
        return deepcopy(self.default_value)

    def set_default(self, values: Values, name: str, version: Version | None = None) -> None:
        """Takes the default of a version of the extension, the current one if not given."""
        self.assign(values, name, self.default_for(version))

    def check(self, value: Any) -> None:
        """Raises ValueError or TypeError for a value that the parameter cannot have."""
        if self._validator is None:
            self.check_builtin(value)
            return
        if self.keeps_builtin_check:
            self.check_builtin(value)
        self._validator(value)

    def check_builtin(self, value: Any) -> None:
        """The check without a validator of one's own."""

    def encoded(self, value: Any) -> Any:
        """A value as settings keep it."""
        return value

    def decoded(self, value: Any) -> Any:
        """A value out of settings."""
        return value

    def to_json(self, values: Values, name: str) -> Any:
        """The value as settings keep it."""
        return self.encoded(self.read(values, name))

    def load(self, values: Values, name: str, settings: Any, version: Version | None = None) -> None:
        """Checks and takes a value from settings."""
        self.assign(values, name, self.decoded(settings))

    def validator(self, func: Callable[[Any], None]) -> None:
        """Decorator: the function raises ValueError for an unusable value."""
        self._validator = func

    def rule(self, condition: Condition, effect: Effect) -> Self:
        """Says when the dialog shows or enables the parameter."""
        self.applied_rule = Rule(condition, effect)
        return self

    def json_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of the value in the settings.

        Args:
            context: The `DialogCreationContext`, or None where no dialog is open.
        """
        return {"title": self.label, "description": self.full_description(context), **self.value_schema(context)}

    def full_description(self, context: Any) -> str:
        """The description with the options, for parameters that have some."""
        return self.description

    def value_schema(self, context: Any) -> dict[str, Any]:
        """The part of the JSON Schema that says which values there are."""
        raise NotImplementedError

    def ui_options(self, context: Any) -> dict[str, Any]:
        """How the dialog shows the parameter: its format and what belongs to it."""
        raise NotImplementedError

    def control(self, context: Any) -> dict[str, Any]:
        """The element of the dialog."""
        options = self.ui_options(context)
        if self.is_advanced:
            options["isAdvanced"] = True
        return {"type": "Control", "label": self.label, "options": options}
