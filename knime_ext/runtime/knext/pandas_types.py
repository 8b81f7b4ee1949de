"""Logical columns in pandas: an extension dtype whose values are the Python objects themselves.

pandas has no complete types, so this file answers to it with `Any` where a signature is pandas' own.
"""

# pandas declares as properties what its own documentation sets as class attributes.
# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
import pyarrow as pa

from knime_ext.runtime.knext.arrow_types import LogicalExtensionType
from knime_ext.runtime.knext.ktypes import LogicalType

try:
    from pandas.api import extensions
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "pandas is not installed; install it with: pip install 'knime-mcp[pandas]'", name="pandas"
    ) from error

__all__ = ["LogicalArray", "LogicalDtype"]


class LogicalDtype(extensions.ExtensionDtype):
    """The dtype of a column of Python objects of one logical type."""

    type = object
    kind = "O"
    na_value = None
    _metadata = ("logical_type",)

    def __init__(self, logical_type: LogicalType) -> None:
        self.logical_type = logical_type

    @property
    def name(self) -> str:
        """Name of the dtype."""
        return f"knime[{self.logical_type}]"

    @classmethod
    def construct_array_type(cls) -> Any:
        """The class of its arrays."""
        return LogicalArray

    @classmethod
    def construct_from_string(cls, string: str) -> Any:
        """Not possible; pandas asks for it.

        Raises:
            TypeError: Always.
        """
        raise TypeError(f"{string!r} does not name a logical dtype; use knext.logical(T).to_pandas()")

    def __from_arrow__(self, array: Any) -> LogicalArray:
        decode = self.logical_type.value_factory.decode
        chunks: list[Any] = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
        return LogicalArray([decode(cell) for chunk in chunks for cell in chunk.storage.to_pylist()], self)


def _is_missing(value: Any) -> bool:
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _objects(values: Iterable[Any]) -> Any:
    elements = list(values)
    array: Any = np.empty(len(elements), dtype=object)
    for i, value in enumerate(elements):  # one by one, because numpy would look into lists
        array[i] = None if _is_missing(value) else value
    return array


class LogicalArray(extensions.ExtensionArray):
    """Python objects of one logical type; missing ones are None."""

    def __init__(self, values: Iterable[Any], dtype: LogicalDtype) -> None:
        self._values: Any = _objects(values)
        self._dtype = dtype

    @classmethod
    def _from_sequence(cls, scalars: Any, *, dtype: Any = None, copy: bool = False) -> LogicalArray:
        if isinstance(scalars, (pa.Array, pa.ChunkedArray)):
            return dtype.__from_arrow__(scalars)
        return cls(scalars, scalars.dtype if dtype is None else dtype)

    @classmethod
    def _from_factorized(cls, values: Any, original: LogicalArray) -> LogicalArray:
        return cls(values, original._dtype)

    def __arrow_array__(self, type: Any = None) -> Any:
        """Encodes the values into an Arrow extension array."""
        logical = self._dtype.logical_type
        target = cast("LogicalExtensionType", logical.to_pyarrow())
        encode = logical.value_factory.encode
        storage = pa.array([None if value is None else encode(value) for value in self._values], target.storage_type)
        return pa.ExtensionArray.from_storage(target, storage)

    @property
    def dtype(self) -> Any:
        """Dtype of the array."""
        return self._dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the references; the objects are not counted."""
        return int(self._values.nbytes)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, item: Any) -> Any:
        picked = self._values[item]
        return LogicalArray(cast("Any", picked), self._dtype) if isinstance(picked, np.ndarray) else picked

    def __setitem__(self, key: Any, value: Any) -> None:
        many = isinstance(value, (LogicalArray, list))
        self._values[key] = _objects(cast("list[Any]", value)) if many else _objects([value])[0]

    def __eq__(self, other: object) -> Any:
        many = isinstance(other, (LogicalArray, list, np.ndarray))
        others = cast("Any", other) if many else [other] * len(self)
        return np.array([a == b for a, b in zip(self._values, others, strict=True)], dtype=bool)

    def isna(self) -> Any:
        """Which values are missing."""
        return np.array([value is None for value in self._values], dtype=bool)

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> LogicalArray:
        """The values at these indices; -1 is missing if `allow_fill`."""
        fill = None if _is_missing(fill_value) else fill_value
        take = cast("Any", extensions.take)  # pyright: ignore[reportUnknownMemberType]
        taken = take(self._values, indices, fill_value=fill, allow_fill=allow_fill)
        return LogicalArray(taken, self._dtype)

    def copy(self) -> LogicalArray:
        """A copy that holds the same objects."""
        return LogicalArray(self._values, self._dtype)

    @classmethod
    def _concat_same_type(cls, to_concat: Any) -> LogicalArray:
        return cls([value for array in to_concat for value in array._values], to_concat[0].dtype)

    def _formatter(self, boxed: bool = False) -> Any:
        return str
