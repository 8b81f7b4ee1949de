"""Results of calls as table columns: typed where the tool says what it gives, media as bytes. No I/O."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pyarrow as pa

from knime_ext.tools.model_text import text_for_model
from knime_ext.tools.result import ToolResult
from knime_ext.tools.schema_parts import as_schema, merged, reference_target, types_of
from knime_ext.tools.tool_columns import json_text

__all__ = ["Media", "OutputColumn", "media_of", "output_columns", "typed_cells"]

_ARROW = {"string": pa.utf8(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}
_PYTHON: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,)}
_INT64 = 2**63
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputColumn:
    """A column for one property of structured results.

    Attributes:
        name: Name of the property.
        json_type: `string`, `integer`, `number` or `boolean`; "" for anything else, which is kept as JSON text.
    """

    name: str
    json_type: str

    @property
    def kind(self) -> pa.DataType:
        """Arrow type of the column."""
        return _ARROW.get(self.json_type, pa.utf8())


def _type_of(part: Any, root: Mapping[str, Any], depth: int = 0) -> str:
    """The one simple type besides null that fits a schema, "" if there is no such."""
    schema = merged(part, root)
    if "$ref" in schema and depth < 10:
        return _type_of(reference_target(schema["$ref"], root), root, depth + 1)
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list) and depth < 10:
            kinds = {_type_of(branch, root, depth + 1) for branch in cast("list[Any]", schema[keyword])} - {"null"}
            return kinds.pop() if len(kinds) == 1 else ""
    kinds = set(types_of(schema))
    if kinds == {"null"}:
        return "null"
    kinds -= {"null"}
    kinds -= {"integer"} if "number" in kinds else set()
    [only] = kinds if len(kinds) == 1 else [""]
    return only if only in _ARROW else ""


def output_columns(schemas: Iterable[Mapping[str, Any]]) -> list[OutputColumn]:
    """The columns for results of tools with these output schemas; where two disagree about a type it is JSON text.

    Args:
        schemas: JSON Schemas of structured results, objects with properties.
    """
    found: dict[str, str] = {}
    for schema in schemas:
        for name, part in as_schema(merged(schema, schema).get("properties")).items():
            kind = _type_of(part, schema).replace("null", "")
            found[name] = kind if found.get(name, kind) == kind else ""
    return [OutputColumn(name=name, json_type=kind) for name, kind in found.items()]


def typed_cells(columns: Sequence[OutputColumn], structured: Any) -> tuple[list[Any], str | None]:
    """The cells of one result, and what does not fit; a value of another type than declared is a missing cell.

    Args:
        columns: The columns.
        structured: The structured value of a result.
    """
    values = as_schema(structured)
    cells: list[Any] = []
    odd: list[str] = []
    for column in columns:
        value = values.get(column.name)
        fits = value is None or _fits(column.json_type, value)
        cells.append(_cell(column.json_type, value) if fits and value is not None else None)
        if not fits:
            shown = json.dumps(value, ensure_ascii=False)[:60]
            odd.append(f"{column.name!r} is no {column.json_type} but {shown}")
    return cells, f"the result is not what the tool's output schema says: {'; '.join(odd)}" if odd else None


def _fits(kind: str, value: Any) -> bool:
    if kind == "":
        return True
    if isinstance(value, bool) and kind != "boolean":
        return False
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        value = int(value)
    return isinstance(value, _PYTHON[kind]) and not (kind == "integer" and not -_INT64 <= value < _INT64)


def _cell(kind: str, value: Any) -> Any:
    if kind == "integer":
        return int(value)
    if kind == "number":
        return float(value)
    if kind == "string":
        return _storable(value)
    return value if kind == "boolean" else json_text(value)


def _storable(text: str) -> str:
    """A text that a cell can hold: halves of characters become U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """A picture, a sound or a file in a result."""

    data: bytes
    mime_type: str


def media_of(result: ToolResult) -> list[Media]:
    """What a result holds besides text, in order; blocks whose data cannot be decoded are left out."""
    found: list[Media] = []
    for block in result.content:
        kind = block.get("type")
        holder = as_schema(block.get("resource")) if kind == "resource" else block
        encoded = (
            holder.get("blob") if kind == "resource" else holder.get("data") if kind in ("image", "audio") else None
        )
        if isinstance(encoded, str):
            try:
                data = base64.b64decode(encoded, validate=True)
            except (binascii.Error, ValueError):
                continue
            found.append(Media(data=data, mime_type=text_for_model(str(holder.get("mimeType") or ""))))
    return found
