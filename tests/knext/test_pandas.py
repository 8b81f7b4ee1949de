"""Tables and data frames."""

from __future__ import annotations

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import datetime as dt
import subprocess
import sys
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime.types.tool import MCPTool, Tool, WorkflowTool
from knime_ext.runtime import knext
from knime_ext.runtime.knext.pandas_types import LogicalArray

ROW_ID = "<RowID>"
ECHO = MCPTool("echo", "Says it again.", {"type": "object"}, server_uri="http://localhost/mcp")
RANK = WorkflowTool("rank", "Ranks.", {}, 0, [], [], "v1:key:0:name:-1")


def tools(*values: Tool | None) -> Any:
    return pd.Series(values, dtype=knext.logical(Tool).to_pandas())


def ids(frame: Any, **kwargs: Any) -> list[str]:
    return knext.Table.from_pandas(frame, **kwargs).to_pyarrow()[ROW_ID].to_pylist()


def test_row_ids_come_from_the_index() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=[4, 9])
    assert ids(frame) == ["Row4", "Row9"]
    assert ids(frame, row_ids="keep") == ["4", "9"]
    assert ids(frame, row_ids="generate") == ["Row0", "Row1"]
    assert ids(pd.DataFrame({"a": [1, 2]}, index=["p", "q"])) == ["p", "q"]
    assert ids(pd.DataFrame({"a": [1, 2]}, index=[0.5, 1.5])) == ["0.5", "1.5"]


def test_the_index_of_a_frame_is_the_row_ids() -> None:
    frame = knext.Table.from_pyarrow(pa.table({"a": [1, 2]})).to_pandas()
    assert (frame.index.name, frame.index.tolist(), list(frame.columns)) == (ROW_ID, ["Row0", "Row1"], ["a"])


def test_missing_numbers_become_floating_point_without_a_sentinel() -> None:
    table = knext.Table.from_pyarrow(pa.table({"a": [1, None], "b": ["x", None]}))
    assert str(table.to_pandas()["a"].dtype) == "float64"
    assert table.to_pandas(sentinel=-1)["a"].tolist() == [1, -1]
    assert table["a"].to_pandas("max")["a"].tolist() == [1, 2**63 - 1]
    assert table.to_pandas()["b"].isna().tolist() == [False, True]
    assert isinstance(table.to_pandas()["b"].dtype, pd.StringDtype)


def test_a_frame_of_plain_columns_survives() -> None:
    frame = pd.DataFrame(
        {
            "i": [1, 2],
            "d": [0.5, None],
            "s": ["x", None],
            "b": [True, False],
            "l": [["a"], []],
            "t": pd.to_datetime(["2024-01-01", None]),
            "day": [dt.date(2024, 1, 1), None],
            "I": pd.Series([1, None], dtype="Int64"),
            "c": pd.Series(["u", "v"], dtype="category"),
        }
    )
    table = knext.Table.from_pandas(frame)
    assert [str(column.ktype) for column in table.schema] == [
        "Number (Long Integer)",
        "Number (Float)",
        "String",
        "Boolean",
        "List (Collection of: String)",
        "Local Date Time",
        "Local Date",
        "Number (Long Integer)",
        "String",
    ]
    assert table.to_pyarrow().to_pylist()[1] == {
        ROW_ID: "Row1",
        "i": 2,
        "d": None,
        "s": None,
        "b": False,
        "l": [],
        "t": None,
        "day": None,
        "I": None,
        "c": "v",
    }


def test_empty_frames() -> None:
    assert knext.Table.from_pandas(pd.DataFrame()).shape == (0, 0)
    empty = knext.Table.from_pandas(pd.DataFrame({"a": pd.Series([], dtype="int64")}))
    assert (empty.shape, str(empty.schema["a"].ktype)) == ((1, 0), "Number (Long Integer)")


def test_names_of_columns_become_texts() -> None:
    assert knext.Table.from_pandas(pd.DataFrame({0: [1]})).column_names == ["0"]


@pytest.mark.parametrize("values", [[1, "x"], [{"x": 1}], [object()]])
def test_objects_that_cells_cannot_hold_are_refused(values: list[Any]) -> None:
    with pytest.raises(TypeError, match="column 'a' .* cannot hold"):
        knext.Table.from_pandas(pd.DataFrame({"a": values}))


