"""Tables for the scenarios, made with nothing but what both worlds have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import knime.extension as knext
import pyarrow as pa

from knime.types.message import MessageValue, MessageValueFactory
from knime.types.tool import Tool, WorkflowTool, WorkflowToolValueFactory
from knime_ext.nodes.columns import message_type, tool_type
from knime_ext.tools import encode_tools

__all__ = ["messages", "older_tools", "table", "tools"]

_OLDER = '{"value_factory_class":"org.knime.core.node.agentic.tool.WorkflowToolValueFactory"}'


def table(columns: dict[str, Any], row_ids: Sequence[str] | None = None) -> knext.Table:
    """A table; with row identifiers if they are given."""
    rows = {} if row_ids is None else {"<RowID>": pa.array(row_ids, pa.utf8())}
    return knext.Table.from_pyarrow(pa.table({**rows, **columns}))


def _logical(ktype: Any, storage: pa.Array) -> pa.Array:
    arrow = ktype.to_pyarrow()
    return pa.ExtensionArray.from_storage(arrow, storage.cast(arrow.storage_type))


def tools(*values: Tool | None) -> pa.Array:
    """A column of tools of both kinds."""
    return _logical(tool_type(), encode_tools(values))


def _older_type() -> Any:
    """KNIME's own type of workflow tools: the two-level struct, here spelled out."""
    ports = knext.list_(knext.struct(*[knext.string()] * 4))
    inner = knext.struct(*[knext.string()] * 3, ports, ports, knext.int32())
    return cast("Any", knext.LogicalType)(_OLDER, knext.struct(knext.string(), inner))


def older_tools(*values: WorkflowTool | None) -> pa.Array:
    """A column of KNIME's own type for workflow tools."""
    arrow = _older_type().to_pyarrow()
    cells = [WorkflowToolValueFactory().encode(value) for value in values]
    return pa.ExtensionArray.from_storage(arrow, pa.array(cells, arrow.storage_type))


def messages(*values: MessageValue | None) -> pa.Array:
    """A column of messages."""
    arrow = message_type().to_pyarrow()
    cells = [MessageValueFactory().encode(value) for value in values]
    return pa.ExtensionArray.from_storage(arrow, pa.array(cells, arrow.storage_type))
