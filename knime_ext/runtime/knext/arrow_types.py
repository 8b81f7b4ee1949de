"""KNIME types and Arrow types, both ways, and the Arrow extension type of logical columns."""

from __future__ import annotations

from typing import Any, cast

import pyarrow as pa

from knime_ext.runtime.knext import ktypes, time_types, value_types
from knime_ext.runtime.knext.ktypes import KnimeType, ListType, LogicalType, PrimitiveType, PrimitiveTypeId, StructType

__all__ = ["LogicalExtensionType", "LogicalScalar", "UnsupportedColumn", "arrow_type", "knime_type", "table_type"]


class UnsupportedColumn(TypeError, ValueError):
    """A table cannot hold a column. It is of a wrong type, but code written for KNIME expects a ValueError."""


class LogicalScalar(pa.ExtensionScalar):
    """One cell of a logical column."""

    def as_py(self, **kwargs: Any) -> Any:
        """The cell as a Python object, None if missing."""
        storage = None if self.value is None else self.value.as_py()
        return cast("LogicalExtensionType", self.type).decode(storage)


class LogicalExtensionType(pa.ExtensionType):
    """Arrow type of a logical column: the storage, and the JSON text that names KNIME's value factory."""

    def __init__(self, storage_type: pa.DataType, logical_type: str) -> None:
        self._logical_type = logical_type
        super().__init__(storage_type, "knime.logical_type")

    @property
    def logical_type(self) -> str:
        """JSON text that names KNIME's value factory."""
        return self._logical_type

    def decode(self, storage: Any) -> Any:
        """The Python object for a stored value; the value itself if no value factory is registered."""
        try:
            known = value_types.value_type_of(self._logical_type)
        except ValueError:
            return storage
        return known.value_factory.decode(storage)

    def __arrow_ext_serialize__(self) -> bytes:
        return self._logical_type.encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> LogicalExtensionType:
        return cls(storage_type, serialized.decode())

    def __arrow_ext_scalar_class__(self) -> type[pa.ExtensionScalar]:
        return LogicalScalar

    def __reduce__(self) -> Any:
        return LogicalExtensionType, (self.storage_type, self._logical_type)

    def to_pandas_dtype(self) -> Any:
        """The pandas dtype of such a column."""
        from knime_ext.runtime.knext.pandas_types import LogicalDtype

        return LogicalDtype(cast("LogicalType", knime_type(self)))


pa.register_extension_type(LogicalExtensionType(pa.string(), "example"))

_ARROW = {
    PrimitiveTypeId.INT: pa.int32(),
    PrimitiveTypeId.LONG: pa.int64(),
    PrimitiveTypeId.STRING: pa.string(),
    PrimitiveTypeId.DOUBLE: pa.float64(),
    PrimitiveTypeId.BOOL: pa.bool_(),
    PrimitiveTypeId.BLOB: pa.large_binary(),
    PrimitiveTypeId.NULL: pa.null(),
    PrimitiveTypeId.BYTE: pa.int8(),
}
_KNIME = {arrow: type_id for type_id, arrow in _ARROW.items()}


def arrow_type(ktype: KnimeType) -> pa.DataType:
    """The Arrow type that stores values of a KNIME type.

    Raises:
        TypeError: There is none.
    """
    if isinstance(ktype, PrimitiveType):
        return _ARROW[ktype.type_id]
    if isinstance(ktype, ListType):
        return pa.list_(arrow_type(ktype.inner_type))
    if isinstance(ktype, StructType):
        return pa.struct([pa.field(str(i), arrow_type(inner)) for i, inner in enumerate(ktype.inner_types)])
    if isinstance(ktype, LogicalType):
        return LogicalExtensionType(arrow_type(ktype.storage_type), ktype.logical_type)
    raise TypeError(f"there is no Arrow type for {ktype}")


def _time_type(dtype: pa.DataType) -> LogicalType | None:
    if pa.types.is_date(dtype):
        return time_types.LOCAL_DATE
    if pa.types.is_time(dtype):
        return time_types.LOCAL_TIME
    if pa.types.is_duration(dtype):
        return time_types.DURATION
    if isinstance(dtype, pa.TimestampType):
        return time_types.LOCAL_DATE_TIME if dtype.tz is None else time_types.ZONED_DATE_TIME
    return None


def knime_type(dtype: pa.DataType) -> KnimeType:
    """The KNIME type of an Arrow type that a table holds.

    Raises:
        TypeError: A table cannot hold it.
    """
    if isinstance(dtype, LogicalExtensionType):
        return LogicalType(dtype.logical_type, knime_type(dtype.storage_type))
    if dtype in _KNIME:
        return PrimitiveType(_KNIME[dtype])
    if isinstance(dtype, pa.ListType):
        return ktypes.list_(knime_type(dtype.value_type))
    if isinstance(dtype, pa.StructType):
        return ktypes.struct(*(knime_type(dtype.field(i).type) for i in range(dtype.num_fields)))
    time = _time_type(dtype)
    if time is None:
        raise UnsupportedColumn(f"there is no KNIME type for the Arrow type {dtype}")
    return time


_CORE = "org.knime.core.data.v2.value."
# KNIME wraps plain columns in its files as logical ones; in tables they are plain.
_PLAIN_FACTORIES = {
    value_types.logical_type_text(f"{_CORE}{name}ValueFactory")
    for name in (
        *("Int", "Long", "String", "Boolean", "Double", "Void", "DefaultRowKey"),
        *("IntList", "LongList", "StringList", "BooleanList", "DoubleList", "List"),
    )
}

_COLUMN_TYPES = {pa.int32(), pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.null()}
_WIDENED = {pa.float32(): pa.float64(), pa.large_string(): pa.string(), pa.string_view(): pa.string()}


def _repair(dtype: pa.DataType) -> str:
    if pa.types.is_integer(dtype):
        return "cast it to int32 or int64"
    if pa.types.is_decimal(dtype) or pa.types.is_float16(dtype):
        return "cast it to float64"
    if pa.types.is_struct(dtype):
        return "spread its fields over columns of their own, or write it as JSON text"
    if pa.types.is_binary(dtype) or pa.types.is_large_binary(dtype) or pa.types.is_fixed_size_binary(dtype):
        return "write it as text, for example base64"
    return "cast it to int32, int64, float64, string, bool, a date or time, or a list of these"


def _list_type(dtype: Any) -> pa.DataType:
    if isinstance(dtype.value_type, (pa.ListType, pa.LargeListType)):
        raise UnsupportedColumn("write lists of lists as JSON text")
    value_type = table_type(dtype.value_type)
    if isinstance(dtype, pa.ListType) and value_type == dtype.value_type:
        return dtype
    return pa.list_(value_type)


def table_type(dtype: pa.DataType) -> pa.DataType:
    """The Arrow type under which a table holds a column that comes with type `dtype`; often the same.

    Raises:
        UnsupportedColumn: KNIME has no column type for it; the error says what to do instead.
    """
    if isinstance(dtype, LogicalExtensionType):
        return table_type(dtype.storage_type) if dtype.logical_type in _PLAIN_FACTORIES else dtype
    if dtype in _COLUMN_TYPES or (not isinstance(dtype, pa.BaseExtensionType) and _time_type(dtype) is not None):
        return dtype
    if dtype in _WIDENED:
        return _WIDENED[dtype]
    if isinstance(dtype, (pa.ListType, pa.LargeListType)):
        return _list_type(dtype)
    if isinstance(dtype, pa.DictionaryType):
        return table_type(dtype.value_type)
    raise UnsupportedColumn(_repair(dtype))
