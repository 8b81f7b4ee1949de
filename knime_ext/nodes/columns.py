"""Column types of tools and messages, and how a node finds its column.

Columns are recognised by the name of their value factory, not by comparing types, because tables in KNIME also have
columns of the older factories, which are other types.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import knime.extension as knext

__all__ = [
    "binary_type",
    "chosen_column",
    "holds_booleans",
    "holds_messages",
    "holds_text",
    "holds_tools",
    "is_older",
    "message_type",
    "tool_type",
]

_TOOLS = "org.knime.core.node.agentic.tool."
_TOOL_FACTORY = _TOOLS + "ToolValueFactory"
_TOOL_FACTORIES = {_TOOL_FACTORY, _TOOLS + "WorkflowToolValueFactory", _TOOLS + "MCPToolValueFactory"}
_MESSAGE_FACTORIES = {"org.knime.ai.core.data.message.MessageValueFactory"}


def _factory(column: knext.Column) -> str:
    """Java class of the column's value factory, "" for a plain column."""
    logical = getattr(column.ktype, "logical_type", None)
    return json.loads(logical).get("value_factory_class", "") if logical else ""


def holds_tools(column: knext.Column) -> bool:
    """True for a column of tools, also of the older kinds."""
    return _factory(column) in _TOOL_FACTORIES


def holds_messages(column: knext.Column) -> bool:
    """True for a column of conversation messages."""
    return _factory(column) in _MESSAGE_FACTORIES


def holds_text(column: knext.Column) -> bool:
    """True for a column of plain texts."""
    return column.ktype == knext.string()


def holds_booleans(column: knext.Column) -> bool:
    """True for a column of booleans."""
    return column.ktype == knext.bool_()


def binary_type() -> Any:
    """Column type of bytes: KNIME's byte vectors, the only one for which Python needs no further library."""
    logical: Any = knext.LogicalType
    return logical('{"value_factory_class":"org.knime.core.data.v2.value.DenseByteVectorValueFactory"}', knext.blob())


def tool_type() -> Any:
    """Column type of tools of both kinds.

    Raises:
        knext.InvalidParametersError: The host has no such type.
    """
    from knime.types.tool import Tool

    return _registered(Tool, "tools", "the Java part of this extension")


def message_type() -> Any:
    """Column type of messages.

    Raises:
        knext.InvalidParametersError: The host has no such type.
    """
    from knime.types.message import MessageValue

    return _registered(MessageValue, "messages", "KNIME's AI extension")


def _registered(value_type: type, what: str, where: str) -> Any:
    try:
        return knext.logical(value_type)
    except TypeError as error:
        raise knext.InvalidParametersError(
            f"KNIME has no column type for {what} here; install {where}, which brings it along."
        ) from error


def is_older(column: knext.Column) -> bool:
    """True for a column of tools of an older kind: KNIME's workflow tools, or the first MCP tools."""
    return _factory(column) in _TOOL_FACTORIES - {_TOOL_FACTORY}


def chosen_column(
    schema: knext.Schema, selected: str | None, holds: Callable[[knext.Column], bool], *, what: str, table: str
) -> str:
    """The selected column, or the last one of the right type if none is selected.

    Args:
        schema: Columns of the table.
        selected: The setting; None if the person chose nothing.
        holds: Whether a column has the right type.
        what: What the column holds, for the message, such as "tools".
        table: Which table it is, for the message, such as "tools table".

    Raises:
        knext.InvalidParametersError: The column does not exist, has another type, or none has the right type.
    """
    fitting = [column.name for column in schema if holds(column)]
    if selected in fitting:
        return str(selected)
    if not selected and fitting:
        return fitting[-1]
    if not selected:
        raise knext.InvalidParametersError(f"The {table} has no column of {what}; connect a table that has one.")
    problem = f"does not hold {what}" if selected in schema.column_names else "does not exist"
    raise knext.InvalidParametersError(
        f"Column {selected!r} of the {table} {problem}; select another one in the dialog."
    )
