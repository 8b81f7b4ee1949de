"""Schemas in the form in which KNIME exchanges them with Python: specs, traits, names and metadata side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from knime_ext.runtime.knext import ktypes
from knime_ext.runtime.knext.ktypes import (
    DictEncodingKeyType,
    KnimeType,
    ListType,
    LogicalType,
    PrimitiveType,
    PrimitiveTypeId,
    StructType,
)

if TYPE_CHECKING:
    from knime_ext.runtime.knext.schema import Schema

__all__ = ["from_json", "to_json"]

_SPECS = {
    PrimitiveTypeId.INT: "int",
    PrimitiveTypeId.LONG: "long",
    PrimitiveTypeId.STRING: "string",
    PrimitiveTypeId.DOUBLE: "double",
    PrimitiveTypeId.BOOL: "boolean",
    PrimitiveTypeId.BLOB: "variable_width_binary",
    PrimitiveTypeId.NULL: "void",
    PrimitiveTypeId.BYTE: "byte",
}
_TYPE_IDS = {spec: type_id for type_id, spec in _SPECS.items()}


def _core(name: str) -> str:
    return '{"value_factory_class":"org.knime.core.data.v2.value.' + name + 'ValueFactory"}'


_ROW_KEY = LogicalType(_core("DefaultRowKey"), ktypes.string())
_LIST = _core("List")
_INNER = {
    ktypes.int32(): "Int",
    ktypes.int64(): "Long",
    ktypes.string(): "String",
    ktypes.bool_(): "Boolean",
    ktypes.double(): "Double",
}
_WRAPPERS: dict[KnimeType, str] = {
    **{ktype: _core(name) for ktype, name in _INNER.items()},
    ktypes.null(): _core("Void"),
    **{ktypes.list_(ktype): _core(f"{name}List") for ktype, name in _INNER.items()},
}
_WRAPPED = {wrapper: ktype for ktype, wrapper in _WRAPPERS.items()}


def _wrapped(ktype: KnimeType) -> KnimeType:
    """KNIME knows plain types only as logical ones."""
    if ktype in _WRAPPERS:
        return LogicalType(_WRAPPERS[ktype], ktype)
    if isinstance(ktype, ListType):
        return LogicalType(_LIST, ktypes.list_(_wrapped(ktype.inner_type)))
    return ktype


def _unwrapped(ktype: KnimeType) -> KnimeType:
    if isinstance(ktype, LogicalType):
        if ktype.logical_type in _WRAPPED:
            return _WRAPPED[ktype.logical_type]
        if ktype.logical_type == _LIST and isinstance(ktype.storage_type, ListType):
            return ktypes.list_(_unwrapped(ktype.storage_type.inner_type))
    return ktype


def _type_to_json(ktype: KnimeType) -> tuple[Any, dict[str, Any]]:
    own: dict[str, Any] = {}
    if isinstance(ktype, LogicalType):
        own["logical_type"] = ktype.logical_type
        ktype = ktype.storage_type
    if isinstance(ktype, ListType):
        spec, traits = _type_to_json(ktype.inner_type)
        return {"type": "list", "inner_type": spec}, {"traits": own, "type": "list", "inner": traits}
    if isinstance(ktype, StructType):
        parts = [_type_to_json(inner) for inner in ktype.inner_types]
        specs, traits_list = [spec for spec, _ in parts], [traits for _, traits in parts]
        return {"type": "struct", "inner_types": specs}, {"traits": own, "type": "struct", "inner": traits_list}
    assert isinstance(ktype, PrimitiveType)
    if ktype.dict_encoding_key_type is not None:
        own["dict_encoding"] = ktype.dict_encoding_key_type.value
    return _SPECS[ktype.type_id], {"traits": own, "type": "simple"}


def _type_from_json(spec: Any, traits: dict[str, Any]) -> KnimeType:
    own: dict[str, Any] = traits.get("traits", {})
    storage: KnimeType
    if traits["type"] == "list":
        storage = ktypes.list_(_type_from_json(spec["inner_type"], traits["inner"]))
    elif traits["type"] == "struct":
        storage = ktypes.struct(*map(_type_from_json, spec["inner_types"], traits["inner"]))
    else:
        key = own.get("dict_encoding")
        storage = PrimitiveType(_TYPE_IDS[spec], None if key is None else DictEncodingKeyType(key))
    return LogicalType(own["logical_type"], storage) if "logical_type" in own else storage


def to_json(schema: Schema) -> dict[str, Any]:
    """The schema as KNIME exchanges it, with a first column for the row ids.

    Raises:
        RuntimeError: Two columns have the same name.
    """
    names = schema.column_names
    if len(set(names)) != len(names):
        raise RuntimeError(f"the schema has columns of the same name: {names}; give each a name of its own")
    parts = [_type_to_json(ktype) for ktype in (_ROW_KEY, *(_wrapped(column.ktype) for column in schema))]
    return {
        "schema": {"specs": [spec for spec, _ in parts], "traits": [traits for _, traits in parts]},
        "columnNames": ["RowKey", *names],
        "columnMetaData": [None, *(column.metadata for column in schema)],
    }


def from_json(data: dict[str, Any]) -> Schema:
    """Reads what `to_json` wrote; a first column for the row ids is left out."""
    from knime_ext.runtime.knext.schema import Schema

    ktypes_read = list(map(_type_from_json, data["schema"]["specs"], data["schema"]["traits"]))
    start = 1 if ktypes_read and ktypes_read[0] == _ROW_KEY else 0
    return Schema(
        [_unwrapped(ktype) for ktype in ktypes_read[start:]],
        data["columnNames"][start:],
        data["columnMetaData"][start:],
    )
