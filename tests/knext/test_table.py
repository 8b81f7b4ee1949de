"""Tables: what they take, how they are sliced, what they give back."""

from __future__ import annotations

import datetime as dt
from typing import Any, cast

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime.types.tool import MCPTool, Tool, WorkflowTool
from knime_ext.runtime import knext
from knime_ext.runtime.knext.arrow_types import LogicalExtensionType
from knime_ext.runtime.knext.table import as_input, checked_output
from knime_ext.runtime.knext.value_types import logical_type_text
from knime_ext.tools import decode_tools, encode_tools

ROW_ID = "<RowID>"


def sample() -> knext.Table:
    return knext.Table.from_pyarrow(pa.table({"a": [1, 2, 3], "b": ["x", None, "z"], "c": [0.5, None, 1.5]}))


def content(table: Any) -> dict[str, list[Any]]:
    return table.to_pyarrow().to_pydict()


def column(values: Any, dtype: pa.DataType | None = None) -> knext.Table:
    return knext.Table.from_pyarrow(pa.table({"a": pa.array(values, dtype)}))


def ktype_of(values: Any, dtype: pa.DataType | None = None) -> str:
    return str(column(values, dtype).schema["a"].ktype)


def tools_column(tools: list[Tool | None]) -> Any:
    dtype = cast("Any", knext.logical(Tool).to_pyarrow())
    return pa.ExtensionArray.from_storage(dtype, encode_tools(tools).cast(dtype.storage_type))


TOOLS: list[Tool | None] = [
    MCPTool("echo", "Says it again.", {"type": "object"}, server_uri="http://localhost/mcp"),
    None,
    WorkflowTool("rank", "Ranks.", {}, 0, [], [], "v1:key:0:name:-1"),
]


def test_a_table_knows_its_shape_columns_first() -> None:
    table = sample()
    assert table.shape == (3, 3)
    assert sample()["a"].shape == (1, 3)
    assert (table.num_columns, table.num_rows, table.column_names) == (3, 3, ["a", "b", "c"])
    assert [str(c) for c in table.schema] == [
        "Column<'a', Number (Long Integer)>",
        "Column<'b', String>",
        "Column<'c', Number (Float)>",
    ]


def test_row_ids_come_first_and_are_made_if_there_are_none() -> None:
    assert content(sample())[ROW_ID] == ["Row0", "Row1", "Row2"]
    assert sample().to_pyarrow().column_names == [ROW_ID, "a", "b", "c"]


def with_ids(ids: Any, **kwargs: Any) -> list[str]:
    return content(knext.Table.from_pyarrow(pa.table({ROW_ID: ids, "a": [1, 2]}), **kwargs))[ROW_ID]


def test_row_ids_are_kept_or_formatted() -> None:
    assert with_ids(["p", "q"]) == ["p", "q"]
    assert with_ids([7, 9]) == ["Row7", "Row9"]
    keep = knext.Table.from_pyarrow(pa.table({"key": ["p", "q"], "a": [1, 2]}), row_ids="keep")
    assert content(keep) == {ROW_ID: ["p", "q"], "a": [1, 2]}
    generated = knext.Table.from_pyarrow(pa.table({"key": ["p", "q"]}), row_ids="generate")
    assert content(generated) == {ROW_ID: ["Row0", "Row1"], "key": ["p", "q"]}


