"""Trees of settings of one node: filled up with defaults, reduced to what differs from them, compared.

Values are taken as they are: whether a node accepts them is said when it is configured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, cast

from knime_ext.runtime.knext.errors import InvalidParametersError
from knime_ext.runtime.knext.groups import ParameterGroup, members_of
from knime_ext.runtime.knext.nodes import NodeDeclaration
from knime_ext.runtime.knext.parameter import Member
from knime_ext.runtime.knext.settings import get_parameters, parameter_schema, set_parameters
from knime_ext.runtime.knext.text_parameters import LocalPathParameter

__all__ = ["SettingsShape", "Tree"]

Tree = Mapping[str, Any]


class SettingsShape:
    """The parameters of a node: which there are, their defaults and their JSON Schema.

    Args:
        declaration: The node.
    """

    def __init__(self, declaration: NodeDeclaration) -> None:
        self._declaration = declaration
        node = declaration.create()
        self.members = members_of(node)
        self.defaults = get_parameters(node)
        self.schema = parameter_schema(node)

    def normal(self, tree: Tree) -> dict[str, Any]:
        """A tree with every parameter in it; what the node does not know stays."""
        return _normal(tree, self.members, self.defaults, self.schema)

    def minimal(self, tree: Tree) -> dict[str, Any]:
        """A tree with nothing in it that has its default."""
        return _minimal(tree, self.members, self.defaults, self.schema)

    def usable(self, tree: Tree) -> dict[str, Any]:
        """A normal tree whose values have the right types: what the node would refuse has its default."""
        node = self._declaration.create()
        paths: dict[str, str] = {}
        for name, value in tree.items():
            if isinstance(self.members.get(name), LocalPathParameter) and isinstance(value, str):
                paths[name] = value  # the node would refuse it where the file is not
                continue
            with suppress(InvalidParametersError):
                set_parameters(node, {name: value})
        properties = _tree(self.schema["properties"])
        return {
            name: value if _fits(value, _tree(properties.get(name))) else self.defaults[name]
            for name, value in (get_parameters(node) | paths).items()
        }

    def difference(self, wanted: Tree, found: Tree) -> tuple[dict[str, Any], list[str]]:
        """What makes `wanted` of `found`: settings to put over it, and dotted paths of settings to take away."""
        return _difference(wanted, found, self.members), list(_surplus(wanted, found, self.members))

    def merged(self, found: Tree, difference: Tree, surplus: Iterable[str]) -> dict[str, Any]:
        """The tree that a difference was taken from; groups are merged, values replaced."""
        result = _merged(found, difference, self.members)
        for path in surplus:
            _drop(result, path.split("."))
        return result


def _members(member: Member | None) -> Mapping[str, Member] | None:
    return members_of(member) if isinstance(member, ParameterGroup) else None


def _tree(value: Any) -> Tree:
    return cast("Tree", value) if isinstance(value, Mapping) else {}


def _item_defaults(schema: Tree) -> Tree:
    properties = _tree(_tree(schema.get("items")).get("properties"))
    return {name: inner["default"] for name, inner in properties.items() if "default" in inner}


def _normal(tree: Tree, members: Mapping[str, Member], defaults: Tree, schema: Tree) -> dict[str, Any]:
    properties, result = _tree(schema.get("properties")), dict(tree)
    for name, member in members.items():
        value, inner = tree.get(name, defaults[name]), _members(member)
        if inner is not None and isinstance(value, Mapping):
            result[name] = _normal(_tree(value), inner, defaults[name], _tree(properties.get(name)))
        else:
            result[name] = _with_items(value, _item_defaults(_tree(properties.get(name))))
    return result


def _with_items(value: Any, defaults: Tree) -> Any:
    if not isinstance(value, list) or not defaults:
        return cast("Any", value)
    return [{**defaults, **_tree(item)} if isinstance(item, Mapping) else item for item in cast("list[Any]", value)]


def _minimal(tree: Tree, members: Mapping[str, Member], defaults: Tree, schema: Tree) -> dict[str, Any]:
    properties, result = _tree(schema.get("properties")), dict[str, Any]()
    for name, value in tree.items():
        inner = _members(members.get(name))
        if inner is not None and isinstance(value, Mapping):
            reduced = _minimal(_tree(value), inner, defaults[name], _tree(properties.get(name)))
            if reduced:
                result[name] = reduced
        elif name not in members or not _same(value, defaults[name]):
            result[name] = _without_items(value, _item_defaults(_tree(properties.get(name))))
    return result


def _without_items(value: Any, defaults: Tree) -> Any:
    if not isinstance(value, list) or not defaults:
        return cast("Any", value)
    return [_reduced(_tree(item), defaults) if isinstance(item, Mapping) else item for item in cast("list[Any]", value)]


def _reduced(item: Tree, defaults: Tree) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in defaults or not _same(value, defaults[name])}


def _difference(wanted: Tree, found: Tree, members: Mapping[str, Member]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in wanted.items():
        inner = _members(members.get(name))
        if inner is not None and isinstance(value, Mapping) and isinstance(found.get(name), Mapping):
            below = _difference(_tree(value), _tree(found[name]), inner)
            if below:
                result[name] = below
        elif name not in found or not _same(value, found[name]):
            result[name] = value
    return result


def _surplus(wanted: Tree, found: Tree, members: Mapping[str, Member], prefix: str = "") -> Iterator[str]:
    for name, value in found.items():
        inner = _members(members.get(name))
        if name not in wanted:
            yield prefix + name
        elif inner is not None and isinstance(value, Mapping) and isinstance(wanted[name], Mapping):
            yield from _surplus(_tree(wanted[name]), _tree(value), inner, f"{prefix}{name}.")


def _drop(tree: dict[str, Any], path: list[str]) -> None:
    *groups, name = path
    here: Any = tree
    for group in groups:
        here = here.get(group) if isinstance(here, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if isinstance(here, dict):
        here.pop(name, None)  # pyright: ignore[reportUnknownMemberType]


def _merged(found: Tree, difference: Tree, members: Mapping[str, Member]) -> dict[str, Any]:
    result = dict(found)
    for name, value in difference.items():
        inner = _members(members.get(name))
        if inner is not None and isinstance(value, Mapping) and isinstance(found.get(name), Mapping):
            result[name] = _merged(_tree(found[name]), _tree(value), inner)
        else:
            result[name] = value
    return result


def _fits(value: Any, schema: Tree) -> bool:
    """Whether a value is of the type of its schema; a node need not look at the type of a value that it takes."""
    kind = schema.get("type", "string")
    if kind == "object":
        properties = _tree(schema.get("properties"))
        return isinstance(value, Mapping) and all(
            _fits(inner, _tree(properties.get(name))) for name, inner in _tree(value).items()
        )
    if kind == "array":
        items = cast("list[Any]", value) if isinstance(value, list) else None
        return items is not None and all(_fits(item, _tree(schema.get("items"))) for item in items)
    if kind in ("integer", "number"):
        return isinstance(value, int if kind == "integer" else int | float) and not isinstance(value, bool)
    return isinstance(value, bool) if kind == "boolean" else value is None or isinstance(value, str)


def _same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same; unlike in Python, true is not 1, and 1 is not 1.0."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        first, second = _tree(one), _tree(other)
        return first.keys() == second.keys() and all(_same(value, second[key]) for key, value in first.items())
    if isinstance(one, list) and isinstance(other, list):
        items, others = cast("list[Any]", one), cast("list[Any]", other)
        return len(items) == len(others) and all(map(_same, items, others))
    return one == other and all(isinstance(one, kind) is isinstance(other, kind) for kind in (bool, int, float))
