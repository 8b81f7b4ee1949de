"""What KNIME has no place for: kept in a config of our own beside KNIME's, which KNIME ignores.

KNIME writes its files anew when somebody saves the workflow there; our notes are gone then, and with them everything
that contradicts what was changed.
"""

from __future__ import annotations

import json
from typing import Any

from knime_ext.errors import WorkflowError
from knime_ext.runtime.knime_workflow.config import Config, integer, text

__all__ = ["NOTES", "add_notes", "notes_of"]

NOTES = "knime_mcp"
_FORMAT, _CURRENT = "format", 1


def add_notes(config: Config, **notes: Any) -> None:
    """Adds notes as JSON texts; those that are None are left out."""
    written = {key: text(json.dumps(value, ensure_ascii=False)) for key, value in notes.items() if value is not None}
    if written:
        config[NOTES] = Config({_FORMAT: integer(_CURRENT), **written})


def notes_of(config: Config, origin: str) -> dict[str, Any]:
    """The notes in a file.

    Raises:
        WorkflowError: They are damaged, or of a newer version of this project.
    """
    notes = config.below(NOTES)
    if not notes:
        return {}
    try:
        if notes.value(_FORMAT) != _CURRENT:
            raise WorkflowError(
                f"{origin}: the config {NOTES!r} has format {notes.value(_FORMAT)!r}, this version reads format "
                f"{_CURRENT}; install a newer knime-mcp, or remove the config"
            )
        found = {key: json.loads(notes.string(key)) for key in notes if key != _FORMAT}
        if not all(isinstance(found.get(key, {}), dict) for key in ("settings", "flow_variables")):
            raise ValueError
        if not all(isinstance(path, str) for path in found.get("surplus", ())):
            raise ValueError
        return found
    except (ValueError, TypeError, RecursionError):
        raise WorkflowError(
            f"{origin}: the config {NOTES!r} is damaged; remove it, or export the workflow anew"
        ) from None
