"""Tables with one column of tools."""

from __future__ import annotations

from collections.abc import Sequence

import knime.extension as knext
import pyarrow as pa

from knime.types.tool import Tool
from knime_ext.runtime.knext.arrow_types import arrow_type
from knime_ext.tools import encode_tools

__all__ = ["tool_schema", "tool_table"]

_COLUMN = "Tool"
"""All nodes that make tools call their column so, and Concatenate makes one column of them."""


def tool_schema() -> knext.Schema:
    """The one column of a table of tools."""
    return knext.Schema.from_columns(knext.Column(knext.logical(Tool), _COLUMN))


def tool_table(tools: Sequence[Tool]) -> knext.Table:
    """One row per tool."""
    kind = arrow_type(knext.logical(Tool))
    assert isinstance(kind, pa.BaseExtensionType)
    column = pa.ExtensionArray.from_storage(kind, encode_tools(tools).cast(kind.storage_type))
    return knext.Table.from_pyarrow(pa.table({_COLUMN: column}))
