"""Parameter groups: classes of parameters that a node has as one attribute.

A group object on a node's class is a template. Reading the attribute gives a copy that is bound to the values of
that node, so one template serves all nodes. What the framework knows about a group is kept in a `ParameterGroup`
beside the object, so that the members may have any name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy, deepcopy
from enum import Enum
from typing import Any, TypeVar, cast

from knime_ext.runtime.knext.conditions import Condition, Effect, Rule
from knime_ext.runtime.knext.member_tree import current_members, load_members, member_behind, members_of
from knime_ext.runtime.knext.parameter import Member, Parameter, Values, values_of
from knime_ext.runtime.knext.version import Version

__all__ = ["GroupAttributes", "LayoutDirection", "ParameterGroup", "members_of", "parameter_group"]

Group = TypeVar("Group")

_OPTIONS = ("since_version", "is_advanced", "validator")


class LayoutDirection(Enum):
    """How the dialog lays out the members of a group."""

    VERTICAL = "VerticalLayout"
    HORIZONTAL = "HorizontalLayout"


class ParameterGroup(Member):
    """A parameter group as a part of the settings.

    Attributes:
        template: The group object whose copies nodes get.
        description: The documentation of the group's class.
        layout_direction: How the dialog lays out the members.
    """

    def __init__(self, template: object) -> None:
        self.template = template
        self.name = ""
        self.label = ""
        self.description = ""
        self.since_version = Version(0, 0, 0)
        self.is_advanced = False
        self.layout_direction = LayoutDirection.VERTICAL
        self.applied_rule = None
        self.validator: Callable[[dict[str, Any]], None] | None = None
        self.replaces_validate = False

    def own_values(self, values: Values, name: str) -> Values:
        """The values of the members; at first those that the template has."""
        if name not in values:
            own = values_of(self.template)
            # A group that a node's constructor made belongs to that node alone: it keeps its values itself.
            values[name] = deepcopy(own) if self.name else own
        return values[name]

    def read(self, values: Values, name: str) -> Any:
        """A copy of the group that is bound to the values of a node."""
        bound = copy(self.template)
        vars(bound)["__parameters__"] = self.own_values(values, name)
        return bound

    def to_json(self, values: Values, name: str) -> dict[str, Any]:
        """The settings of all members."""
        own = self.own_values(values, name)
        return {key: member.to_json(own, key) for key, member in members_of(self).items()}

    def load(self, values: Values, name: str, settings: Any, version: Version | None = None) -> None:
        """Checks and takes the settings of all members, then checks them together."""
        if not isinstance(settings, dict):
            raise TypeError(f"the settings of a group are an object, not {type(settings).__name__}")
        load_members(self.template, self.own_values(values, name), cast("dict[str, Any]", settings), version)
        self.check(self.to_json(values, name))

    def check(self, settings: dict[str, Any]) -> None:
        """Raises ValueError for settings that do not fit each other."""
        own = getattr(self.template, "validate", None)
        if own is not None and not self.replaces_validate:
            own(settings)
        if self.validator is not None:
            self.validator(settings)

    def set_default(self, values: Values, name: str, version: Version | None = None) -> None:
        """Takes the defaults of all members for a version of the extension."""
        own = self.own_values(values, name)
        for key, member in members_of(self).items():
            member.set_default(own, key, version)

    def json_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of the settings of all members."""
        properties = {key: member.json_schema(context) for key, member in current_members(self)}
        return {"type": "object", "properties": properties}


class GroupAttributes:
    """What `parameter_group` adds to a class.

    Members are attributes: those of the class are descriptors, those that the constructor has made are found here.
    """

    __knext_group__ = True
    __member__: ParameterGroup

    def __new__(cls, *args: Any, **kwargs: Any) -> GroupAttributes:
        """A group whose members have their defaults."""
        group = super().__new__(cls)
        vars(group).update(__parameters__={}, __composed__={}, __member__=ParameterGroup(group))
        return group

    def __set_name__(self, owner: type, name: str) -> None:
        self.__member__.name = name

    def __get__(self, obj: object | None, objtype: type | None = None) -> Any:
        return self if obj is None else self.__member__.read(values_of(obj), self.__member__.name)

    def __set__(self, obj: object, value: Any) -> None:
        raise RuntimeError(f"the parameter group {self.__member__.name!r} cannot be replaced; set its members instead")

    def __setattr__(self, name: str, value: Any) -> None:
        composed: dict[str, Member] = vars(self)["__composed__"]
        member = member_behind(value)
        if member is not None:
            composed[name] = member
            value.__set_name__(type(self), name)
        elif name in composed:
            _assign(composed[name], values_of(self), name, value)
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        member = vars(self).get("__composed__", {}).get(name)
        if member is None:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return member.read(values_of(self), name)

    def validator(self, override: Any = None) -> Any:
        """Decorator: the function raises ValueError for settings that do not fit each other.

        Args:
            override: False keeps the `validate` method of the class as well; it is replaced otherwise.
        """
        member = self.__member__
        if override is not None and not isinstance(override, bool):
            member.validator, member.replaces_validate = override, True
            return None

        def decorate(func: Callable[[dict[str, Any]], None]) -> None:
            member.validator, member.replaces_validate = func, bool(override)

        return decorate

    def rule(self, condition: Condition, effect: Effect) -> Any:
        """Says when the dialog shows or enables the group."""
        self.__member__.applied_rule = Rule(condition, effect)
        return self


def _assign(member: Member, values: Values, name: str, value: Any) -> None:
    if not isinstance(member, Parameter):
        raise RuntimeError(f"the parameter group {name!r} cannot be replaced; set its members instead")
    cast("Parameter[Any]", member).assign(values, name, value)


def _check_constructor(template: type) -> None:
    taken = [name for name in inspect.signature(template.__init__).parameters if name in _OPTIONS]
    if taken:
        raise SyntaxError(
            f"the constructor of the parameter group {template.__name__!r} must not have an argument {taken[0]!r}, "
            "every parameter group has it already"
        )


def parameter_group(
    label: str,
    since_version: Version | str | None = None,
    is_advanced: bool = False,
    layout_direction: LayoutDirection = LayoutDirection.VERTICAL,
) -> Callable[[type[Group]], type[Group]]:
    """Makes a class of parameters a group; an instance of it is an attribute of a node's class or of another group.

    The class may have a method `validate(self, values)` that raises ValueError for settings that do not fit each
    other. Its constructor takes `since_version`, `is_advanced` and `validator` besides its own arguments.

    Args:
        label: Name for people.
        since_version: First version of the extension that has the group.
        is_advanced: Whether the dialog hides it among the advanced settings.
        layout_direction: How the dialog lays out the members.
    """

    def decorate(template: type[Group]) -> type[Group]:
        _check_constructor(template)
        construct_template: Callable[..., None] = template.__init__

        def construct(self: GroupAttributes, *args: Any, **kwargs: Any) -> None:
            options = {name: kwargs.pop(name) for name in _OPTIONS if name in kwargs}
            construct_template(self, *args, **kwargs)
            member = self.__member__
            member.label = label
            member.description = inspect.cleandoc(template.__doc__ or "")
            member.since_version = Version.parse_version(options.get("since_version", since_version))
            member.is_advanced = options.get("is_advanced", is_advanced)
            member.validator = options.get("validator", member.validator)
            member.layout_direction = layout_direction

        bases = cast("tuple[type, ...]", (template, GroupAttributes))
        body = {"__init__": construct, "__doc__": template.__doc__, "__module__": template.__module__}
        group = type(template.__name__, bases, {**body, "__qualname__": template.__qualname__})
        return cast("type[Group]", group)

    return decorate
