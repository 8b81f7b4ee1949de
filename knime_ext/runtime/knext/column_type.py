"""The type of a column as KNIME's dialogs tell it: the identifier that filters by type store, and a name."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from knime_ext.runtime.knext import ktypes
from knime_ext.runtime.knext.ktypes import KnimeType, ListType, LogicalType
from knime_ext.runtime.knext.schema import Column

__all__ = ["ColumnType", "column_type"]

_DATA = "org.knime.core.data."
_PLAIN: dict[KnimeType, str] = {
    ktypes.string(): "StringValue",
    ktypes.int32(): "IntValue",
    ktypes.int64(): "LongValue",
    ktypes.double(): "DoubleValue",
    ktypes.bool_(): "BooleanValue",
}


class ColumnType(NamedTuple):
    """Type of a column in a dialog: identifier, and name for people."""

    id: str
    text: str


def _value_class(logical_type: str) -> str:
    try:
        return str(json.loads(logical_type)["value_factory_class"]).replace("ValueFactory", "Value")
    except (ValueError, KeyError, TypeError):  # a file from elsewhere may name its types as it likes
        return f"{_DATA}DataValue"


def _type_id(ktype: KnimeType) -> str:
    if isinstance(ktype, LogicalType):
        return _value_class(ktype.logical_type)
    if isinstance(ktype, ListType):
        return f"{_DATA}collection.ListDataValue"
    return _DATA + _PLAIN.get(ktype, "DataValue")


def column_type(column: Column) -> ColumnType:
    """Type of a column: what its metadata says where KNIME has set them, else what its KNIME type implies."""
    known: dict[str, Any] = column.metadata or {}
    return ColumnType(
        known.get("preferred_value_type") or _type_id(column.ktype),
        known.get("displayed_column_type") or str(column.ktype),
    )
