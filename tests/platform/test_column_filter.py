from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

TABLE = pa.table({"<RowID>": ["x"], "名前": ["さくら"], "price": [1.5], "count": [3]})


def column_filter(mode: str, **parts: Any) -> dict[str, Any]:
    manual: dict[str, Any] = {"manuallySelected": [], "manuallyDeselected": [], "includeUnknownColumns": False}
    pattern = {"pattern": "", "isCaseSensitive": True, "isInverted": False}
    tree: dict[str, Any] = {"mode": mode, "manualFilter": manual, "patternFilter": pattern}
    tree["typeFilter"] = {"selectedTypes": [], "typeDisplays": []}
    for part, values in parts.items():
        tree[part] = {**tree[part], **values}
    return {"column_filter": tree}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["名前", "price", "count"]),
        (column_filter("MANUAL", manualFilter={"manuallySelected": ["count", "名前"]}), ["名前", "count"]),
        (column_filter("MANUAL", manualFilter={"manuallySelected": ["gone"]}), []),
        (
            column_filter("MANUAL", manualFilter={"manuallyDeselected": ["price"], "includeUnknownColumns": True}),
            ["名前", "count"],
        ),
        (column_filter("REGEX", patternFilter={"pattern": "c[ou]"}), ["count"]),
        (column_filter("WILDCARD", patternFilter={"pattern": "p*", "isInverted": True}), ["名前", "count"]),
    ],
)
def test_the_chosen_columns_remain_in_their_order_with_all_rows(
    output: Callable[..., pa.Table], settings: dict[str, Any], expected: list[str]
) -> None:
    table = output("ColumnFilter", settings, TABLE)
    assert table.column_names == ["<RowID>", *expected]
    assert table.column(0).to_pylist() == ["x"]


def test_rows_remain_even_without_columns(output: Callable[..., pa.Table]) -> None:
    many = pa.table({"a": range(100_000)})
    table = output("ColumnFilter", column_filter("MANUAL"), many)
    assert (table.num_rows, table.column_names) == (100_000, ["<RowID>"])
