"""Columns and schemas: what a table looks like before it exists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast, overload

from knime_ext.runtime.knext import ktypes
from knime_ext.runtime.knext.columnar import Columnar, ColumnarView, column_positions, materialised
from knime_ext.runtime.knext.ktypes import KnimeType
from knime_ext.runtime.knext.ports import PortObjectSpec

__all__ = ["Column", "Schema"]


class Column:
    """Name and type of a column.

    Args:
        ktype: KNIME type, or a Python class that cells can hold.
        name: Name of the column, not blank.
        metadata: Whatever is known about it beyond that.

    Raises:
        TypeError: The type is no column type, or the name is no text.
        ValueError: The name is blank.
    """

    ktype: KnimeType
    name: str
    metadata: Any

    def __init__(self, ktype: KnimeType | type, name: str, metadata: Any = None) -> None:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the name of a column must be a text, not {type(name).__name__}")
        if not name.strip():
            raise ValueError("the name of a column must not be blank")
        self.ktype = ktype if isinstance(ktype, KnimeType) else ktypes.logical(ktype)
        self.name = name
        self.metadata = metadata

    def __eq__(self, other: object) -> bool:
        other = materialised(other)
        return isinstance(other, Column) and (self.ktype, self.name, self.metadata) == (
            other.ktype,
            other.name,
            other.metadata,
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __str__(self) -> str:
        more = "" if self.metadata is None else f", {self.metadata}"
        return f"Column<{self.name!r}, {self.ktype}{more}>"

    __repr__ = __str__


def _columns_of(value: Any) -> list[Column]:
    value = materialised(value)
    if isinstance(value, Column):
        return [value]
    if not isinstance(value, Iterable):
        raise TypeError(f"expected columns or a schema, not {type(value).__name__}")
    columns = [materialised(column) for column in cast("Iterable[Any]", value)]
    for column in columns:
        if not isinstance(column, Column):
            raise TypeError(f"a schema is made of columns, not of {type(column).__name__}")
    return columns


def _as_ktype(ktype: object) -> KnimeType:
    return ktype if isinstance(ktype, KnimeType) else ktypes.logical(ktype)


class Schema(Columnar, PortObjectSpec):
    """The columns of a table.

    Slices (`schema["a"]`, `schema[["a", "b"]]`, `schema[:2]`) are lazy: a missing column raises IndexError when
    the slice is looked at.
    """

    def __init__(
        self, ktypes: Sequence[KnimeType | type], names: Sequence[str], metadata: Sequence[Any] | None = None
    ) -> None:
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError("the names of a schema must be a list of texts")
        metadata = [None] * len(ktypes) if metadata is None else metadata
        if not len(ktypes) == len(names) == len(metadata):
            raise ValueError(
                f"a schema needs one name and one metadata per type, "
                f"not {len(ktypes)} types, {len(names)} names and {len(metadata)} metadata"
            )
        self._columns = [
            Column(_as_ktype(ktype), name, about) for ktype, name, about in zip(ktypes, names, metadata, strict=True)
        ]

    @classmethod
    def from_columns(cls, columns: Sequence[Column] | Column) -> Schema:
        """A schema of one or more columns.

        Raises:
            TypeError: One of them is no column.
        """
        found = _columns_of(columns)
        return cls([c.ktype for c in found], [c.name for c in found], [c.metadata for c in found])

    @classmethod
    def from_types(
        cls, ktypes: Sequence[KnimeType | type], names: Sequence[str], metadata: Sequence[Any] | None = None
    ) -> Schema:
        """A schema from types and names side by side."""
        return cls(ktypes, names, metadata)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self._columns]

    @property
    def num_columns(self) -> int:
        """Number of columns."""
        return len(self._columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self._columns)

    def __contains__(self, key: object) -> bool:
        """Whether there is a column of that name; of a `Column`, only the name counts."""
        key = materialised(key)
        return (key.name if isinstance(key, Column) else key) in self.column_names

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, slicing: int | str) -> Column: ...
        @overload
        def __getitem__(self, slicing: slice | list[int] | list[str]) -> Schema: ...
        def __getitem__(self, slicing: Any) -> Any: ...
        def remove(self, slicing: str | int | list[str]) -> Schema: ...  # noqa: D102

    else:

        def __getitem__(self, slicing):
            if isinstance(slicing, int) and slicing >= self.num_columns:  # ends a loop over schema[0], schema[1], ...
                raise IndexError(f"the schema has no column at index {slicing}; it has {self.num_columns} columns")
            return ColumnarView(lambda: self._select(slicing), f"Schema[{slicing!r}]")

    def _select(self, selection: Any) -> Column | Schema:
        positions = column_positions(self.column_names, selection, "the schema", from_end=True)
        if isinstance(selection, (int, str)):
            return self._columns[positions[0]]
        return self.from_columns([self._columns[position] for position in positions])

    def append(self, other: Column | Schema | Sequence[Column]) -> Schema:
        """A schema with further columns at the end.

        Args:
            other: A column, several columns, or a schema.

        Raises:
            TypeError: `other` is something else; raised when the result is looked at.
        """
        return self.insert(other, self.num_columns)

    def insert(self, other: Column | Schema | Sequence[Column], at: int) -> Schema:
        """A schema with further columns before the one at index `at`."""

        def compute() -> Schema:
            columns = list(self._columns)
            columns[at:at] = _columns_of(other)
            return self.from_columns(columns)

        return cast("Schema", ColumnarView(compute, f"Schema.insert({other}, {at})"))

    def __eq__(self, other: object) -> bool:
        other = materialised(other)
        return isinstance(other, Schema) and self._columns == other._columns

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __str__(self) -> str:
        return f"Schema<{', '.join(map(str, self._columns))}>"

    __repr__ = __str__

    def serialize(self) -> dict[str, Any]:
        """The schema in the form in which KNIME exchanges it with Python.

        Raises:
            RuntimeError: Two columns have the same name.
        """
        from knime_ext.runtime.knext import schema_json

        return schema_json.to_json(self)

    @classmethod
    def deserialize(cls, data: dict[str, Any], java_callback: Any = None) -> Schema:
        """Reads what `serialize` wrote."""
        from knime_ext.runtime.knext import schema_json

        return schema_json.from_json(data)
