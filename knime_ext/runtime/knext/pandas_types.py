"""Logical columns in pandas: an extension dtype whose values are the Python objects themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa

from knime_ext.runtime.knext.arrow_types import LogicalExtensionType
from knime_ext.runtime.knext.ktypes import LogicalType

try:
    from pandas.api.extensions import ExtensionArray, ExtensionDtype, take
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "pandas is not installed; install it with: pip install 'knime-mcp[pandas]'", name="pandas"
    ) from error

__all__ = ["LogicalArray", "LogicalDtype"]


class LogicalDtype(ExtensionDtype):
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
    def construct_array_type(cls) -> type[LogicalArray]:
        """The class of its arrays."""
        return LogicalArray

    @classmethod
    def construct_from_string(cls, string: str) -> LogicalDtype:
        """Not possible; pandas asks for it.

        Raises:
            TypeError: Always.
        """
        raise TypeError(f"{string!r} does not name a logical dtype; use knext.logical(T).to_pandas()")

    def __from_arrow__(self, array: Any) -> LogicalArray:
        factory = self.logical_type.value_factory
        storage = [chunk.storage for chunk in (array.chunks if isinstance(array, pa.ChunkedArray) else [array])]
        return LogicalArray([factory.decode(cell) for chunk in storage for cell in chunk.to_pylist()], self)


def _objects(values: Sequence[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):  # element by element: numpy must not look into lists and dicts
        array[i] = None if _is_missing(value) else value
    return array


def _is_missing(value: Any) -> bool:
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


class LogicalArray(ExtensionArray):
    """Python objects of one logical type; missing ones are None."""

    def __init__(self, values: Sequence[Any], dtype: LogicalDtype) -> None:
        self._values = _objects(values)
        self._dtype = dtype

    @classmethod
    def _from_sequence(cls, scalars: Any, *, dtype: Any = None, copy: bool = False) -> LogicalArray:
        if isinstance(scalars, LogicalArray):
            return cls(scalars._values, dtype or scalars._dtype)
        if isinstance(scalars, (pa.Array, pa.ChunkedArray)):
            return cast("LogicalDtype", dtype).__from_arrow__(scalars)
        return cls(list(scalars), dtype)

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
    def dtype(self) -> LogicalDtype:
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
        return LogicalArray(picked, self._dtype) if isinstance(picked, np.ndarray) else picked

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, (LogicalArray, list)):
            value = _objects(cast("Sequence[Any]", value))
        else:
            value = None if _is_missing(value) else value
        self._values[key] = value

    def __eq__(self, other: object) -> Any:
        others: Any = other if isinstance(other, (LogicalArray, list, np.ndarray)) else [other] * len(self)
        return np.array([a == b for a, b in zip(self._values, others, strict=True)], dtype=bool)

    def isna(self) -> Any:
        """Which values are missing."""
        return np.array([value is None for value in self._values], dtype=bool)

    def take(self, indices: Any, *, allow_fill: bool = False, fill_value: Any = None) -> LogicalArray:
        """The values at these indices; -1 is missing if `allow_fill`."""
        fill_value = None if _is_missing(fill_value) else fill_value
        return LogicalArray(take(self._values, indices, fill_value=fill_value, allow_fill=allow_fill), self._dtype)

    def copy(self) -> LogicalArray:
        """A copy that holds the same objects."""
        return LogicalArray(self._values, self._dtype)

    @classmethod
    def _concat_same_type(cls, to_concat: Sequence[LogicalArray]) -> LogicalArray:
        return cls([value for array in to_concat for value in array._values], to_concat[0]._dtype)

    def _formatter(self, boxed: bool = False) -> Any:
        return str
