"""Joiner: pairs of columns, the mode and the suffix, in KNIME's older layout of arrays and its newer one of pairs."""

from __future__ import annotations

from typing import Any

from knime_ext.runtime.knime_workflow.column_selection import refuse_selection
from knime_ext.runtime.knime_workflow.config import Config, boolean, text, texts
from knime_ext.runtime.knime_workflow.criteria import ROW_IDS, chosen_column
from knime_ext.runtime.knime_workflow.rows import Settings, Unsupported

__all__ = ["read_join", "write_join"]

_ROW_IDS_OF_KNIME = "$RowID$"
_PARTS = ("includeMatchesInOutput", "includeLeftUnmatchedInOutput", "includeRightUnmatchedInOutput")
_MODES = {
    "INNER": (True, False, False),
    "LEFT_OUTER": (True, True, False),
    "RIGHT_OUTER": (True, False, True),
    "FULL_OUTER": (True, True, True),
}


def _put(model: Config, key: str, content: Any, model_id: str) -> None:
    model[f"{key}_Internals"] = Config(SettingsModelID=text(model_id), EnabledStatus=boolean(True))
    model[key] = content


def write_join(settings: Settings, model: Config) -> None:
    """Puts pairs, mode and suffix."""
    for key, included in zip(_PARTS, _MODES[settings["join_mode"]], strict=True):
        _put(model, key, boolean(included), "SMID_boolean")
    for side, key in (("left", "leftTableJoinPredicate"), ("right", "rightTableJoinPredicate")):
        columns = [_ROW_IDS_OF_KNIME if pair[side] == ROW_IDS else pair[side] for pair in settings["join_columns"]]
        _put(model, key, texts(columns), "SMID_stringarray")
    handling = "APPEND_SUFFIX" if settings["suffix"] else "DO_NOT_EXECUTE"
    _put(model, "duplicateHandling", text(handling), "SMID_string")
    _put(model, "suffix", text(settings["suffix"]), "SMID_string")


def read_join(model: Config) -> dict[str, Any]:
    """Pairs, mode and suffix.

    Raises:
        Unsupported: The join leaves out columns or matching rows.
    """
    for side in ("left", "right"):
        for key in (f"{side}ColumnSelectionConfig", f"{side}ColumnSelectionConfigV2"):
            if key in model:
                refuse_selection(model.below(key), side)
    parts = tuple(bool(model.value(key, default)) for key, default in zip(_PARTS, (True, False, False), strict=True))
    mode = next((name for name, wanted in _MODES.items() if wanted == parts), None)
    if mode is None:
        raise Unsupported("leaves out the rows that match")
    suffix = "" if model.string("duplicateHandling") == "DO_NOT_EXECUTE" else model.string("suffix")
    return {"join_columns": _pairs(model), "join_mode": mode, "suffix": suffix}


def _pairs(model: Config) -> list[dict[str, str]]:
    if "matchingCriteria" in model:
        return [
            {
                "left": chosen_column(pair.below("leftTableColumnV2")),
                "right": chosen_column(pair.below("rightTableColumnV2")),
            }
            for _, pair in model.below("matchingCriteria").configs()
        ]
    left, right = model.array("leftTableJoinPredicate"), model.array("rightTableJoinPredicate")
    return [{"left": _column(one), "right": _column(other)} for one, other in zip(left, right, strict=False)]


def _column(name: str | None) -> str:
    return ROW_IDS if name == _ROW_IDS_OF_KNIME else name or ""
