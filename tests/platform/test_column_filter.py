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


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (["count", "名前"], ["名前", "count"]),
        ([], []),
        ({"manualFilter": {"manuallySelected": ["count"]}}, ["count"]),
        ({"manualFilter": {"manuallyDeselected": ["count"]}}, ["名前", "price"]),
        ({"mode": "WILDCARD", "patternFilter": {"pattern": "PRI*", "isCaseSensitive": False}}, ["price"]),
        ({"mode": "MANUAL", "selected": ["price"], "selected_Internals": []}, ["名前", "price", "count"]),
    ],
)
def test_a_choice_written_by_hand_may_be_short(
    output: Callable[..., pa.Table], choice: Any, expected: list[str]
) -> None:
    assert output("ColumnFilter", {"column_filter": choice}, TABLE).column_names == ["<RowID>", *expected]


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("price", "parameter 'column_filter': must be a list of column names, or an object with 'mode'"),
        ({"mode": "SOME"}, "the mode 'SOME' does not exist; choose one of MANUAL, REGEX, WILDCARD, TYPE"),
        ({"manual": {}}, "the column filter has no part 'manual'; did you mean 'manualFilter'?"),
        ({"manualFilter": ["a"]}, "'manualFilter' must be like {'manuallySelected': []"),
        ({"manualFilter": {"selected_": []}}, "the manualFilter has no part 'selected_'"),
        ({"manualFilter": {"manuallySelected": "a"}}, "'manuallySelected' must be like [], not 'a'"),
    ],
)
def test_a_choice_of_another_form_is_explained(failure: Callable[..., str], choice: Any, message: str) -> None:
    assert message in failure("ColumnFilter", {"column_filter": choice}, TABLE)


def test_rows_remain_even_without_columns(output: Callable[..., pa.Table]) -> None:
    many = pa.table({"a": range(100_000)})
    table = output("ColumnFilter", column_filter("MANUAL"), many)
    assert (table.num_rows, table.column_names) == (100_000, ["<RowID>"])
