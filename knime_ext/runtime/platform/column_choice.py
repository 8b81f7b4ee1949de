"""A choice of columns as people write it into a workflow by hand: short, with everything left out that can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import knime.extension as knext

from knime_ext.runtime.nearest import did_you_mean

__all__ = ["ColumnChoiceParameter", "completed_choice"]

_MODES = ("MANUAL", "REGEX", "WILDCARD", "TYPE")
_OF_THE_DIALOG = ("selected", "selected_Internals")


class ColumnChoiceParameter(knext.ColumnFilterParameter):
    """KNIME's column filter, which also takes a plain list of names, and settings with parts left out."""

    def decoded(self, value: Any) -> knext.ColumnFilterConfig:
        """The filter.

        Raises:
            ValueError: The value is no choice of columns; the message says where.
        """
        return super().decoded(completed_choice(value, knext.ColumnFilterConfig().to_json()))


def completed_choice(value: Any, default: Mapping[str, Any]) -> dict[str, Any]:
    """The whole tree of a column filter.

    Args:
        value: A list of names (those columns and no others), or an object with `mode`, `manualFilter`,
            `patternFilter` and `typeFilter`, each as far as it is needed.
        default: The tree of a filter that was not touched.

    Raises:
        ValueError: The value has another form, an unknown part or an unknown mode.
    """
    given = {"manualFilter": {"manuallySelected": cast("Any", value)}} if isinstance(value, list) else value
    if not isinstance(given, dict):
        raise ValueError("must be a list of column names, or an object with 'mode' and the filter of that mode")
    given = cast("dict[str, Any]", given)
    tree = _merged(given, default, "column filter")
    if tree["mode"] not in _MODES:
        raise ValueError(f"the mode {tree['mode']!r} does not exist; choose one of {', '.join(_MODES)}")
    manual = given.get("manualFilter", {})
    if "manuallySelected" in manual and "includeUnknownColumns" not in manual:
        tree["manualFilter"]["includeUnknownColumns"] = False
    return tree


def _merged(given: Mapping[str, Any], default: Mapping[str, Any], what: str) -> dict[str, Any]:
    tree = dict(default)
    for name, part in given.items():
        if name in _OF_THE_DIALOG:
            continue
        if name not in default:
            raise ValueError(f"the {what} has no part {name!r}; {did_you_mean(name, default, kind='parts')}")
        if type(part) is not type(default[name]):
            raise ValueError(f"{name!r} must be like {default[name]!r}, not {part!r}")
        tree[name] = _merged(cast("dict[str, Any]", part), default[name], name) if isinstance(part, dict) else part
    return tree