@pytest.mark.parametrize(
    ("data", "row_ids", "error", "message"),
    [
        ({"a": [1]}, "always", ValueError, "must be 'auto', 'generate' or 'keep', not 'always'"),
        ({"a": [1]}, "keep", TypeError, "row ids in column 'a' must be texts, not int64"),
        ({ROW_ID: [0.5]}, "auto", TypeError, "must hold texts or whole numbers"),
        ({ROW_ID: ["a", None]}, "auto", ValueError, "must not be missing"),
        ({ROW_ID: ["a"]}, "generate", ValueError, "two columns named '<RowID>'"),
        ({}, "keep", ValueError, "has no columns"),
    ],
)
def test_unusable_row_ids_are_refused(data: Any, row_ids: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        knext.Table.from_pyarrow(pa.table(data), row_ids=row_ids)


def test_a_record_batch_is_as_good_as_a_table() -> None:
    assert content(knext.Table.from_pyarrow(pa.record_batch({"a": [1]}))) == {ROW_ID: ["Row0"], "a": [1]}


def test_other_data_is_refused() -> None:
    with pytest.raises(TypeError, match=r"takes a pyarrow\.Table or RecordBatch, not dict"):
        knext.Table.from_pyarrow({"a": [1]})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("values", "dtype", "ktype"),
    [
        ([1], pa.int32(), "Number (Integer)"),
        ([1], pa.int64(), "Number (Long Integer)"),
        ([1], pa.float32(), "Number (Float)"),
        ([True], None, "Boolean"),
        ([None], pa.null(), "null"),
        (["x"], pa.large_string(), "String"),
        (["x"], pa.string_view(), "String"),
        (["x"], pa.dictionary(pa.int8(), pa.string()), "String"),
        ([1], pa.dictionary(pa.int8(), pa.int64()), "Number (Long Integer)"),
        ([["x"]], None, "List (Collection of: String)"),
        ([[1]], pa.large_list(pa.int32()), "List (Collection of: Number (Integer))"),
        ([[0.5]], pa.list_(pa.float32()), "List (Collection of: Number (Float))"),
        ([dt.date(2024, 1, 1)], None, "Local Date"),
        ([dt.time(12)], None, "Local Time"),
        ([dt.datetime(2024, 1, 1)], None, "Local Date Time"),
        ([dt.datetime(2024, 1, 1, tzinfo=dt.UTC)], pa.timestamp("s", "UTC"), "Zoned Date Time"),
        ([dt.timedelta(1)], None, "Duration"),
    ],
)
def test_these_arrow_types_are_taken(values: Any, dtype: pa.DataType | None, ktype: str) -> None:
    assert ktype_of(values, dtype) == ktype
    assert column(values, dtype).to_pyarrow()["a"].to_pylist() == values


@pytest.mark.parametrize(
    ("values", "dtype", "repair"),
    [
        ([1], pa.int8(), "int32 or int64"),
        ([1], pa.int16(), "int32 or int64"),
        ([1], pa.uint64(), "int32 or int64"),
        ([1], pa.decimal128(5, 2), "float64"),
        ([b"x"], pa.binary(), "base64"),
        ([b"x"], pa.large_binary(), "base64"),
        ([{"x": 1}], None, "columns of their own"),
        ([[1]], pa.list_(pa.int8()), "int32 or int64"),
        ([[1]], pa.list_(pa.int64(), 1), "a list of these"),
        ([[[1]]], None, "JSON text"),
        ([[{"x": 1}]], None, "columns of their own"),
    ],
)
def test_these_arrow_types_are_refused_with_the_repair(values: Any, dtype: pa.DataType | None, repair: str) -> None:
    with pytest.raises(TypeError, match=f"column 'a' has the Arrow type .*, which tables cannot hold; .*{repair}"):
        column(values, dtype)


def test_code_written_for_knime_catches_a_value_error_there() -> None:
    with pytest.raises(ValueError, match="tables cannot hold"):
        column([1], pa.int8())


def test_columns_that_fit_are_not_copied() -> None:
    array = pa.array([1, 2, 3])
    table = knext.Table.from_pyarrow(pa.table({"a": array}))
    assert table.to_pyarrow()["a"].chunk(0).buffers()[1].address == array.buffers()[1].address  # pyright: ignore[reportOptionalMemberAccess]


def test_uneven_batches_are_refused_as_in_knime() -> None:
    one, two = pa.table({"a": [1]}), pa.table({"a": [1, 2]})
    for uneven in ([one, two], [two, one, two]):
        with pytest.raises(ValueError, match=r"combine_chunks\(\)"):
            knext.Table.from_pyarrow(pa.concat_tables(uneven))
    assert knext.Table.from_pyarrow(pa.concat_tables([two, two, one])).num_rows == 5


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two columns named 'a'"):
        knext.Table.from_pyarrow(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))


