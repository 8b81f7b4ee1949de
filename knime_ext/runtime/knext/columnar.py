"""Lazy slices of schemas and tables: `schema["a"]`, `table[["a", "b"]]`, `table[:, :10]`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, cast

__all__ = ["Columnar", "ColumnarView", "column_positions", "materialised"]


def _position(names: list[str], key: object, owner: str, first: int = 0) -> int:
    if isinstance(key, str):
        if key not in names:
            raise IndexError(f"{owner} has no column {key!r}; it has {names}")
        return names.index(key)
    if isinstance(key, int):
        if not first <= key < len(names):
            raise IndexError(f"{owner} has no column at index {key}; it has {len(names)} columns")
        return key % len(names)
    raise IndexError(f"a column is picked by name or index, not by {type(key).__name__}")


def column_positions(names: list[str], selection: object, owner: str, *, from_end: bool = False) -> list[int]:
    """Positions of the selected columns.

    Args:
        names: Names of all columns.
        selection: Name, index, slice, or list of names and indices.
        owner: What the columns belong to, for the error.
        from_end: Whether a single negative index counts from the end.

    Raises:
        IndexError: There is no such column.
        TypeError: The selection is of another kind.
    """
    if isinstance(selection, (str, int)):
        return [_position(names, selection, owner, -len(names) if from_end else 0)]
    if isinstance(selection, slice):
        return list(range(*selection.indices(len(names))))
    if isinstance(selection, list):
        return [_position(names, key, owner) for key in cast("list[object]", selection)]
    raise TypeError(
        f"columns of {owner} are picked by name, index, slice or a list of names or indices, "
        f"not by {type(selection).__name__}"
    )


class Columnar(ABC):
    """Something with columns that can be sliced: a schema or a table."""

    @property
    @abstractmethod
    def num_columns(self) -> int:
        """Number of columns."""

    @property
    @abstractmethod
    def column_names(self) -> list[str]:
        """Names of the columns."""

    def get(self) -> Any:
        """This object itself; slices answer with what they stand for."""
        return self

    def remove(self, slicing: str | int | list[str]) -> Any:
        """A slice without some columns.

        Args:
            slicing: Name, index, or list of names.

        Raises:
            ValueError: A named column does not exist.
            IndexError: There is no column at that index.
        """
        names = self.column_names
        if isinstance(slicing, int):
            if not 0 <= slicing < len(names):
                raise IndexError(f"there is no column at index {slicing}; there are {len(names)} columns")
            return self[names[:slicing] + names[slicing + 1 :]]
        if not isinstance(slicing, (str, list)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"columns are removed by name, index or a list of names, not by {type(slicing).__name__}")
        unwanted = [slicing] if isinstance(slicing, str) else slicing
        missing = [name for name in unwanted if name not in names]
        if missing:
            raise ValueError(f"there is no column {missing[0]!r} to remove; there are {names}")
        return self[[name for name in names if name not in unwanted]]

    @abstractmethod
    def __getitem__(self, slicing: Any) -> Any: ...


class ColumnarView(Columnar):
    """A slice that is computed when it is first looked at; it answers like what it stands for."""

    def __init__(self, compute: Callable[[], Any], title: str) -> None:
        self._compute = compute
        self._title = title
        self._result: Any = None

    def get(self) -> Any:
        """What the slice stands for: a schema, a table or a column.

        Raises:
            IndexError: A selected column does not exist.
        """
        if self._result is None:
            self._result = self._compute()
        return self._result

    @property
    def num_columns(self) -> int:
        """Number of columns."""
        return self.get().num_columns

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return self.get().column_names

    def __getitem__(self, slicing: Any) -> Any:
        return self.get()[slicing]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copy and pickle probe for these before the slice is complete
            raise AttributeError(name)
        return getattr(self.get(), name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get())

    def __contains__(self, key: object) -> bool:
        return key in self.get()

    def __eq__(self, other: object) -> bool:
        return self.get() == materialised(other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __str__(self) -> str:
        return self._title

    __repr__ = __str__


def materialised(value: Any) -> Any:
    """What a slice stands for; anything else as it is."""
    return value.get() if isinstance(value, ColumnarView) else value
