"""What nodes give, as plain JSON that is the same in both worlds if the nodes do the same."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any, cast

import knime.extension as knext

__all__ = ["each_of_group", "plain_dialog", "plain_page", "plain_schema", "plain_spec", "plain_table"]


def each_of_group(change: Callable[[Any], Any], value: Any) -> Any:
    """The value changed, or each value of a port group."""
    return [change(each) for each in cast("list[Any]", value)] if isinstance(value, list) else change(value)


def _plain_type(ktype: Any) -> str:
    return str(getattr(ktype, "logical_type", None) or ktype)


def plain_schema(schema: knext.Schema) -> list[list[str]]:
    """Name and type of each column."""
    return [[column.name, _plain_type(column.ktype)] for column in schema]


def plain_spec(spec: Any) -> Any:
    """A table's columns; of another port's spec what it stores."""
    if spec is None:
        return None
    return plain_schema(spec) if isinstance(spec, knext.Schema) else {"data": spec.serialize()}


def plain_table(table: knext.Table) -> dict[str, Any]:
    """Columns and cells of a table, with the row identifiers; objects as what is stored of them."""
    arrow = table.to_pyarrow()
    names = arrow.column_names
    return {
        "columns": plain_schema(table.schema),
        "cells": {name: _plain_cells(name, column) for name, column in zip(names, arrow.columns, strict=True)},
    }


def _plain_cells(name: str, column: Any) -> list[Any]:
    cells = [cell for chunk in column.chunks for cell in getattr(chunk, "storage", chunk).to_pylist()]
    if "(seconds)" in name or name.endswith("__seconds"):  # a measured time
        return [type(cell).__name__ for cell in cells]
    return [_plain_cell(cell) for cell in cells]


def _plain_cell(cell: Any) -> Any:
    if isinstance(cell, bytes):
        return {"bytes": cell.hex()}
    if isinstance(cell, dict):
        return {key: _plain_cell(value) for key, value in cast("dict[str, Any]", cell).items()}
    return [_plain_cell(each) for each in cast("list[Any]", cell)] if isinstance(cell, list) else cell


def plain_page(page: str | None) -> str | None:
    """A page without what differs from run to run: times, and the widths and places that show them."""
    times = r"\d\d:\d\d:\d\d|\d+(\.\d+)?\s*(ms|s|%|min)\b|\d+(\.\d+)?%"
    cells = r'<td class="num" data-v="\d+\.\d+">[\d.,]+</td>'
    return None if page is None else re.sub(f"{times}|{cells}", "#", page)


def plain_dialog(dialog: Any) -> Any:
    """A dialog without what each host says in words of its own."""
    if isinstance(dialog, list):
        return [plain_dialog(each) for each in cast("list[Any]", dialog)]
    if not isinstance(dialog, dict):
        return dialog
    return {key: _plain_entry(key, value) for key, value in cast("dict[str, Any]", dialog).items()}


def _plain_entry(key: str, value: Any) -> Any:
    if key == "description" and isinstance(value, str):  # KNIME makes HTML of the Markdown, the look-alike keeps it
        return re.findall(r"\w+", html.unescape(re.sub(r"</?\w+>", " ", value)))
    if key == "errorMessage":
        return type(value).__name__
    # The type of a column, whose name for people comes from Java; a setting may be called so, too.
    if key == "type" and isinstance(value, dict) and "id" in value:
        return cast("dict[str, Any]", value)["id"]
    return plain_dialog(value)
