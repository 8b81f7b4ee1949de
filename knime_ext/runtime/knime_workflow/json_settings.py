"""Settings of Python nodes: the tree of a node's parameters, typed by its JSON Schema, as KNIME stores such trees.

An object is marked by the entry `json-type_Internals`. An array of simple values is KNIME's array of entries, an array
of objects a config with the keys "0", "1" and so on; an empty array of simple values is marked as well, because it has
nothing that would show its type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from knime_ext.runtime.knime_workflow.config import (
    ARRAY_SIZE,
    Config,
    Entry,
    boolean,
    double,
    integer,
    is_writable_key,
    long,
    text,
)

__all__ = ["from_config", "to_config"]

_TYPE, _NULL, _INTERNAL = "json-type_Internals", "null_Internals", "_Internals"
_ENTRIES = {"STRING": text, "BOOLEAN": boolean, "INT": integer, "LONG": long, "DOUBLE": double}


def to_config(tree: Mapping[str, Any], schema: Mapping[str, Any]) -> Config:
    """A tree of settings as KNIME's config.

    Args:
        tree: Complete settings of the schema's types.
        schema: JSON Schema with the type of every setting.
    """
    config = Config()
    for key, inner in schema.get("properties", {}).items():
        if is_writable_key(key) and not key.endswith(_INTERNAL):
            content = _content(tree.get(key), inner)
            if content is not None:
                config[key] = content
    config[_TYPE] = text("OBJECT")
    return config


def _kind(schema: Mapping[str, Any]) -> str:
    """KNIME's name of a schema's type."""
    if "oneOf" in schema:
        return "STRING"
    if "anyOf" in schema:
        return "STRING_ARRAY"
    kind = schema.get("type")
    if kind == "array":
        items = _kind(schema["items"])
        return f"{items}_ARRAY" if items in _ENTRIES else "ARRAY"
    if kind == "integer":
        return "LONG" if schema.get("format") == "int64" else "INT"
    return {"number": "DOUBLE", "boolean": "BOOLEAN", "object": "OBJECT"}.get(str(kind), "STRING")


def _content(value: Any, schema: Mapping[str, Any]) -> Entry | Config | None:
    kind = _kind(schema)
    if kind == "OBJECT":
        return to_config(cast("Mapping[str, Any]", value or {}), schema)
    if kind == "ARRAY":
        items = cast("list[Any] | None", value)
        if items is None:
            return Config({_NULL: boolean(True)})
        return Config({str(at): to_config(item, schema["items"]) for at, item in enumerate(items)})
    if kind.endswith("_ARRAY"):
        return _simple_array(cast("list[Any] | None", value), kind)
    if value is None:
        return text(None) if kind == "STRING" else None
    return _ENTRIES[kind](value)


def _simple_array(values: list[Any] | None, kind: str) -> Config:
    if not values:
        return Config({_TYPE: text(kind), ARRAY_SIZE: integer(0), _NULL: boolean(values is None)})
    make = _ENTRIES[kind.removesuffix("_ARRAY")]
    return Config({ARRAY_SIZE: integer(len(values)), **{str(at): make(value) for at, value in enumerate(values)}})


def from_config(config: Config) -> dict[str, Any]:
    """The tree of settings that a config holds.

    Raises:
        ValueError: An entry's text is none of its type.
    """
    return {key: _value(content) for key, content in config.items() if not key.endswith(_INTERNAL)}


def _value(content: Entry | Config) -> Any:
    if isinstance(content, Entry):
        return content.value
    if content.value(_NULL, False):
        return None
    if content.string(_TYPE) == "OBJECT":
        return from_config(content)
    return [_value(item) for item in content.numbered()]
