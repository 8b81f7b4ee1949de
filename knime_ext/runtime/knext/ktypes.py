"""Types of columns, as KNIME names them. Needs no Arrow; conversions import it when they are called."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, unique
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "DictEncodingKeyType",
    "KnimeType",
    "ListType",
    "LogicalType",
    "PrimitiveType",
    "PrimitiveTypeId",
    "StructType",
    "blob",
    "bool_",
    "datetime",
    "double",
    "int32",
    "int64",
    "list_",
    "logical",
    "null",
    "string",
    "struct",
    "supported_value_types",
]


class KnimeType:
    """Type of a column. Make one with `int32()`, `string()`, `list_(...)`, `logical(...)` and so on."""

    def __init__(self) -> None:
        if type(self) is KnimeType:
            raise TypeError("a KnimeType is made by int32(), string(), list_(...), logical(...) and so on")

    def __repr__(self) -> str:
        return str(self)


@unique
class PrimitiveTypeId(Enum):
    """Kinds of primitive types, by their names for people.

    `BYTE` stands only inside the storage of a logical type; no column of a table has it.
    """

    INT = "Number (Integer)"
    LONG = "Number (Long Integer)"
    STRING = "String"
    DOUBLE = "Number (Float)"
    BOOL = "Boolean"
    BLOB = "blob"
    NULL = "null"
    BYTE = "byte"


@unique
class DictEncodingKeyType(Enum):
    """Width of the keys of a dictionary-encoded column."""

    INT = "INT_KEY"
    LONG = "LONG_KEY"
    BYTE = "BYTE_KEY"


class PrimitiveType(KnimeType):
    """A type without parts. There is one object per kind, so identity is equality."""

    _instances: ClassVar[dict[tuple[PrimitiveTypeId, DictEncodingKeyType | None], PrimitiveType]] = {}
    _type_id: PrimitiveTypeId
    _key_type: DictEncodingKeyType | None

    def __new__(cls, type_id: PrimitiveTypeId, key_type: DictEncodingKeyType | None = None) -> PrimitiveType:
        """The one object of this kind.

        Raises:
            TypeError: The arguments are of another type, or the kind has no dictionary encoding.
        """
        _check_primitive(type_id, key_type)
        known = cls._instances.get((type_id, key_type))
        if known is None:
            known = super().__new__(cls)
            known._type_id, known._key_type = type_id, key_type
            cls._instances[type_id, key_type] = known
        return known

    def __init__(self, type_id: PrimitiveTypeId, key_type: DictEncodingKeyType | None = None) -> None:
        pass

    def __getnewargs__(self) -> tuple[PrimitiveTypeId, DictEncodingKeyType | None]:
        return self._type_id, self._key_type

    @property
    def type_id(self) -> PrimitiveTypeId:
        """Kind of the type."""
        return self._type_id

    @property
    def dict_encoding_key_type(self) -> DictEncodingKeyType | None:
        """Width of the dictionary's keys, None without a dictionary."""
        return self._key_type

    @property
    def plain_type(self) -> PrimitiveType:
        """The type without a dictionary."""
        return PrimitiveType(self._type_id)

    def __str__(self) -> str:
        if self._key_type is None:
            return self._type_id.value
        return f"{self._type_id.value}[dict_encoding={self._key_type.value}]"


def _check_primitive(type_id: object, key_type: object) -> None:
    if not isinstance(type_id, PrimitiveTypeId):
        raise TypeError(f"a primitive type is made of a PrimitiveTypeId, not of {type_id!r}")
    if key_type is None:
        return
    if not isinstance(key_type, DictEncodingKeyType):
        raise TypeError(f"a dictionary encoding is a DictEncodingKeyType, not {key_type!r}")
    if type_id not in (PrimitiveTypeId.STRING, PrimitiveTypeId.BLOB):
        raise TypeError(f"only strings and blobs can be dictionary-encoded, not {type_id.value!r}")


class ListType(KnimeType):
    """A list of values of one type."""

    def __init__(self, inner_type: KnimeType) -> None:
        if not isinstance(inner_type, KnimeType):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the inner type of a list must be a KNIME type, not {inner_type!r}")
        self._inner_type = inner_type

    @property
    def inner_type(self) -> KnimeType:
        """Type of the elements."""
        return self._inner_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListType) and self._inner_type == other._inner_type

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return f"List (Collection of: {self._inner_type})"


class StructType(KnimeType):
    """Several values side by side, named "0", "1" and so on. Only the storage of logical types has it."""

    def __init__(self, inner_types: Iterable[KnimeType]) -> None:
        self._inner_types = tuple(inner_types)
        for inner in self._inner_types:
            if not isinstance(inner, KnimeType):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"the inner types of a struct must be KNIME types, not {inner!r}")

    @property
    def inner_types(self) -> tuple[KnimeType, ...]:
        """Types of the parts."""
        return self._inner_types

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StructType) and self._inner_types == other._inner_types

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return f"struct<{', '.join(map(str, self._inner_types))}>"


