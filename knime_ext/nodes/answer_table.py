"""The answer of an agent as a table of one row: its text, its values in columns, and what it has cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import knime.extension as knext

from knime_ext.nodes.appended_columns import free_names

if TYPE_CHECKING:
    import pyarrow as pa

    from knime_ext.agent import AgentRun, AnswerFormat

__all__ = ["answer_schema", "answer_table"]

_ANSWER = "Answer"
_FACTS = ("Stop reason", "Turns", "Tool calls", "Tokens", "Time (seconds)", "Error")


def _columns(form: AnswerFormat | None) -> dict[str, pa.DataType]:
    import pyarrow as pa

    from knime_ext.agent import answer_columns

    values = [] if form is None else answer_columns(form)
    text, whole = pa.utf8(), pa.int64()
    names = [name for name, _ in values]
    # What a person called a column is called so; ours yield.
    answer, *facts = free_names(names, [_ANSWER, *_FACTS])
    kinds = [text, whole, whole, whole, pa.float64(), text]
    return {answer: text, **dict(values), **dict(zip(facts, kinds, strict=True))}


def answer_schema(form: AnswerFormat | None) -> knext.Schema:
    """The columns of the table.

    Args:
        form: The form of the answer; None for any text.
    """
    return knext.Schema.from_columns([knext.Column(_type(kind), name) for name, kind in _columns(form).items()])


def _type(kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_list(kind):
        return knext.list_(_type(kind.value_type))
    kinds = {"string": knext.string(), "bool": knext.bool_(), "int64": knext.int64(), "double": knext.double()}
    return kinds[str(kind)]


def answer_table(run: AgentRun, form: AnswerFormat | None) -> knext.Table:
    """The one row.

    Args:
        run: What came of the run; without an answer, the cells of the answer are missing.
        form: The form of the answer; None for any text.
    """
    import pyarrow as pa

    from knime_ext.agent import answer_values

    facts = [
        run.stop_reason,
        run.turns,
        run.tool_calls,
        run.trace.tokens.total,
        run.trace.seconds,
        None if run.error is None else str(run.error),
    ]
    values = [] if form is None else answer_values(form, run.structured)
    cells = [run.answer if run.error is None else None, *values, *facts]
    columns = _columns(form)
    return knext.Table.from_pyarrow(
        pa.table({name: pa.array([cell], columns[name]) for name, cell in zip(columns, cells, strict=True)})
    )
