"""The columns that the answers of a table become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from knime_ext.errors import ConfigurationError

if TYPE_CHECKING:
    from knime_ext.agent.answer_format import AnswerFormat
    from knime_ext.agent.batch.row_answer import RowAnswer

__all__ = ["TRACE_TYPE", "OutputFields"]

_CALL = pa.struct([(name, pa.string()) for name in ("id", "name", "arguments")])

TRACE_TYPE = pa.list_(
    pa.struct(
        [
            ("role", pa.string()),
            ("content", pa.string()),
            ("tool_calls", pa.list_(_CALL)),
            ("tool_call_id", pa.string()),
            ("reasoning_content", pa.string()),
        ]
    )
)
"""A conversation in one cell; arguments are JSON."""

_FACTS = {
    "stop_reason": pa.string(),
    "turns": pa.int32(),
    "tool_calls": pa.int32(),
    "tokens": pa.int64(),
    "seconds": pa.float64(),
    "error": pa.string(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFields:
    """Which columns stand behind those of the table.

    Attributes:
        answer: Name of the answer column; the others begin with it and two underscores.
        traces: Whether there is a column of conversations.
        json_traces: Whether that holds JSON texts, for hosts whose tables have no lists of structs.
        form: The form of the answers; its values become columns of their own.
    """

    answer: str = "answer"
    traces: bool = True
    json_traces: bool = False
    form: AnswerFormat | None = None

    def fields(self, there: Sequence[str]) -> list[pa.Field]:
        """Names and types.

        Args:
            there: Names of the columns that the table has.

        Raises:
            ConfigurationError: The answer column has no name, or a name stands twice.
        """
        if not self.answer.strip():
            raise ConfigurationError("the answer column has no name; give it one.")
        columns = [(self.answer, pa.string()), *self._values()]
        if self.traces:
            columns.append((self._named("trace"), pa.string() if self.json_traces else TRACE_TYPE))
        columns += [(self._named(name), kind) for name, kind in _FACTS.items()]
        taken = set(there)
        for name, _ in columns:
            if name in taken:
                raise ConfigurationError(
                    f"there would be two columns {name!r}; choose another name for the answer column or its fields."
                )
            taken.add(name)
        return [pa.field(name, kind) for name, kind in columns]

    def arrays(self, answers: Sequence[RowAnswer]) -> list[pa.Array]:
        """The cells of the columns, for some rows."""
        fields = self.fields(())
        columns = [[answer.answer for answer in answers], *self._value_cells(answers)]
        if self.traces:
            columns.append([answer.trace_text() if self.json_traces else answer.messages() for answer in answers])
        columns += [[getattr(answer, name) for answer in answers] for name in _FACTS]
        return [pa.array(cells, field.type) for cells, field in zip(columns, fields, strict=True)]

    def _named(self, ending: str) -> str:
        return f"{self.answer}__{ending}"

    def _values(self) -> list[tuple[str, pa.DataType]]:
        if self.form is None:
            return []
        from knime_ext.agent.typed_answers import answer_columns

        return answer_columns(self.form)

    def _value_cells(self, answers: Sequence[RowAnswer]) -> list[list[Any]]:
        if self.form is None:
            return []
        from knime_ext.agent.typed_answers import answer_values

        rows = [answer_values(self.form, answer.structured) for answer in answers]
        return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in self._values()]