class LogicalType(KnimeType):
    """A type whose cells hold Python objects, stored as something simpler.

    Args:
        logical_type: JSON text that names KNIME's value factory; compared as text.
        storage_type: Type in which the values are stored.
        proxy_type_converter: Value factory of another Python class for the same cells, if `logical` was asked for
            that class.
    """

    def __init__(self, logical_type: str, storage_type: KnimeType, proxy_type_converter: Any = None) -> None:
        self._logical_type = logical_type
        self._storage_type = storage_type
        self._proxy_type_converter = proxy_type_converter

    @property
    def logical_type(self) -> str:
        """JSON text that names KNIME's value factory."""
        return self._logical_type

    @property
    def storage_type(self) -> KnimeType:
        """Type in which the values are stored."""
        return self._storage_type

    @property
    def proxy_type(self) -> type | None:
        """The Python class that was asked for, if it is not the one that the cells are read as."""
        return None if self._proxy_type_converter is None else self._proxy_type_converter.compatible_type

    @property
    def value_factory(self) -> Any:
        """Encodes and decodes the values.

        Raises:
            ValueError: No value factory is registered for this type.
        """
        from knime_ext.runtime.knext import value_types

        if self._proxy_type_converter is not None:
            return self._proxy_type_converter
        return value_types.value_type_of(self._logical_type).value_factory

    @property
    def value_type(self) -> str:
        """Full name of the Python class that the cells are read as.

        Raises:
            ValueError: No value factory is registered for this type.
        """
        from knime_ext.runtime.knext import value_types

        return value_types.value_type_of(self._logical_type).python_type

    def to_pyarrow(self) -> pa.DataType:
        """The Arrow extension type of such a column.

        Raises:
            ValueError: No value factory is registered for this type.
        """
        from knime_ext.runtime.knext import arrow_types, value_types

        storage = value_types.value_type_of(self._logical_type).storage
        return arrow_types.LogicalExtensionType(arrow_types.arrow_type(storage), self._logical_type)

    def to_pandas(self) -> Any:
        """The pandas dtype of such a column: `pd.Series(values, dtype=logical(T).to_pandas())`.

        Raises:
            ValueError: No value factory is registered for this type.
            ModuleNotFoundError: pandas is not installed.
        """
        from knime_ext.runtime.knext import pandas_types

        return pandas_types.LogicalDtype(self)

    @staticmethod
    def supported_value_types() -> str:
        """Text that lists the Python classes that cells can hold."""
        return supported_value_types()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, LogicalType)
            and self._logical_type == other._logical_type
            and self._storage_type == other._storage_type
            and self.proxy_type == other.proxy_type
        )

    def __hash__(self) -> int:
        return hash(self._logical_type)

    def __str__(self) -> str:
        from knime_ext.runtime.knext import value_types

        try:
            known = value_types.value_type_of(self._logical_type)
        except ValueError:
            return f"extension<logical={self._logical_type}, storage={self._storage_type}>"
        if self.proxy_type is not None:
            return f"extension<proxy={self.proxy_type}, internal={known.python_type}>"
        return known.data_type


def int32() -> PrimitiveType:
    """Whole numbers of 32 bits."""
    return PrimitiveType(PrimitiveTypeId.INT)


def int64() -> PrimitiveType:
    """Whole numbers of 64 bits."""
    return PrimitiveType(PrimitiveTypeId.LONG)


def double() -> PrimitiveType:
    """Floating point numbers of 64 bits."""
    return PrimitiveType(PrimitiveTypeId.DOUBLE)


def bool_() -> PrimitiveType:
    """True or false."""
    return PrimitiveType(PrimitiveTypeId.BOOL)


def null() -> PrimitiveType:
    """Nothing but missing cells."""
    return PrimitiveType(PrimitiveTypeId.NULL)


def string(dict_encoding_key_type: DictEncodingKeyType | None = None) -> PrimitiveType:
    """Texts, dictionary-encoded if a key type is given."""
    return PrimitiveType(PrimitiveTypeId.STRING, dict_encoding_key_type)


def blob(dict_encoding_key_type: DictEncodingKeyType | None = None) -> PrimitiveType:
    """Bytes, dictionary-encoded if a key type is given. Only the storage of logical types has it."""
    return PrimitiveType(PrimitiveTypeId.BLOB, dict_encoding_key_type)


def list_(inner_type: KnimeType) -> ListType:
    """Lists of values of one type."""
    return ListType(inner_type)


def struct(*inner_types: KnimeType) -> StructType:
    """Several values side by side, named "0", "1" and so on."""
    return StructType(inner_types)


def logical(value_type: Any) -> LogicalType:
    """The type of cells that hold objects of a Python class.

    Args:
        value_type: The class; it is looked up by its exact name, so a base class or a Union does not match.

    Raises:
        TypeError: No value factory is registered for the class.
    """
    from knime_ext.runtime.knext import value_types

    return value_types.logical(value_type)


def datetime(date: bool | None = True, time: bool | None = True, timezone: bool | None = False) -> LogicalType:
    """The type of dates, times, or both.

    Args:
        date: Whether the values have a date.
        time: Whether the values have a time of day.
        timezone: Whether the values have a time zone; only together with a time.

    Raises:
        ValueError: Neither date nor time, or a time zone without a time.
    """
    from knime_ext.runtime.knext import time_types

    if not date and not time:
        raise ValueError("a date-time type needs a date, a time or both")
    if timezone and not time:
        raise ValueError("a time zone needs a time")
    return time_types.time_type(bool(date), bool(time), bool(timezone))


def supported_value_types() -> str:
    """Text that lists the Python classes that cells can hold."""
    from knime_ext.runtime.knext import value_types

    names = "\n".join(f"  {name}" for name in value_types.python_types())
    return f"Cells can hold objects of these Python classes, for logical(...):\n{names}"
