"""What came of calls, as columns of the output."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from knime_ext.agent.batch.row_calls import CallOutcome
from knime_ext.nodes.cells import binary_cells
from knime_ext.tools.result_columns import output_columns, typed_cells
from knime_ext.tools.tool_columns import json_text

__all__ = ["ResultTable"]


class ResultTable:
    """The columns of results, filled row by row.

    Args:
        schemas: What the tools say about their structured results.
        typed: Whether structured values become typed columns; else one column of JSON.
        prefix: What stands before the names of these columns.
    """

    def __init__(self, schemas: Sequence[Mapping[str, Any]], *, typed: bool, prefix: str = "") -> None:
        self._typed = typed
        self._prefix = prefix
        self._columns = output_columns(schemas) if typed else []
        self._cells: list[list[Any]] = [[] for _ in self._columns]
        self._texts: list[str | None] = []
        self._structured: list[str | None] = []
        self._media: list[list[tuple[bytes, str]]] = []
        self._errors: list[str | None] = []
        self.failed = 0
        self.odd = 0

    def add(self, number: int, outcome: CallOutcome) -> None:
        """Adds the next row."""
        assert number == len(self._texts)
        cells, odd = typed_cells(self._columns, outcome.structured)
        for column, cell in zip(self._cells, cells, strict=True):
            column.append(cell)
        self.failed += outcome.error is not None
        self.odd += odd is not None
        self._texts.append(outcome.text)
        # With typed columns only what has no place in them is kept as JSON.
        whole: Any = outcome.structured
        if self._columns and isinstance(whole, dict):
            whole = None
        self._structured.append(None if whole is None else json_text(whole))
        self._media.append([(base64.b64decode(data), kind) for data, kind in outcome.media])
        self._errors.append(outcome.error or odd)

    def texts(self) -> pa.Array:
        """The texts of the results."""
        return pa.array(self._texts, pa.utf8())

    def errors(self) -> pa.Array:
        """Why calls failed, and what is odd about results."""
        return pa.array(self._errors, pa.utf8())

    def columns(self) -> list[tuple[str, Any]]:
        """Everything else, by name."""
        structured = pa.array(self._structured, pa.utf8())
        if not self._typed:
            return [("Structured result", structured), *self._medium(0, "Media", "Media type")]
        columns = [
            (self._prefix + column.name, pa.array(cells, column.kind))
            for column, cells in zip(self._columns, self._cells, strict=True)
        ]
        if structured.null_count < len(structured):
            columns.append(("Structured result", structured))
        for place in range(max(map(len, self._media), default=0)):
            columns += self._medium(place, f"Media {place + 1}", f"Media type {place + 1}")
        return columns

    def _medium(self, place: int, data: str, kind: str) -> list[tuple[str, Any]]:
        cells = [media[place] if place < len(media) else (None, None) for media in self._media]
        return [
            (data, binary_cells([each for each, _ in cells])),
            (kind, pa.array([each for _, each in cells], pa.utf8())),
        ]