def test_other_data_is_refused() -> None:
    with pytest.raises(ValueError, match=r"takes a pandas\.DataFrame, not dict"):
        knext.Table.from_pandas({"a": [1]})  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="not 'always'"):
        knext.Table.from_pandas(pd.DataFrame({"a": [1]}), row_ids="always")


def test_tools_go_into_a_column_by_their_dtype() -> None:
    table = knext.Table.from_pandas(pd.DataFrame({"t": tools(ECHO, None, RANK), "n": [1, 2, 3]}))
    assert table.schema["t"].ktype == knext.logical(Tool)
    back = table.to_pandas()["t"]
    assert back.tolist() == [ECHO, None, RANK]
    assert back.isna().tolist() == [False, True, False]
    assert back.iloc[0] == ECHO


@pytest.mark.parametrize("values", [[], [None, None]])
def test_a_dtype_works_without_a_single_value(values: list[None]) -> None:
    table = knext.Table.from_pandas(pd.DataFrame({"t": tools(*values)}))
    assert table.schema["t"].ktype == knext.logical(Tool)
    assert table.to_pandas()["t"].tolist() == values


def test_objects_without_a_dtype_take_that_of_the_first_one() -> None:
    table = knext.Table.from_pandas(pd.DataFrame({"t": [None, ECHO, RANK]}))
    assert table.schema["t"].ktype == knext.logical(Tool)
    assert table.to_pandas()["t"].tolist() == [None, ECHO, RANK]


def test_frames_of_tools_can_be_worked_with() -> None:
    series = tools(ECHO, None, RANK)
    assert series[series.notna()].tolist() == [ECHO, RANK]
    assert series.iloc[[2, 0]].tolist() == [RANK, ECHO]
    assert pd.concat([series, series], ignore_index=True).tolist() == [ECHO, None, RANK] * 2
    assert series.reindex([0, 7]).tolist() == [ECHO, None]
    changed = series.copy()
    changed.iloc[1] = RANK
    changed[0] = None
    assert changed.tolist() == [None, RANK, RANK]
    assert series.tolist() == [ECHO, None, RANK]
    assert (series == ECHO).tolist() == [True, False, False]
    assert "echo" in repr(series)
    merged = pd.DataFrame({"t": series, "k": [1, 2, 3]}).merge(pd.DataFrame({"k": [3, 4]}), how="right")
    assert merged["t"].tolist() == [RANK, None]
    assert isinstance(series.array, LogicalArray)
    assert series.array.nbytes > 0
    assert series.fillna(ECHO).tolist() == [ECHO, ECHO, RANK]


def test_a_dtype_is_not_made_of_its_name() -> None:
    with pytest.raises(TypeError, match="knime"):
        pd.Series([None], dtype="knime[Tool]")  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_a_batch_may_be_a_frame() -> None:
    from knime_ext.runtime.knext.table import checked_output

    output = knext.BatchOutputTable.create()
    output.append(pd.DataFrame({"a": [1]}, index=["p"]))
    assert checked_output(output).to_pandas()["a"].to_dict() == {"p": 1}


@given(st.lists(st.none() | st.sampled_from([ECHO, RANK]), max_size=6), st.randoms())
def test_tools_survive_frames_in_any_order(values: list[Tool | None], random: Any) -> None:
    order = list(range(len(values)))
    random.shuffle(order)
    frame = knext.Table.from_pandas(pd.DataFrame({"t": tools(*values)})).to_pandas()
    assert frame["t"].iloc[order].tolist() == [values[i] for i in order]


def test_pandas_is_only_needed_where_it_is_asked_for() -> None:
    script = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import pyarrow as pa
from knime.types.tool import Tool
from knime_ext.runtime import knext
table = knext.Table.from_pyarrow(pa.table({"a": [1]}))
assert table["a"].to_pyarrow().num_rows == 1
for attempt in (table.to_pandas, knext.logical(Tool).to_pandas):
    try:
        attempt()
    except ModuleNotFoundError as error:
        assert "pip install 'knime-mcp[pandas]'" in str(error)
    else:
        raise SystemExit("no error")
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
