"""Structured answers as typed columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pyarrow as pa

from knime_ext.agent.answer_format import AnswerFormat
from knime_ext.tools.result_columns import OutputColumn, output_columns, typed_cells
from knime_ext.tools.schema_parts import as_schema, merged, reference_target, types_of

__all__ = ["answer_columns", "answer_values"]


def answer_columns(format: AnswerFormat) -> list[tuple[str, pa.DataType]]:
    """Names and types of the columns: texts, numbers, booleans and lists of them; anything else is JSON text."""
    items = _items(format)
    columns = output_columns([format.schema])
    return [(one.name, pa.list_(items[one.name].kind) if one.name in items else one.kind) for one in columns]


def answer_values(format: AnswerFormat, structured: Mapping[str, Any] | None) -> list[Any]:
    """The values of the columns in order, missing ones as None.

    Args:
        format: The form of the answer.
        structured: The answer (`AgentRun.structured`); None if there is none.
    """
    columns, items = output_columns([format.schema]), _items(format)
    cells, _ = typed_cells(columns, structured or {})
    lists = {name: _list(items[name], (structured or {}).get(name)) for name in items}
    return [lists.get(column.name, cell) for column, cell in zip(columns, cells, strict=True)]


def _items(format: AnswerFormat) -> dict[str, OutputColumn]:
    """What the lists among the values hold, by the lists' names."""
    parts: dict[str, Any] = {}
    for name, part in format.properties.items():
        schema = merged(part, format.schema)
        schema = as_schema(reference_target(schema["$ref"], format.schema)) if "$ref" in schema else schema
        if set(types_of(schema)) - {"null"} == {"array"}:
            parts[name] = schema.get("items")
    columns = output_columns([{**format.schema, "properties": parts}])
    return {column.name: column for column in columns if column.json_type}


def _list(items: OutputColumn, values: Any) -> list[Any] | None:
    if not isinstance(values, list):
        return None
    return [typed_cells([items], {items.name: value})[0][0] for value in cast("list[Any]", values)]
