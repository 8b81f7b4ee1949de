"""Concatenate: what happens to repeated RowIDs, one choice here, three flags in KNIME."""

from __future__ import annotations

from typing import Any

from knime_ext.runtime.knime_workflow.config import Config, boolean
from knime_ext.runtime.knime_workflow.rows import Settings

__all__ = ["read_row_ids", "write_row_ids"]

_FLAGS = {"CREATE_NEW": "create_new_rowids", "FAIL": "fail_on_duplicates", "APPEND_SUFFIX": "append_suffix"}


def write_row_ids(settings: Settings, model: Config) -> None:
    """Puts the flags; none of them means that rows with repeated RowIDs are skipped."""
    for choice, flag in _FLAGS.items():
        model[flag] = boolean(settings["row_id_handling"] == choice)


def read_row_ids(model: Config) -> dict[str, Any]:
    """The choice. Where several flags are set, the first one counts, as in KNIME."""
    if "append_suffix" not in model:
        return {}
    return {"row_id_handling": next((each for each, flag in _FLAGS.items() if model.value(flag, False)), "SKIP")}