def test_slices_keep_the_row_ids() -> None:
    table = sample()
    assert content(table["b"]) == {ROW_ID: ["Row0", "Row1", "Row2"], "b": ["x", None, "z"]}
    assert content(table[0]) == {ROW_ID: ["Row0", "Row1", "Row2"], "a": [1, 2, 3]}
    assert table[["c", "a"]].column_names == ["c", "a"]
    assert table[1:].column_names == ["b", "c"]
    assert content(table[["a"], 1:]) == {ROW_ID: ["Row1", "Row2"], "a": [2, 3]}
    assert content(table["a", ::2]) == {ROW_ID: ["Row0", "Row2"], "a": [1, 3]}
    assert table[:, :1].shape == (3, 1)
    assert table[["a", "b"]][["b"]].column_names == ["b"]
    assert table.remove(["a", "c"]).column_names == ["b"]


def test_iterating_gives_the_columns() -> None:
    assert [part.column_names for part in sample()] == [["a"], ["b"], ["c"]]


def test_a_missing_column_is_noticed_when_the_slice_is_looked_at() -> None:
    lazy = sample()["z"]
    with pytest.raises(IndexError, match="the table has no column 'z'"):
        lazy.to_pyarrow()
    with pytest.raises(IndexError, match="the table has no column at index 7"):
        sample()[7]


@pytest.mark.parametrize("slicing", [-1, [-1], [7], ("a", 1)])
def test_other_selections_are_index_errors(slicing: Any) -> None:
    with pytest.raises(IndexError):
        sample()[slicing].get()


def test_tables_do_not_grow() -> None:
    for attempt in (lambda: sample().append(sample()), lambda: sample().insert(sample(), 0)):
        with pytest.raises(NotImplementedError, match="cannot be appended"):
            attempt()


def test_tables_are_not_made_by_their_constructor() -> None:
    with pytest.raises(RuntimeError, match="from_pyarrow or Table.from_pandas"):
        knext.Table()
    with pytest.raises(RuntimeError, match="create or from_batches"):
        knext.BatchOutputTable()


def test_only_inputs_have_batches() -> None:
    even = pa.concat_tables([pa.table({"a": [1, 2]}), pa.table({"a": [3]})])
    table = knext.Table.from_pyarrow(even)
    with pytest.raises(RuntimeError, match="only a table as it arrives at a node"):
        table.batches()
    assert not hasattr(table, "num_batches")
    arrived = as_input(table)
    assert arrived.num_batches == 2
    assert [content(batch)["a"] for batch in arrived.to_batches()] == [[1, 2], [3]]


def test_a_sentinel_stands_for_missing_whole_numbers() -> None:
    data = pa.table({"i": pa.array([1, None], pa.int32()), "l": pa.array([None, 2]), "s": ["x", None]})
    table = knext.Table.from_pyarrow(data)
    assert table.to_pyarrow("min").to_pydict() == {
        ROW_ID: ["Row0", "Row1"],
        "i": [1, -(2**31)],
        "l": [-(2**63), 2],
        "s": ["x", None],
    }
    assert table.to_pyarrow("max")["l"].to_pylist() == [2**63 - 1, 2]
    assert table.to_pyarrow(7)["i"].to_pylist() == [1, 7]
    assert content(knext.Table.from_pyarrow(table.to_pyarrow("min"), sentinel="min")) == content(table)
    assert content(knext.Table.from_pyarrow(pa.table({"a": [5, 7]}), sentinel=5))["a"] == [None, 7]


def test_tools_in_cells_keep_their_extension_type() -> None:
    table = knext.Table.from_pyarrow(pa.table({"Tool": tools_column(TOOLS), "n": [1, 2, 3]}))
    assert table.schema["Tool"].ktype == knext.logical(Tool)
    arrow: Any = table["Tool"].to_pyarrow()["Tool"]
    assert isinstance(arrow.type, LogicalExtensionType)
    assert decode_tools(arrow.chunk(0).storage) == TOOLS
    assert arrow.to_pylist() == TOOLS


def test_plain_columns_that_knime_has_wrapped_are_unwrapped() -> None:
    core = "org.knime.core.data.v2.value."

    def wrapped(storage: pa.Array, name: str) -> Any:
        dtype = LogicalExtensionType(storage.type, logical_type_text(f"{core}{name}ValueFactory"))
        return pa.ExtensionArray.from_storage(dtype, storage)

    table = knext.Table.from_pyarrow(
        pa.table(
            {
                ROW_ID: wrapped(pa.array(["Row5"]), "DefaultRowKey"),
                "i": wrapped(pa.array([1], pa.int32()), "Int"),
                "l": wrapped(pa.array([["a"]]), "StringList"),
            }
        )
    )
    assert content(table) == {ROW_ID: ["Row5"], "i": [1], "l": [["a"]]}
    assert [str(c.ktype) for c in table.schema] == ["Number (Integer)", "List (Collection of: String)"]


