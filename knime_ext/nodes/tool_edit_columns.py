"""Which columns hold edits of tools, and the edits in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import knime.extension as knext

from knime_ext.nodes.columns import chosen_column, holds_booleans, holds_text

if TYPE_CHECKING:
    from knime_ext.tools.tool_edits import ToolEdit

__all__ = ["EditColumns", "edits_in"]

_TEXTS = {"name": "Name", "description": "Description", "parameters": "Parameters"}
"""Parts of a tool and the columns of the Tool Explorer that hold them."""

Chosen = Mapping[str, tuple[str | None, Callable[[knext.Column], bool]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditColumns:
    """Names of columns.

    Attributes:
        tool: The tools.
        texts: By the part of an edit that they hold.
        hints: By the Tool Explorer's name of the hint.
    """

    tool: str
    texts: Mapping[str, str]
    hints: Mapping[str, str]

    @classmethod
    def find(cls, schema: knext.Schema, tool: str, chosen: Chosen, *, explorer: bool) -> EditColumns:
        """The columns that are there.

        Args:
            schema: Columns of the table.
            tool: Column of the tools.
            chosen: Part of an edit to the column that was selected for it, and what the column must hold.
            explorer: Whether the Tool Explorer's columns are taken as far as the table has them.

        Raises:
            knext.InvalidParametersError: A selected column does not fit, or there is no edit at all.
        """
        from knime_ext.tools.tool_columns import HINTS

        found = {
            part: _selected(schema, column, holds)
            for part, (column, holds) in chosen.items()
            if column not in (None, "", knext.ColumnParameter.NONE)
        }
        if explorer:
            _check_unnumbered(schema, [*_TEXTS.values(), *HINTS])
            found |= {part: name for part, name in _TEXTS.items() if _has(schema, name, holds_text)}
            found |= {name: name for name in HINTS if _has(schema, name, holds_booleans)}
        if not found:
            raise knext.InvalidParametersError(
                "No column says what is to be changed; put a Tool Explorer before this node, or select columns in the "
                "dialog."
            )
        hints = {part: column for part, column in found.items() if part in HINTS}
        return cls(tool=tool, texts={part: each for part, each in found.items() if part not in hints}, hints=hints)


def _selected(schema: knext.Schema, column: str | None, holds: Callable[[knext.Column], bool]) -> str:
    what = "texts" if holds is holds_text else "booleans"
    return chosen_column(schema, column, holds, what=what, table="table")


def _check_unnumbered(schema: knext.Schema, names: Iterable[str]) -> None:
    """Makes sure that a column of the Tool Explorer's name is the Tool Explorer's."""
    numbered = next((f"{name} (#1)" for name in names if f"{name} (#1)" in schema.column_names), None)
    if numbered is not None:
        raise knext.InvalidParametersError(
            f"The table has a column {numbered!r}: it had a column of that name before the Tool Explorer. Turn off "
            "'Columns of the Tool Explorer' in the dialog and select the columns with the edits."
        )


def _has(schema: knext.Schema, name: str, holds: Callable[[knext.Column], bool]) -> bool:
    return any(column.name == name and holds(column) for column in schema)


def edits_in(table: knext.Table, columns: EditColumns) -> list[ToolEdit]:
    """The edits, one per row."""
    from knime_ext.tools.tool_columns import HINTS
    from knime_ext.tools.tool_edits import ToolEdit

    arrow = table.to_pyarrow()
    cells: dict[str, list[Any]] = {part: arrow.column(name).to_pylist() for part, name in columns.texts.items()}
    hints = [(HINTS[hint], arrow.column(name).to_pylist()) for hint, name in columns.hints.items()]
    return [
        ToolEdit(
            **{part: texts[row] for part, texts in cells.items()},
            hints={hint: flags[row] for hint, flags in hints},
        )
        for row in range(arrow.num_rows)
    ]
