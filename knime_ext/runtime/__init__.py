"""The embedded host: runs workflows of KNIME nodes on a machine without KNIME.

The names of this room are loaded when they are first used, because importing any module below it (the look-alike of
`knime.extension`, for example) runs this file.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knime_ext.runtime.document import Workflow, dump_workflow, load_workflow, parse_workflow, save_workflow
    from knime_ext.runtime.engine import run_workflow
    from knime_ext.runtime.events import Event
    from knime_ext.runtime.filestore import FileStore
    from knime_ext.runtime.knext.contexts import Credential
    from knime_ext.runtime.person import Person
    from knime_ext.runtime.readable_cells import csv_columns
    from knime_ext.runtime.registry import NodeRegistry, provide_knime_extension
    from knime_ext.runtime.result import NodeOutcome, RunFailed, RunResult
    from knime_ext.runtime.tool_execution import tool_context
    from knime_ext.runtime.workflow_tools import workflow_to_tool

__all__ = [
    "Credential",
    "Event",
    "FileStore",
    "NodeOutcome",
    "NodeRegistry",
    "Person",
    "RunFailed",
    "RunResult",
    "Workflow",
    "csv_columns",
    "dump_workflow",
    "load_workflow",
    "parse_workflow",
    "provide_knime_extension",
    "run_workflow",
    "save_workflow",
    "tool_context",
    "workflow_to_tool",
]

_HOMES = {
    "Credential": "knext.contexts",
    "Event": "events",
    "FileStore": "filestore",
    "NodeOutcome": "result",
    "NodeRegistry": "registry",
    "Person": "person",
    "RunFailed": "result",
    "RunResult": "result",
    "Workflow": "document",
    "csv_columns": "readable_cells",
    "dump_workflow": "document",
    "load_workflow": "document",
    "parse_workflow": "document",
    "provide_knime_extension": "registry",
    "run_workflow": "engine",
    "save_workflow": "document",
    "tool_context": "tool_execution",
    "workflow_to_tool": "workflow_tools",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
