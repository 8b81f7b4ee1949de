"""Which columns are picked: the Column Filter's setting, and the selections that must pick all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from knime_ext.runtime.knime_workflow.config import Config, boolean, is_writable_key, text, texts
from knime_ext.runtime.knime_workflow.rows import Settings, Unsupported

__all__ = ["all_columns", "read_column_filter", "refuse_selection", "write_column_filter"]

_MODES = {"MANUAL": "STANDARD", "REGEX": "name_pattern", "WILDCARD": "name_pattern", "TYPE": "datatype"}


def _selection(
    mode: str, included: list[str], excluded: list[str], unknown: bool, pattern: Mapping[str, Any], types: list[str]
) -> Config:
    return Config(
        {
            "filter-type": text(_MODES[mode]),
            "included_names": texts(included),
            "excluded_names": texts(excluded),
            # To enforce the exclusion means: what is in neither list is included.
            "enforce_option": text("EnforceExclusion" if unknown else "EnforceInclusion"),
            "name_pattern": Config(
                pattern=text(pattern["pattern"]),
                type=text("Regex" if mode == "REGEX" else "Wildcard"),
                caseSensitive=boolean(pattern["isCaseSensitive"]),
                excludeMatching=boolean(pattern["isInverted"]),
            ),
            "datatype": Config(typelist=Config({each: boolean(True) for each in types if is_writable_key(each)})),
        }
    )


def all_columns() -> Config:
    """A selection of every column."""
    return _selection("MANUAL", [], [], True, {"pattern": "", "isCaseSensitive": True, "isInverted": False}, [])


def write_column_filter(settings: Settings, model: Config) -> None:
    """Puts the Column Filter's selection."""
    chosen = settings["column_filter"]
    manual = chosen["manualFilter"]
    model["column-filter"] = _selection(
        chosen["mode"],
        manual["manuallySelected"],
        manual["manuallyDeselected"],
        manual["includeUnknownColumns"],
        chosen["patternFilter"],
        chosen["typeFilter"]["selectedTypes"],
    )


def read_column_filter(model: Config) -> dict[str, Any]:
    """The Column Filter's selection.

    Raises:
        Unsupported: It picks columns in a way that this runtime does not have.
    """
    config = model.below("column-filter")
    if not config:
        return {}
    pattern = config.below("name_pattern")
    types = [key for key in config.below("datatype/typelist") if config.value(f"datatype/typelist/{key}", False)]
    return {
        "column_filter": {
            "mode": _mode(config.string("filter-type", "STANDARD"), pattern.string("type", "Wildcard")),
            "patternFilter": {
                "pattern": pattern.string("pattern"),
                "isCaseSensitive": pattern.value("caseSensitive", True),
                "isInverted": pattern.value("excludeMatching", False),
            },
            "typeFilter": {"selectedTypes": types, "typeDisplays": []},
            "manualFilter": {
                "manuallySelected": config.array("included_names"),
                "manuallyDeselected": config.array("excluded_names"),
                "includeUnknownColumns": config.string("enforce_option") != "EnforceInclusion",
            },
        }
    }


def _mode(filter_type: str, pattern_type: str) -> str:
    if filter_type == "name_pattern":
        return pattern_type.upper() if pattern_type in ("Regex", "Wildcard") else _unknown(pattern_type)
    return {"STANDARD": "MANUAL", "datatype": "TYPE"}.get(filter_type) or _unknown(filter_type)


def _unknown(kind: str) -> str:
    raise Unsupported(f"picks columns by {kind!r}")


def refuse_selection(config: Config, side: str) -> None:
    """Refuses a selection that may leave out columns, in the older layout or in the newer one.

    Raises:
        Unsupported: It is one.
    """
    if "mode" in config:
        manual, kind = config.below("manualFilter"), config.string("mode")
        open_ended = manual.value("includeUnknownColumns", False)
        excluded = manual.array("manuallyDeselected")
    else:
        kind = "MANUAL" if config.string("filter-type", "STANDARD") == "STANDARD" else ""
        open_ended = config.string("enforce_option", "EnforceExclusion") == "EnforceExclusion"
        excluded = config.array("excluded_names")
    if kind != "MANUAL" or not open_ended or excluded:
        raise Unsupported(f"leaves out columns of the {side} table, which here a Column Filter does")
