"""The tree of parameters and groups of a node: walking it, and taking settings into it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, cast

from knime_ext.runtime.knext.parameter import Member, Values
from knime_ext.runtime.knext.version import Version, extension_version

__all__ = ["SettingRefused", "current_members", "load_members", "member_behind", "members_of"]


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


@contextmanager
def _naming(name: str) -> Generator[None]:
    """Adds the place to the error of a validator."""
    try:
        yield
    except SettingRefused as refused:
        raise SettingRefused((name, *refused.path), refused.reason) from refused.__cause__
    except (ValueError, TypeError) as error:
        raise SettingRefused((name,), str(error)) from error
    except Exception as error:  # a validator that stumbles over a value refuses it, too
        raise SettingRefused((name,), f"{type(error).__name__}: {error}") from error


def member_behind(value: object) -> Member | None:
    """The parameter or group that an attribute holds, if it holds one."""
    if isinstance(value, Member):
        return value
    # Groups are objects of people's own classes; what belongs to the framework sits out of the way of their names.
    return getattr(value, "__member__", None) if hasattr(type(value), "__knext_group__") else None


def members_of(owner: object) -> dict[str, Member]:
    """Parameters and groups of a node, a group or a class, by attribute name in the order of the settings."""
    if isinstance(owner, Member):
        owner = getattr(owner, "template", owner)
    cls = owner if isinstance(owner, type) else type(owner)
    found: dict[str, Member] = {}
    for base in cls.__mro__:
        for name, value in vars(base).items():
            member = member_behind(value)
            if member is not None:
                found.setdefault(name, member)
    if not isinstance(owner, type):
        found.update(_members_in(cast("dict[str, Any]", getattr(owner, "__dict__", {}))))
    return found


def _members_in(attributes: dict[str, Any]) -> dict[str, Member]:
    """Members that a constructor has made: a group keeps them apart, in a node they are plain attributes."""
    if "__composed__" in attributes:
        return attributes["__composed__"]
    return {name: member for name, value in attributes.items() if (member := member_behind(value)) is not None}


def current_members(owner: object) -> Iterator[tuple[str, Member]]:
    """The members that the current version of the extension has."""
    return ((name, m) for name, m in members_of(owner).items() if m.since_version <= extension_version())


def load_members(owner: object, values: Values, settings: dict[str, Any], version: Version | None) -> None:
    """Checks and takes the settings of all members; those without a setting keep their value.

    Args:
        owner: Node or group with the members.
        values: Where the values go.
        settings: Setting by attribute name.
        version: Version that wrote the settings: members that are newer take the default of that version. None
            for settings that people write, where anything may be left out.

    Raises:
        SettingRefused: A value is unusable.
    """
    modify = getattr(owner, "_modify_parameters", None)
    if modify is not None:
        settings = modify(settings)
    for name, member in members_of(owner).items():
        with _naming(name):
            if name in settings:
                member.load(values, name, settings[name], version)
            elif version is not None and member.since_version > version:
                member.set_default(values, name, version)
