"""Table Creator: columns and JSON rows of ours, KNIME's lists of cells with row and column numbers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from knime_ext.runtime.knime_workflow.cell_types import cell_type_of, data_type, parsed_cell
from knime_ext.runtime.knime_workflow.config import ARRAY_SIZE, Config, boolean, integer, text, texts
from knime_ext.runtime.knime_workflow.rows import Settings, Unsupported

__all__ = ["read_cells", "read_cells_by_column", "write_cells"]

_NO_PATTERN = ""  # KNIME takes a cell that is not listed for this text


def write_cells(settings: Settings, model: Config) -> None:
    """Puts columns and cells; rows that are no table leave the table empty."""
    columns: list[dict[str, Any]] = settings["columns"]
    rows = _rows(settings["rows"], [column["name"] for column in columns])
    patterns = [_missing_pattern([row[at] for row in rows]) for at in range(len(columns))]
    cells = list(_listed(rows, patterns))
    model["rowIndices"] = _integers([row for row, _, _ in cells])
    model["columnIndices"] = _integers([column for _, column, _ in cells])
    model["values"] = texts([written for _, _, written in cells])
    model["columnProperties"] = Config(
        {
            str(at): Config(
                UserSetValues=boolean(True),
                MissValuePattern=text(patterns[at]),
                FormatParameter=text(None),
                ReadPossValsFromFile=boolean(False),
                SkipThisColumn=boolean(False),
                ColumnName=text(column["name"]),
                ColumnClass=data_type(column["type"]),
            )
            for at, column in enumerate(columns)
        }
    )


def _integers(values: list[int]) -> Config:
    return Config({ARRAY_SIZE: integer(len(values)), **{str(at): integer(value) for at, value in enumerate(values)}})


def _rows(written: str, names: list[str]) -> list[list[Any]]:
    """The cells of every row; nothing if the text is no table of these columns, which the node says when it runs."""
    try:
        parsed: Any = json.loads(written) if written.strip() else []
    except (ValueError, RecursionError):
        return []
    rows = [_row(row, names) for row in cast("list[Any]", parsed)] if isinstance(parsed, list) else []
    return rows if all(len(row) == len(names) for row in rows) else []


def _row(row: Any, names: list[str]) -> list[Any]:
    if isinstance(row, Mapping):
        return [cast("Mapping[str, Any]", row).get(name) for name in names]
    return list(cast("list[Any]", row)) if isinstance(row, list) else []


def _missing_pattern(cells: list[Any]) -> str:
    """The text that stands for a missing cell in a column: "", unless that is a text of the column."""
    written, pattern = {_written(cell) for cell in cells if cell is not None}, _NO_PATTERN
    if pattern in written:
        pattern = "?"
        while pattern in written:
            pattern += "?"
    return pattern


def _written(cell: Any) -> str:
    return cell if isinstance(cell, str) else json.dumps(cell)


def _listed(rows: list[list[Any]], patterns: list[str]) -> Iterator[tuple[int, int, str]]:
    """The cells that KNIME must list, in its order; the last row is among them, because it tells how many there are."""
    for number, row in enumerate(rows):
        for at, cell in enumerate(row):
            is_last = number == len(rows) - 1 and at == 0
            if cell is not None or patterns[at] != _NO_PATTERN or is_last:
                yield number, at, patterns[at] if cell is None else _written(cell)


def _column(name: str, config: Config) -> dict[str, str]:
    cell_type = cell_type_of(config)
    if cell_type is None:
        raise Unsupported(f"has the column {name!r} of the type {config.string('cell_class')!r}")
    return {"name": name, "type": cell_type}


def _cell(written: str | None, column: Mapping[str, str], missing: str | None) -> Any:
    if written is None or written == missing:
        return None
    try:
        return parsed_cell(written, column["type"])
    except ValueError:
        raise Unsupported(
            f"has the cell {written!r} in the column {column['name']!r}, whose type is {column['type']}"
        ) from None


def _result(columns: list[dict[str, str]], rows: list[list[Any]]) -> dict[str, Any]:
    return {"columns": columns, "rows": json.dumps(rows, ensure_ascii=False)}


def read_cells(model: Config) -> dict[str, Any]:
    """Columns and rows of the node that lists its cells."""
    properties = [content for _, content in sorted(model.below("columnProperties").configs(), key=_number)]
    used = [at for at, each in enumerate(properties) if not each.value("SkipThisColumn", False)]
    columns = [_column(properties[at].string("ColumnName"), properties[at].below("ColumnClass")) for at in used]
    listed = dict(
        zip(
            zip(model.array("rowIndices"), model.array("columnIndices"), strict=False),
            model.array("values"),
            strict=False,
        )
    )
    missing = [properties[at].value("MissValuePattern") for at in used]
    rows = [
        [
            _cell(listed.get((number, at), _NO_PATTERN), column, pattern)
            for at, column, pattern in zip(used, columns, missing, strict=True)
        ]
        for number in range(max((row for row, _ in listed), default=-1) + 1)
    ]
    return _result(columns, rows)


def _number(item: tuple[str, Config]) -> int:
    return int(item[0])


def read_cells_by_column(model: Config) -> dict[str, Any]:
    """Columns and rows of the node that keeps its cells column by column (KNIME 5.11 and later)."""
    configs = [content for content in model.below("columns").numbered() if isinstance(content, Config)]
    columns = [_column(config.string("name"), config.below("type")) for config in configs]
    cells = [config.array("values") for config in configs]
    rows = [
        [
            _cell(column_cells[number] if number < len(column_cells) else None, column, None)
            for column, column_cells in zip(columns, cells, strict=True)
        ]
        for number in range(int(model.value("numRows", 0)))
    ]
    return _result(columns, rows)