CELLS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "int": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "long": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "double": (pa.float64(), st.floats(allow_nan=False)),
    "bool": (pa.bool_(), st.booleans()),
    "text": (pa.string(), st.text()),
    "list": (pa.list_(pa.string()), st.lists(st.none() | st.text(max_size=3), max_size=3)),
    "date": (pa.date32(), st.dates()),
}


@st.composite
def arrow_tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(0, 8))
    names = draw(st.lists(st.sampled_from(list(CELLS)), unique=True, min_size=1))
    columns = {
        name: pa.array(draw(st.lists(st.none() | CELLS[name][1], min_size=rows, max_size=rows)), CELLS[name][0])
        for name in names
    }
    return pa.table(columns)


@given(arrow_tables(), st.integers(-10, 10), st.integers(-10, 10))
def test_every_table_gives_back_what_it_was_given(data: pa.Table, start: int, stop: int) -> None:
    table = knext.Table.from_pyarrow(data)
    assert table.to_pyarrow().remove_column(0).equals(data)
    assert knext.Table.from_pyarrow(table.to_pyarrow()).to_pyarrow().equals(table.to_pyarrow())
    part = table[:, start:stop].to_pyarrow().remove_column(0)
    assert part.to_pylist() == data.to_pylist()[start:stop]


def test_batches_are_written_one_after_the_other() -> None:
    output = knext.BatchOutputTable.create()
    output.append(pa.table({ROW_ID: ["p", "q"], "a": [1, 2]}))
    output.append(pa.record_batch({"k": ["r", "s"], "a": [3, 4]}))
    output.append(knext.Table.from_pyarrow(pa.table({ROW_ID: ["t"], "a": [5]}))["a"])
    assert output.num_batches == 3
    assert content(checked_output(output)) == {ROW_ID: ["p", "q", "r", "s", "t"], "a": [1, 2, 3, 4, 5]}


def test_row_ids_are_made_over_all_batches() -> None:
    parts = [pa.table({"a": [1, 2]}), knext.Table.from_pyarrow(pa.table({"a": [3]}))]
    output = knext.BatchOutputTable.from_batches(parts)
    assert content(checked_output(output)) == {ROW_ID: ["Row0", "Row1", "Row2"], "a": [1, 2, 3]}


def test_no_batches_make_an_empty_table() -> None:
    assert checked_output(knext.BatchOutputTable.create()).shape == (0, 0)


@pytest.mark.parametrize(
    ("batches", "error", "message"),
    [
        ([[1]], TypeError, "not list"),
        ([{"k": ["a"], "a": [1]}, {"k": ["b"], "b": [1]}], ValueError, r"has the columns .*'b' \(int64\)"),
        ([{"k": ["a"]}, {"k": ["b", "c"]}], ValueError, "all batches but the last must have 1 rows"),
        ([{"k": ["a", "b"]}, {"k": ["c"]}, {"k": ["d"]}], ValueError, "the one before has 1"),
        ([{"a": [1]}], TypeError, "row ids in column 'a' must be texts"),
    ],
)
def test_unusable_batches_are_refused(batches: list[Any], error: type[Exception], message: str) -> None:
    output = knext.BatchOutputTable.create()
    with pytest.raises(error, match=message):
        for batch in batches:
            output.append(pa.table(batch) if isinstance(batch, dict) else batch)


def test_batch_tables_keep_or_generate_row_ids_and_nothing_else() -> None:
    with pytest.raises(ValueError, match="'keep' or 'generate', not 'auto'"):
        knext.BatchOutputTable.create(row_ids="auto")


def test_an_output_must_be_a_table_with_unique_row_ids() -> None:
    assert checked_output(sample()["a"]).column_names == ["a"]
    with pytest.raises(TypeError, match=r"needs a knext\.Table or knext\.BatchOutputTable, not dict"):
        checked_output({})
    double = knext.Table.from_pyarrow(pa.table({ROW_ID: ["p", "q", "p"], "a": [1, 2, 3]}))
    with pytest.raises(ValueError, match="two rows have the row id 'p'"):
        checked_output(double)
