"""Parameter groups: classes of parameters that a node has as one attribute.

A group object on a node's class is a template. Reading the attribute gives a copy that is bound to the values of
that node, so one template serves all nodes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from enum import Enum
from typing import Any, TypeVar, cast

from knime_ext.runtime.knext.conditions import Condition, Effect, Rule
from knime_ext.runtime.knext.parameter import Member, Parameter, Values, values_of
from knime_ext.runtime.knext.version import Version

__all__ = ["LayoutDirection", "ParameterGroup", "load_members", "members_of", "parameter_group"]

Group = TypeVar("Group")

_OPTIONS = ("since_version", "is_advanced", "validator")


class LayoutDirection(Enum):
    """How the dialog lays out the members of a group."""

    VERTICAL = "VerticalLayout"
    HORIZONTAL = "HorizontalLayout"


def members_of(owner: object) -> dict[str, Member]:
    """Parameters and groups of a node, a group or a class, by attribute name in the order of the settings."""
    cls = owner if isinstance(owner, type) else type(owner)
    found: dict[str, Member] = {}
    for base in cls.__mro__:
        for name, value in vars(base).items():
            if isinstance(value, Member):
                found.setdefault(name, value)
    if isinstance(owner, ParameterGroup):
        found.update(owner.composed_members())
    return found


def load_members(
    owner: object, values: Values, settings: Any, version: Version | None, path: tuple[str, ...] = ()
) -> None:
    """Checks and takes the settings of all members; those without a setting keep their value.

    Args:
        owner: Node, group or class with the members.
        values: Where the values go.
        settings: Setting by attribute name.
        version: Version that wrote the settings: members that are newer take the default of that version. None
            for settings that people write, where anything may be left out.
        path: Names of the groups around, for errors.

    Raises:
        SettingRefused: A value is unusable.
    """
    modify = getattr(owner, "_modify_parameters", None)
    if modify is not None:
        settings = modify(settings)
    for name, member in members_of(owner).items():
        with _naming((*path, name)):
            if name in settings:
                member.load(values, name, settings[name])
            elif version is not None and member.since_version > version:
                member.set_default(values, name, version)


class SettingRefused(ValueError):
    """A setting has an unusable value.

    Attributes:
        path: Names of the groups around the parameter and its own.
        reason: What is wrong with the value.
    """

    def __init__(self, path: tuple[str, ...], reason: str) -> None:
        super().__init__(f"{'.'.join(path)}: {reason}")
        self.path = path
        self.reason = reason


class _naming:
    """Adds the place to the error of a validator."""

    def __init__(self, path: tuple[str, ...]) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SettingRefused):
            raise SettingRefused(self._path + error.path, error.reason) from error.__cause__
        if isinstance(error, (ValueError, TypeError)):
            raise SettingRefused(self._path, str(error)) from error


class ParameterGroup(Member):
    """What `parameter_group` adds to a class."""

    _layout: LayoutDirection
    _template: type

    def __new__(cls, *args: Any, **kwargs: Any) -> ParameterGroup:
        """A group whose members have their defaults."""
        group = super().__new__(cls)
        vars(group).update(__parameters__={}, __composed__={}, applied_rule=None, _validator=None, _replaces=False)
        return group

    def __set_name__(self, owner: type, name: str) -> None:
        vars(self)["name"] = name

    @property
    def layout_direction(self) -> LayoutDirection:
        """How the dialog lays out the members."""
        return self._layout

    @property
    def description(self) -> str:
        """The documentation of the class."""
        return inspect.cleandoc(self._template.__doc__ or "")

    def composed_members(self) -> dict[str, Member]:
        """Members that the constructor has made, by attribute name."""
        return vars(self)["__composed__"]

    # Members are attributes: those of the class are descriptors, those of the constructor are looked up here.

    def __setattr__(self, name: str, value: Any) -> None:
        composed = self.composed_members()
        if isinstance(value, Member):
            composed[name] = value
            value.__set_name__(type(self), name)  # pyright: ignore[reportAttributeAccessIssue]
        elif name in composed:
            _assign(composed[name], values_of(self), name, value)
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        member = vars(self).get("__composed__", {}).get(name)
        if member is None:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return member.read(values_of(self), name)

    def __get__(self, obj: object | None, objtype: type | None = None) -> Any:
        return self if obj is None else self.read(values_of(obj), self.name)

    def __set__(self, obj: object, value: Any) -> None:
        raise RuntimeError(f"the parameter group {self.name!r} cannot be replaced; set its members instead")

    def _own_values(self, values: Values, name: str) -> Values:
        return values.setdefault(name, deepcopy(vars(self)["__parameters__"]))

    def read(self, values: Values, name: str) -> Any:
        """The group bound to the values of a node."""
        bound = copy(self)
        vars(bound)["__parameters__"] = self._own_values(values, name)
        return bound

    def to_json(self, values: Values, name: str) -> dict[str, Any]:
        """The settings of all members."""
        own = self._own_values(values, name)
        return {key: member.to_json(own, key) for key, member in members_of(self).items()}

    def load(self, values: Values, name: str, settings: Any, version: Version | None = None) -> None:
        """Checks and takes the settings of all members, then checks the group as a whole."""
        if not isinstance(settings, dict):
            raise TypeError(f"the settings of a group are an object, not {type(settings).__name__}")
        load_members(self, self._own_values(values, name), settings, version)
        self.check(self.to_json(values, name))

    def set_default(self, values: Values, name: str, version: Version | None = None) -> None:
        """Takes the defaults of all members for a version of the extension."""
        own = self._own_values(values, name)
        for key, member in members_of(self).items():
            member.set_default(own, key, version)

    def check(self, settings: dict[str, Any]) -> None:
        """Raises ValueError for settings that do not fit each other."""
        own = getattr(self, "validate", None)
        if own is not None and not vars(self)["_replaces"]:
            own(settings)
        if self._validator is not None:
            self._validator(settings)

    def validator(self, override: Any = None) -> Any:
        """Decorator: the function raises ValueError for settings that do not fit each other.

        Args:
            override: False keeps the `validate` method of the class as well; it is replaced otherwise.
        """
        if not isinstance(override, bool) and override is not None:
            vars(self).update(_validator=override, _replaces=True)
            return None

        def decorate(func: Callable[[dict[str, Any]], None]) -> None:
            vars(self).update(_validator=func, _replaces=bool(override))

        return decorate

    def rule(self, condition: Condition, effect: Effect) -> Any:
        """Says when the dialog shows or enables the group."""
        vars(self)["applied_rule"] = Rule(condition, effect)
        return self

    def json_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of the settings of all members."""
        properties = {key: member.json_schema(context) for key, member in current_members(self)}
        return {"type": "object", "properties": properties}


def current_members(owner: object) -> Iterator[tuple[str, Member]]:
    """The members that the current version of the extension has."""
    from knime_ext.runtime.knext.version import extension_version

    return ((key, m) for key, m in members_of(owner).items() if m.since_version <= extension_version())


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

        def construct(self: Any, *args: Any, **kwargs: Any) -> None:
            options = {name: kwargs.pop(name) for name in _OPTIONS if name in kwargs}
            template.__init__(self, *args, **kwargs)
            vars(self).update(
                label=label,
                since_version=Version.parse_version(options.get("since_version", since_version)),
                is_advanced=options.get("is_advanced", is_advanced),
                _validator=options.get("validator"),
            )

        body = {"__init__": construct, "__doc__": template.__doc__, "__module__": template.__module__}
        group = type(
            template.__name__, (template, ParameterGroup), {**body, "_layout": layout_direction, "_template": template}
        )
        group.__qualname__ = template.__qualname__
        return cast("type[Group]", group)

    return decorate
