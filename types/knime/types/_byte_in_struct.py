"""Lets KNIME's Python code read a column whose struct has a byte.

The tool struct begins with a byte that says which kind of tool the cell holds. Java and Arrow know bytes, but the
Python code of KNIME 5.9 to 5.12 stops half-way: it turns the schema of such a column into types for `configure` and
for `Table.schema`, has no type for a byte, and every node fails that is given such a table. The type is missing in
three places: where the name of a type becomes a type, where a type becomes its name, and where an Arrow type becomes
one of KNIME's. This module fills in these three, for the process that imports it, and nothing else.

It does nothing where KNIME already knows bytes, where the three places look different from what is known, and where
there is no KNIME.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["teach_byte"]

_BYTE = "byte"


class _Byte:
    """What a type needs: it equals itself and has a name. All of its instances are the same type."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(_BYTE)

    def __str__(self) -> str:
        return "Number (Byte)"


def teach_byte() -> bool:
    """Makes KNIME's Python code know the type of a byte.

    Returns:
        Whether it had to be taught here.
    """
    try:
        schema: Any = import_module("knime.api.schema")
        type_of_name, names, base = schema._create_knime_type_from_id, schema._knime_to_type_str, schema.KnimeType
        tables: Any = import_module("knime._arrow._table")
        arrow_types = tables._arrow_to_knime_types
        int8 = import_module("pyarrow").int8()
    except (ImportError, AttributeError):
        return False
    if _is_known(type_of_name) or int8 in arrow_types:
        return False
    byte = type("ByteType", (_Byte, base), {})()

    def type_of_name_or_byte(name: str) -> Any:
        return byte if name == _BYTE else type_of_name(name)

    schema._create_knime_type_from_id = type_of_name_or_byte
    names[byte] = _BYTE
    arrow_types[int8] = byte
    return True


def _is_known(type_of_name: Any) -> bool:
    try:
        return type_of_name(_BYTE) is not None
    except (KeyError, TypeError, ValueError):
        return False
