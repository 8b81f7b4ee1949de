"""The settings of a node as the tree that workflows store: read, checked and set, described."""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import Any, cast

from knime_ext.runtime.knext.errors import InvalidParametersError
from knime_ext.runtime.knext.groups import ParameterGroup
from knime_ext.runtime.knext.member_tree import SettingRefused, current_members, load_members, members_of
from knime_ext.runtime.knext.parameter import Member, Parameter, Values, values_of
from knime_ext.runtime.knext.version import Version
from knime_ext.runtime.nearest import did_you_mean

__all__ = ["describe", "get_parameters", "parameter_schema", "set_parameters"]


def get_parameters(node: object) -> dict[str, Any]:
    """The settings of a node: value by attribute name, a group as such an object again."""
    values = values_of(node)
    return {name: member.to_json(values, name) for name, member in members_of(node).items()}


def set_parameters(
    node: object, tree: dict[str, Any], *, strict: bool = True, saved_version: Version | str | None = None
) -> None:
    """Checks and sets settings; those that are left out keep their values.

    Args:
        node: Instance of a node.
        tree: Value by attribute name, a group as such an object again.
        strict: Whether a name that the node does not have is an error.
        saved_version: Version of the extension that wrote the settings; parameters that came later take their
            default for that version.

    Raises:
        InvalidParametersError: A name is unknown or a value unusable; the error names it, and nothing is set.
    """
    if strict:
        _refuse_unknown(node, tree, ())
    version = None if saved_version is None else Version.parse_version(saved_version)
    values = deepcopy(values_of(node))
    try:
        load_members(node, values, tree, version)
    except SettingRefused as refused:
        raise InvalidParametersError(f"parameter {'.'.join(refused.path)!r}: {refused.reason}") from refused
    _replace(values_of(node), values)


def _replace(old: Values, new: Values) -> None:
    """Takes over values in place, because groups that were read before share the dicts."""
    for name, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(name), dict):
            _replace(old[name], cast("Values", value))
        else:
            old[name] = value


def _refuse_unknown(owner: object, tree: Any, path: tuple[str, ...]) -> None:
    if not isinstance(tree, dict):
        return  # the group itself refuses it, with its name
    if hasattr(owner, "_modify_parameters"):
        return  # old names are welcome: the hook turns them into today's
    members = members_of(owner)
    for name, value in cast("dict[str, Any]", tree).items():
        if name not in members:
            place = f" in the group {'.'.join(path)!r}" if path else ""
            repair = did_you_mean(name, members, kind="parameters")
            raise InvalidParametersError(f"there is no parameter {name!r}{place}; {repair}")
        member = members[name]
        if isinstance(member, ParameterGroup):
            _refuse_unknown(member.template, value, (*path, name))


def parameter_schema(node: object, context: Any = None) -> dict[str, Any]:
    """JSON Schema of a node's settings.

    Args:
        node: Instance or class of a node.
        context: The `DialogCreationContext`, or None where no dialog is open.
    """
    return {"type": "object", "properties": {name: m.json_schema(context) for name, m in current_members(node)}}


def _description(name: str, member: Member) -> dict[str, Any]:
    about: dict[str, Any] = {"key": name, "name": member.label, "is_advanced": member.is_advanced}
    if isinstance(member, ParameterGroup):
        children = [_description(key, child) for key, child in members_of(member).items()]
        return {**about, "description": member.description, "parameters": children}
    if isinstance(member, Parameter):
        return {**about, "description": inspect.cleandoc(member.full_description(None))}
    return about


def describe(node: object) -> list[dict[str, Any]]:
    """The parameters of a node for people: key, name and Markdown description; groups hold their members.

    Args:
        node: Instance or class of a node.
    """
    return [_description(name, member) for name, member in members_of(node).items()]
