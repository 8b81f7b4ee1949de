"""A parameter that is a list of parameter groups: people add, remove and sort its entries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, Self, TypeVar, cast, overload

from knime_ext.runtime.knext.groups import GroupAttributes, LayoutDirection, ParameterGroup
from knime_ext.runtime.knext.member_tree import members_of
from knime_ext.runtime.knext.option_texts import with_options
from knime_ext.runtime.knext.parameter import Parameter, Values, values_of
from knime_ext.runtime.knext.version import Version

__all__ = ["ParameterArray"]

Group = TypeVar("Group")


class ParameterArray(Parameter[list[Group]], Generic[Group]):
    """A list of groups of parameters. Reading it gives the groups; set it to a list of dicts of values.

    Args:
        parameters: The group of one entry, an instance; it holds neither groups nor arrays.
        label: Name for people; the name of the attribute if not given.
        description: What it does, in Markdown; the members are added to it.
        validator: Function of the list of dicts that raises ValueError if it is unusable.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
        allow_reorder: Whether people can sort the entries.
        layout_direction: How the dialog lays out the members of an entry.
        button_text: Text of the button that adds an entry.
        array_title: Title of each entry.
    """

    keeps_builtin_check = True

    def __init__(
        self,
        parameters: Group,
        label: str | None = None,
        description: str | None = None,
        validator: Callable[[Any], None] | None = None,
        since_version: Version | str | None = None,
        is_advanced: bool = False,
        allow_reorder: bool = True,
        layout_direction: LayoutDirection = LayoutDirection.VERTICAL,
        button_text: str | None = None,
        array_title: str | None = None,
    ) -> None:
        self._entry = cast("GroupAttributes", parameters).__member__
        self._allow_reorder = allow_reorder
        self._layout_direction = layout_direction
        self._button_text = button_text
        self._array_title = array_title or "Group"
        super().__init__(label, description, [], validator, since_version, is_advanced)

    def _members(self) -> dict[str, Parameter[Any]]:
        members = members_of(self._entry)
        for name, member in members.items():
            if isinstance(member, (ParameterGroup, ParameterArray)):
                raise ValueError(f"the entries of a parameter array cannot hold groups or arrays, as {name!r} is one")
        return cast("dict[str, Parameter[Any]]", members)

    @overload
    def __get__(self, obj: None, objtype: type | None = None) -> Self: ...
    @overload
    def __get__(self, obj: object, objtype: type | None = None) -> list[Group]: ...
    def __get__(self, obj: object | None, objtype: type | None = None) -> Self | list[Group]:
        if obj is None:
            return self
        return [self._bound(entry) for entry in self.read(values_of(obj), self.name)]

    def __set__(self, obj: object, value: Sequence[Group | dict[str, Any]]) -> None:
        self.assign(values_of(obj), self.name, value)

    def _bound(self, entry: Any) -> Any:
        return self._entry.read({"entry": entry}, "entry")

    def assign(self, values: Values, name: str, value: Any) -> None:
        """Checks and takes a list of entries, as dicts of values or as groups."""
        entries: Any = value
        if isinstance(value, list):
            entries = [
                dict(values_of(entry)) if isinstance(entry, GroupAttributes) else entry
                for entry in cast("list[Any]", value)
            ]
        super().assign(values, name, entries)

    def check_builtin(self, value: Any) -> None:
        """Refuses what is no list of dicts, unknown members, and values that a member cannot have."""
        members = self._members()
        if not isinstance(value, list):
            raise TypeError(f"{value!r} must be a list")
        for entry in cast("list[Any]", value):
            if not isinstance(entry, dict):
                raise TypeError(f"the entries of {self.label!r} must be objects, not {entry!r}")
            for name, content in cast("dict[str, Any]", entry).items():
                if name not in members:
                    raise ValueError(f"the entries of {self.label!r} have no {name!r}; they have {', '.join(members)}")
                members[name].check(content)

    def encoded(self, value: Any) -> list[dict[str, Any]]:
        """The entries as settings keep them; members without a value are written with their default."""
        members = self._members()
        return [{name: member.to_json(entry, name) for name, member in members.items()} for entry in value]

    def decoded(self, value: Any) -> Any:
        """The entries out of settings; None stands for one entry with the defaults."""
        members = self._members()
        if value is None:
            return [{name: member.default_for() for name, member in members.items()}]
        if not isinstance(value, list):
            return value
        return [_decoded_entry(members, entry) for entry in cast("list[Any]", value)]

    def full_description(self, context: Any) -> str:
        """The description with the members of an entry."""
        members = self._members().values()
        return with_options(
            self.description, self._array_title, [f"{m.label} : {m.full_description(context)}" for m in members]
        )

    def json_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of the list, each member with its default."""
        return {"title": self.label, "description": self.description, **self.value_schema(context)}

    def value_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of the list, each member with its default."""
        properties = {
            name: {**member.json_schema(context), "default": member.encoded(member.default_for())}
            for name, member in self._members().items()
        }
        return {"type": "array", "items": {"type": "object", "properties": properties}}

    def ui_options(self, context: Any) -> dict[str, Any]:
        """The controls of an entry, and how entries are added and sorted."""
        elements = [
            {"scope": f"#/properties/{name}", **member.control(context)} for name, member in self._members().items()
        ]
        options: dict[str, Any] = {
            "addButtonText": self._button_text,
            "detail": {"layout": {"type": self._layout_direction.value, "elements": elements}},
            "arrayElementTitle": self._array_title,
        }
        if self._allow_reorder:
            options["showSortButtons"] = True
        return options


def _decoded_entry(members: dict[str, Parameter[Any]], entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    given = cast("dict[str, Any]", entry)
    return {name: members[name].decoded(value) if name in members else value for name, value in given.items()}
