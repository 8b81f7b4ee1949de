"""The columns of tests/golden/tool_columns.json, which the Java tests read too."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "DIGEST_FILE",
    "GOLDEN",
    "Column",
    "OlderColumn",
    "changed_cell",
    "columns",
    "golden_digest",
    "older_columns",
]

_FILE = Path(__file__).parent.parent / "golden" / "tool_columns.json"

GOLDEN: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))

DIGEST_FILE = "golden.sha256"
"""Lies beside exchanged files and says of which golden file they are."""

Fields = tuple[Any, ...]


@dataclass(frozen=True)
class Column:
    """A column of the nine-field layout.

    Attributes:
        name: Name of its file.
        cells: The nine fields of each row, None for a missing cell.
        batch: Rows of one record batch.
    """

    name: str
    cells: tuple[Fields | None, ...]
    batch: int


@dataclass(frozen=True)
class OlderColumn:
    """A column of the two-level layout.

    Attributes:
        name: Name of its file.
        cells: The struct of each row as Arrow gives it, None for a missing cell.
        batch: Rows of one record batch.
    """

    name: str
    cells: tuple[dict[str, Any] | None, ...]
    batch: int


def golden_digest() -> str:
    """Digest of the golden file."""
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()


def columns() -> list[Column]:
    """Every column of the nine-field layout."""
    found: list[Column] = []
    for column in GOLDEN["columns"]:
        schema = _filled_schema(column["fill"]) if "fill" in column else None
        cells = [None if name is None else _cell(name, schema) for name in column["cells"]]
        found.append(Column(column["name"], _repeated(cells, column), column.get("batch", len(cells) or 1)))
    return found


def older_columns() -> list[OlderColumn]:
    """Every column of the two-level layout."""
    cells: Mapping[str, dict[str, Any]] = GOLDEN["older_cells"]
    return [
        OlderColumn(
            column["name"],
            _repeated([None if name is None else cells[name] for name in column["cells"]], column),
            column.get("batch", len(column["cells"]) or 1),
        )
        for column in GOLDEN["older_columns"]
    ]


def changed_cell(entry: Mapping[str, Any]) -> Fields:
    """The nine fields of a damaged or sound cell."""
    fields = list(GOLDEN["cells"][entry["of"]])
    for index, value in entry["change"].items():
        fields[int(index)] = value
    for index, levels in entry.get("nest", {}).items():
        fields[int(index)] = '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)
    return tuple(fields)


def _cell(name: str, schema: str | None) -> Fields:
    fields = GOLDEN["cells"][name]
    return tuple(fields) if schema is None else (*fields[:3], schema, *fields[4:])


def _filled_schema(letters: int) -> str:
    return json.dumps({"type": "object", "description": "ä" * letters}, ensure_ascii=False)


def _repeated(cells: list[Any], column: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(cells[row % len(cells)] for row in range(column.get("rows", len(cells))))
