"""Nodes that KNIME has itself, under KNIME's own names and settings, for the embedded runtime.

The nodes are loaded when they are first asked for, because they need `knime.extension`, which the runtime provides.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knime_ext.runtime.platform.boolean_configuration import BooleanConfiguration
    from knime_ext.runtime.platform.column_filter import ColumnFilter
    from knime_ext.runtime.platform.concatenate import Concatenate
    from knime_ext.runtime.platform.csv_reader import CSVReader
    from knime_ext.runtime.platform.csv_writer import CSVWriter
    from knime_ext.runtime.platform.double_configuration import DoubleConfiguration
    from knime_ext.runtime.platform.integer_configuration import IntegerConfiguration
    from knime_ext.runtime.platform.joiner import Joiner
    from knime_ext.runtime.platform.row_filter import RowFilter
    from knime_ext.runtime.platform.sql_query import SQLQuery
    from knime_ext.runtime.platform.string_configuration import StringConfiguration
    from knime_ext.runtime.platform.table_creator import TableCreator
    from knime_ext.runtime.platform.tool_message_output import ToolMessageOutput
    from knime_ext.runtime.platform.workflow_input import WorkflowInput
    from knime_ext.runtime.platform.workflow_output import WorkflowOutput
    from knime_ext.runtime.platform.workflow_to_tool import WorkflowToTool

    NODES: tuple[Any, ...]

__all__ = [
    "NODES",
    "BooleanConfiguration",
    "CSVReader",
    "CSVWriter",
    "ColumnFilter",
    "Concatenate",
    "DoubleConfiguration",
    "IntegerConfiguration",
    "Joiner",
    "RowFilter",
    "SQLQuery",
    "StringConfiguration",
    "TableCreator",
    "ToolMessageOutput",
    "WorkflowInput",
    "WorkflowOutput",
    "WorkflowToTool",
]

_HOMES = {
    "TableCreator": "table_creator",
    "CSVReader": "csv_reader",
    "CSVWriter": "csv_writer",
    "RowFilter": "row_filter",
    "ColumnFilter": "column_filter",
    "Concatenate": "concatenate",
    "Joiner": "joiner",
    "SQLQuery": "sql_query",
    "StringConfiguration": "string_configuration",
    "IntegerConfiguration": "integer_configuration",
    "DoubleConfiguration": "double_configuration",
    "BooleanConfiguration": "boolean_configuration",
    "WorkflowInput": "workflow_input",
    "WorkflowOutput": "workflow_output",
    "ToolMessageOutput": "tool_message_output",
    "WorkflowToTool": "workflow_to_tool",
}


def __getattr__(name: str) -> Any:
    if name == "NODES":
        return tuple(__getattr__(node) for node in _HOMES)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
