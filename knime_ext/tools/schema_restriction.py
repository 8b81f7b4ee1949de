"""Whether one JSON Schema takes nothing that another would refuse, as far as that can be seen. No I/O.

In general this cannot be decided. Here a change is a restriction only if it is one of the kinds listed below; every
other change of what a schema checks counts as a loosening. What only explains (descriptions, defaults) may change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from knime_ext.tools.schema_parts import reference_target

__all__ = ["closed", "loosening"]

Schema = dict[str, Any]

_PROSE = frozenset({"title", "description", "$comment", "examples", "default", "deprecated"})
_LOWER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"})
_UPPER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"})
_MAY_BE_ADDED = frozenset({"pattern", "format", "uniqueItems", "multipleOf", "not", "contains", "propertyNames"})
_DEFINITIONS = frozenset({"$defs", "definitions"})
_DEEPEST = 50


def _same(before: Any, after: Any) -> bool:
    return json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)


def _object(value: Any) -> Schema:
    return cast("Schema", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def loosening(before: Any, after: Any) -> str | None:
    """What the second schema takes that the first one may not.

    Args:
        before: A schema.
        after: What became of it.

    Returns:
        One sentence's worth of reason with the place, or None if the second only restricts the first.
    """
    return _Comparison(_object(before)).loosening(before, after, "", 0)


class _Comparison:
    """Compares parts of two schemas; references of the first lead into its own definitions."""

    def __init__(self, root: Schema) -> None:
        self._root = root

    def loosening(self, before: Any, after: Any, path: str, depth: int) -> str | None:
        if after is False or before is True or before == {} or _same(before, after):
            return None
        if depth > _DEEPEST or not isinstance(before, dict) or not isinstance(after, dict):
            return f"{_place(path)} takes more than the tool does"
        old, new = cast("Schema", before), cast("Schema", after)
        if "$ref" in old and "$ref" not in new:
            old = {**_object(reference_target(old["$ref"], self._root)), **old}
            del old["$ref"]
        for keyword in dict.fromkeys([*old, *new]):
            if keyword not in _PROSE and not _same(old.get(keyword), new.get(keyword)):
                reason = self._changed(keyword, old, new, path, depth)
                if reason is not None:
                    return reason
        return None

    def _changed(self, keyword: str, old: Schema, new: Schema, path: str, depth: int) -> str | None:
        """What is wrong with the change of one keyword."""
        compare = _OF_PARTS.get(keyword)
        if compare is not None:
            return compare(self, old, new, path, depth)
        if keyword in _DEFINITIONS:
            return self.named_parts(_object(old.get(keyword)), _object(new.get(keyword)), f"{path}.{keyword}", depth)
        if keyword in ("anyOf", "oneOf"):
            return self.branches(keyword, old, new, path, depth)
        tighter = _is_tighter(keyword, old, new)
        return None if tighter else f"{_place(path)} takes more than the tool does ({keyword!r} was changed)"

    def properties(self, old: Schema, new: Schema, path: str, depth: int) -> str | None:
        known, wanted = _object(old.get("properties")), _object(new.get("properties"))
        for name, part in wanted.items():
            place = f"{path}.{name}" if path else name
            if name not in known:
                return f"{place!r} is no argument of the tool"
            reason = self.loosening(known[name], part, place, depth + 1)
            if reason is not None:
                return reason
        hidden = [name for name in known if name not in wanted]
        if hidden and new.get("additionalProperties") is not False:
            return f"{_place(path)} must not take the argument {hidden[0]!r} any more"
        return None

    def required(self, old: Schema, new: Schema, path: str, depth: int) -> str | None:
        missing = [name for name in _list(old.get("required", [])) if name not in _list(new.get("required", []))]
        return _still_required(missing[0], path) if missing else None

    def items(self, old: Schema, new: Schema, path: str, depth: int) -> str | None:
        return self.loosening(old.get("items", True), new.get("items", True), f"{path}[]", depth + 1)

    def additional(self, old: Schema, new: Schema, path: str, depth: int) -> str | None:
        before, after = old.get("additionalProperties", True), new.get("additionalProperties", True)
        return self.loosening(before, after, f"{path}.*" if path else "*", depth + 1)

    def all_of(self, old: Schema, new: Schema, path: str, depth: int) -> str | None:
        kept = [json.dumps(each, sort_keys=True) for each in _list(new.get("allOf", []))]
        lost = [each for each in _list(old.get("allOf", [])) if json.dumps(each, sort_keys=True) not in kept]
        return f"{_place(path)} takes more than the tool does ('allOf' was changed)" if lost else None

    def named_parts(self, old: Schema, new: Schema, path: str, depth: int) -> str | None:
        for name, part in old.items():
            if name not in new:
                return f"the definition {name!r} is gone"
            reason = self.loosening(part, new[name], f"{path}.{name}".lstrip("."), depth + 1)
            if reason is not None:
                return reason
        return None

    def branches(self, keyword: str, old: Schema, new: Schema, path: str, depth: int) -> str | None:
        """Every branch must fit into one of before; instead of branches there may be just one of them."""
        if keyword not in old:
            return None
        rest = {key: value for key, value in new.items() if key not in old or key == keyword}
        wanted = _list(new[keyword]) if keyword in new else [rest]
        for branch in wanted:
            reasons = [self.loosening(each, branch, path, depth + 1) for each in _list(old[keyword])]
            if None not in reasons:
                return f"{_place(path)} takes more than the tool does ({keyword!r} was changed)"
        return None


_Compare = Callable[[_Comparison, Schema, Schema, str, int], "str | None"]
_OF_PARTS: Mapping[str, _Compare] = {
    "properties": _Comparison.properties,
    "required": _Comparison.required,
    "items": _Comparison.items,
    "additionalProperties": _Comparison.additional,
    "allOf": _Comparison.all_of,
}


def _place(path: str) -> str:
    return repr(path) if path else "the schema"


def _still_required(name: Any, path: str) -> str:
    place = f"{path}.{name}" if path else name
    return f"the tool requires {place!r}: it cannot be left out; give it a fixed value instead"


def _is_tighter(keyword: str, old: Schema, new: Schema) -> bool:
    """Whether the change of a keyword that stands for itself leaves less room."""
    before: object = old.get(keyword)
    after: object = new.get(keyword)
    if keyword == "type":
        kinds = [*_list(before), *(["integer"] if "number" in _list(before) else [])]
        return keyword not in old or (after is not None and all(kind in kinds for kind in _list(after)))
    if keyword in ("enum", "const"):
        return _values_are_fewer(old, new)
    if keyword in _LOWER | _UPPER:
        if keyword not in old:
            return True
        if not isinstance(before, (int, float)) or not isinstance(after, (int, float)):
            return False
        return after >= before if keyword in _LOWER else after <= before
    return keyword in _MAY_BE_ADDED and keyword not in old


def _values_are_fewer(old: Schema, new: Schema) -> bool:
    allowed = [old["const"]] if "const" in old else old.get("enum")
    wanted = [new["const"]] if "const" in new else new.get("enum")
    if allowed is None:
        return True
    known = [json.dumps(value, sort_keys=True) for value in _list(allowed)]
    return wanted is not None and all(json.dumps(value, sort_keys=True) in known for value in _list(wanted))


def closed(before: Any, after: Any) -> Any:
    """The second schema, which takes nothing that it does not name wherever it left arguments of the first out."""
    old, new = _object(before), _object(after)
    known, kept = _object(old.get("properties")), _object(new.get("properties"))
    if not known or not new:
        return after
    parts = {name: closed(known.get(name), part) for name, part in kept.items()}
    closing = {} if all(name in kept for name in known) else {"additionalProperties": False}
    same = {"additionalProperties": old["additionalProperties"]} if "additionalProperties" in old else {}
    return {**same, **new, "properties": parts, **closing}
