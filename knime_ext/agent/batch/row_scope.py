"""What belongs to one row although all rows share the same tools: its tables and its long results.

Tools and their definitions are made once for a whole table. Where a tool keeps something for a later call, it is kept
here, by the row whose work the running task is.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from langchain_core.tools import BaseTool

from knime.types.tool import Tool
from knime_ext.agent.data import DataItem, DataRepository, DataTable
from knime_ext.agent.dispatch import ToolContext
from knime_ext.agent.langchain_tools import RowTool, to_langchain_tools
from knime_ext.tools import ResultShelf
from knime_ext.tools.shortening import MemoryShelf

__all__ = ["RowData", "row_scope", "row_tools"]


@dataclass(slots=True)
class _RowScope:
    data: DataRepository = field(default_factory=DataRepository)
    shelf: ResultShelf = field(default_factory=MemoryShelf)
    has_shelved: bool = False


_scope: ContextVar[_RowScope] = ContextVar("scope of the row")


@contextmanager
def row_scope() -> Generator[None]:
    """Everything that tools keep in the block is for this row alone, and gone afterwards."""
    token = _scope.set(_RowScope())
    try:
        yield
    finally:
        _scope.reset(token)


class RowData(DataRepository):
    """The tables of whichever row is being worked on."""

    def __len__(self) -> int:
        return len(_scope.get().data)

    @property
    def items(self) -> tuple[DataItem, ...]:
        """All items of the row, ordered by id."""
        return _scope.get().data.items

    def reserve(self, count: int) -> tuple[str, ...]:
        """Takes the row's next ids."""
        return _scope.get().data.reserve(count)

    def add(self, name: str, description: str, table: DataTable, *, reserved: str | None = None) -> DataItem:
        """Puts a table in for the row."""
        return _scope.get().data.add(name, description, table, reserved=reserved)

    def item(self, identifier: str | int) -> DataItem:
        """The row's item with an id."""
        return _scope.get().data.item(identifier)

    def summary(self) -> str:
        """All items of the row for a model."""
        return _scope.get().data.summary()


class _RowShelf:
    """The long results of whichever row is being worked on."""

    def put(self, text: str) -> str:
        scope = _scope.get()
        scope.has_shelved = True
        return scope.shelf.put(text)

    def size(self, handle: str) -> int | None:
        return _scope.get().shelf.size(handle)

    def read(self, handle: str, offset: int, count: int) -> str:
        return _scope.get().shelf.read(handle, offset, count)


def _has_shelved() -> bool:
    return _scope.get().has_shelved


def row_tools(
    tools: Sequence[Tool],
    context: ToolContext,
    *,
    data: RowData,
    simple_types_only: bool = False,
    execution_hints: Mapping[str, str] | None = None,
    **options: Any,
) -> list[BaseTool]:
    """`to_langchain_tools` for many runs side by side that share the tools but nothing that tools keep.

    Args:
        tools: Rows of a tool column.
        context: The host's execution context.
        data: The repository that is handed to the agent as well.
        simple_types_only: As in `to_langchain_tools`.
        execution_hints: As in `to_langchain_tools`.
        **options: Further ones of `to_langchain_tools`.
    """
    made = to_langchain_tools(
        tools,
        context,
        data=data,
        simple_types_only=simple_types_only,
        execution_hints=execution_hints,
        shelf=_RowShelf(),
        **options,
    )
    # Whether there is something to read on in differs from row to row.
    return [
        tool.model_copy(update={"is_of_use": _has_shelved})
        if isinstance(tool, RowTool) and tool.is_of_use is not None
        else tool
        for tool in made
    ]
