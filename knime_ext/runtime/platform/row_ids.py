"""Row ids: numbering them and keeping them unique."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from knime_ext.errors import ConfigurationError

__all__ = ["joined_row_ids", "numbered_row_ids", "suffixed_row_ids"]


def numbered_row_ids(count: int) -> pa.Array:
    """`Row0`, `Row1`, ... as KNIME numbers the rows of a new table."""
    numbers = pc.cast(pa.array(range(count), pa.int64()), pa.string())
    return pc.binary_join_element_wise(pa.scalar("Row"), numbers, "")


def suffixed_row_ids(ids: pa.ChunkedArray, suffix: str) -> pa.Array:
    """The same ids, where a repeated one gets the suffix as often as it takes to be unique.

    Raises:
        ConfigurationError: The suffix is empty.
    """
    if not suffix:
        raise ConfigurationError("the suffix for repeated RowIDs is empty: give one, such as '_dup'")
    taken: set[str] = set()
    unique: list[str] = []
    for original in ids.to_pylist():
        fresh: str = original
        while fresh in taken:
            fresh += suffix
        taken.add(fresh)
        unique.append(fresh)
    return pa.array(unique, pa.string())


def joined_row_ids(left: pa.ChunkedArray, right: pa.ChunkedArray, separator: str) -> pa.Array:
    """Pairs of ids as one id each; a missing partner is shown as "?"."""
    pairs: Any = pc.binary_join_element_wise(pc.fill_null(left, "?"), pc.fill_null(right, "?"), separator)
    if pc.count_distinct(pairs).as_py() == len(pairs):
        return pairs.combine_chunks() if isinstance(pairs, pa.ChunkedArray) else pairs
    return suffixed_row_ids(pairs, "_dup")
