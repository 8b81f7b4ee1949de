"""The embedded host: runs workflows of KNIME nodes on a machine without KNIME.

The names of this room are loaded when they are first used, because importing any module below it (the look-alike of
`knime.extension`, for example) runs this file.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knime_ext.runtime.document import Workflow, load_workflow, parse_workflow, save_workflow

__all__ = [
    "Workflow",
    "load_workflow",
    "parse_workflow",
    "save_workflow",
]

_HOMES = {
    "Workflow": "document",
    "load_workflow": "document",
    "parse_workflow": "document",
    "save_workflow": "document",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
