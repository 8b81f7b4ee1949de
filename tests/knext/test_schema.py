"""Types, columns and schemas."""

from __future__ import annotations

import copy
import pickle
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime.types.tool import MCPTool, Tool
from knime_ext.runtime import knext
from knime_ext.runtime.knext.ktypes import KnimeType


def sample() -> knext.Schema:
    return knext.Schema.from_columns(
        [knext.Column(knext.int32(), "a"), knext.Column(knext.string(), "b"), knext.Column(knext.double(), "c")]
    )


PRIMITIVES = [knext.int32(), knext.int64(), knext.double(), knext.bool_(), knext.string(), knext.null()]


def test_types_are_named_as_knime_names_them() -> None:
    assert [str(ktype) for ktype in PRIMITIVES] == [
        "Number (Integer)",
        "Number (Long Integer)",
        "Number (Float)",
        "Boolean",
        "String",
        "null",
    ]
    assert str(knext.list_(knext.string())) == "List (Collection of: String)"
    assert str(knext.struct(knext.int32(), knext.blob())) == "struct<Number (Integer), blob>"
    assert str(knext.string(knext.DictEncodingKeyType.INT)) == "String[dict_encoding=INT_KEY]"
    assert str(knext.logical(Tool)) == "Tool"


def test_there_is_one_object_per_primitive_type() -> None:
    assert knext.int32() is knext.int32()
    assert knext.string(knext.DictEncodingKeyType.INT) is not knext.string()
    assert copy.deepcopy(knext.int32()) is knext.int32()
    assert pickle.loads(pickle.dumps(knext.string())) is knext.string()


def test_composed_types_compare_by_their_parts() -> None:
    assert knext.list_(knext.int32()) == knext.list_(knext.int32())
    assert knext.list_(knext.int32()) != knext.list_(knext.int64())
    assert knext.struct(knext.int32()) != knext.struct(knext.int32(), knext.int32())
    assert len({knext.struct(knext.int32()), knext.struct(knext.int32())}) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: knext.list_(5),  # pyright: ignore[reportArgumentType]
        lambda: knext.struct(5),  # pyright: ignore[reportArgumentType]
        lambda: knext.PrimitiveType(5),  # pyright: ignore[reportArgumentType]
        lambda: knext.PrimitiveType(knext.PrimitiveTypeId.INT, knext.DictEncodingKeyType.INT),
        lambda: knext.string("INT"),  # pyright: ignore[reportArgumentType]
        KnimeType,
    ],
)
def test_types_refuse_parts_that_are_no_types(make: Any) -> None:
    with pytest.raises(TypeError):
        make()


def test_a_column_needs_a_type_and_a_name() -> None:
    with pytest.raises(ValueError, match="must not be blank"):
        knext.Column(knext.int32(), " ")
    with pytest.raises(TypeError, match="name of a column must be a text, not int"):
        knext.Column(knext.int32(), 5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="cells cannot hold builtins.object"):
        knext.Column(object, "x")


def test_a_column_takes_a_python_class_for_its_logical_type() -> None:
    assert knext.Column(Tool, "t").ktype == knext.logical(Tool)
    assert knext.Column(MCPTool, "t").ktype == knext.logical(MCPTool)


def test_columns_compare_with_their_metadata() -> None:
    assert knext.Column(knext.int32(), "a") == knext.Column(knext.int32(), "a")
    assert knext.Column(knext.int32(), "a") != knext.Column(knext.int32(), "a", {"x": 1})
    assert str(knext.Column(knext.int32(), "a", {"x": 1})) == "Column<'a', Number (Integer), {'x': 1}>"


def test_schemas_are_made_of_columns_or_of_types_and_names() -> None:
    assert knext.Schema.from_types([knext.int32(), knext.string(), knext.double()], ["a", "b", "c"]) == sample()
    assert knext.Schema.from_columns(knext.Column(knext.int32(), "a")).column_names == ["a"]
    assert knext.Schema.from_columns([]).num_columns == 0
    assert knext.Schema.from_columns([sample()["b"]]).column_names == ["b"]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: knext.Schema.from_columns(5), TypeError),  # pyright: ignore[reportArgumentType]
        (lambda: knext.Schema.from_columns([5]), TypeError),  # pyright: ignore[reportArgumentType]
        (lambda: knext.Schema.from_types([knext.int32()], ["a", "b"]), ValueError),
        (lambda: knext.Schema.from_types([knext.int32()], ["a"], [1, 2]), ValueError),
        (lambda: knext.Schema.from_types([5], ["a"]), TypeError),  # pyright: ignore[reportArgumentType]
        (lambda: knext.Schema.from_types([knext.int32()], "a"), TypeError),
        (lambda: knext.Schema.from_types([knext.int32()], [5]), TypeError),  # pyright: ignore[reportArgumentType]
    ],
)
def test_schemas_refuse_other_things(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


def test_a_schema_is_a_sequence_of_columns() -> None:
    schema = sample()
    assert [column.name for column in schema] == ["a", "b", "c"]
    assert schema.num_columns == 3
    assert "a" in schema
    assert "z" not in schema
    assert knext.Column(knext.double(), "a") in schema  # only the name counts
    assert 5 not in schema


def test_slices_answer_like_what_they_stand_for() -> None:
    schema = sample()
    assert schema["b"].ktype == knext.string()
    assert schema[-1].name == "c"
    assert schema[1:].column_names == ["b", "c"]
    assert schema[["c", "a"]].column_names == ["c", "a"]
    assert schema[[0, 2]] == schema[["a", "c"]]
    assert [column.name for column in schema[:2]] == ["a", "b"]
    assert schema[["a", "b"]][["b"]].column_names == ["b"]
    assert schema[["a", "b", "c"]] == schema
    assert isinstance(schema[["a"]].get(), knext.Schema)


def test_a_missing_column_is_noticed_when_the_slice_is_looked_at() -> None:
    lazy = sample()["z"]
    with pytest.raises(IndexError, match=r"the schema has no column 'z'; it has \['a', 'b', 'c'\]"):
        _ = lazy.name
    with pytest.raises(IndexError, match="no column 'z'"):
        _ = sample()[["a", "z"]].num_columns


@pytest.mark.parametrize(
    ("slicing", "error"), [(7, IndexError), (-4, IndexError), ([7], IndexError), ([-1], IndexError), (1.5, TypeError)]
)
def test_other_selections_are_errors(slicing: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        cast("Any", sample())[slicing].get()


def test_columns_are_added_and_removed() -> None:
    schema, column = sample(), knext.Column(knext.bool_(), "n")
    assert schema.append(column).column_names == ["a", "b", "c", "n"]
    assert schema.append([column, column]).num_columns == 5
    assert schema.append(sample()[["a"]]).column_names == ["a", "b", "c", "a"]
    assert schema.insert(column, 1).column_names == ["a", "n", "b", "c"]
    assert schema.insert(column, at=-1).column_names == ["a", "b", "n", "c"]
    assert schema.append(column).append(column).column_names == ["a", "b", "c", "n", "n"]
    assert schema.remove("a").column_names == ["b", "c"]
    assert schema.remove(1).column_names == ["a", "c"]
    assert schema.remove(["a", "c"]).column_names == ["b"]
    assert schema == sample()


def test_adding_and_removing_refuse_what_is_no_column() -> None:
    for other in (5, [5]):
        with pytest.raises(TypeError):
            cast("Any", sample()).append(other).get()
    with pytest.raises(ValueError, match="no column 'z' to remove"):
        sample().remove(["a", "z"])
    with pytest.raises(ValueError, match="no column 'z' to remove"):
        sample().remove("z")
    with pytest.raises(IndexError, match="no column at index 7"):
        sample().remove(7)
    with pytest.raises(TypeError, match="not by float"):
        sample().remove(1.5)  # pyright: ignore[reportArgumentType]


def test_a_schema_has_the_wire_form_of_knime() -> None:
    schema = knext.Schema.from_columns(
        [
            knext.Column(knext.int32(), "a", {"m": 1}),
            knext.Column(knext.list_(knext.string()), "l"),
            knext.Column(knext.list_(knext.list_(knext.int32())), "ll"),
            knext.Column(Tool, "t"),
        ]
    )
    wire = schema.serialize()
    assert wire["columnNames"] == ["RowKey", "a", "l", "ll", "t"]
    assert wire["columnMetaData"] == [None, {"m": 1}, None, None, None]
    specs, traits = wire["schema"]["specs"], wire["schema"]["traits"]
    core = "org.knime.core.data.v2.value."
    assert specs[:3] == ["string", "int", {"type": "list", "inner_type": "string"}]
    assert traits[0]["traits"]["logical_type"] == f'{{"value_factory_class":"{core}DefaultRowKeyValueFactory"}}'
    assert traits[1] == {
        "type": "simple",
        "traits": {"logical_type": f'{{"value_factory_class":"{core}IntValueFactory"}}'},
    }
    assert traits[2]["traits"]["logical_type"] == f'{{"value_factory_class":"{core}StringListValueFactory"}}'
    assert traits[3]["traits"]["logical_type"] == f'{{"value_factory_class":"{core}ListValueFactory"}}'
    assert specs[4]["inner_types"] == ["byte", *["string"] * 5, "int", *["string"] * 2]
    assert knext.Schema.deserialize(wire) == schema


def test_two_columns_of_one_name_have_no_wire_form() -> None:
    with pytest.raises(RuntimeError, match="columns of the same name"):
        sample().append(sample()).serialize()


def ktypes() -> st.SearchStrategy[KnimeType]:
    plain = st.sampled_from([*PRIMITIVES, knext.logical(Tool), knext.datetime(), knext.datetime(time=False)])
    return st.recursive(plain, lambda inner: st.builds(knext.list_, inner), max_leaves=3)


@given(st.lists(ktypes(), max_size=5))
def test_every_schema_survives_its_wire_form(types: list[KnimeType]) -> None:
    schema = knext.Schema(types, [f"c{i}" for i in range(len(types))])
    assert knext.Schema.deserialize(schema.serialize()) == schema


def test_date_and_time_types() -> None:
    assert str(knext.datetime()) == "Local Date Time"
    assert str(knext.datetime(time=False)) == "Local Date"
    assert str(knext.datetime(date=False)) == "Local Time"
    assert str(knext.datetime(timezone=True)) == "Zoned Date Time"
    with pytest.raises(ValueError, match="a date, a time or both"):
        knext.datetime(False, False)
    with pytest.raises(ValueError, match="needs a time"):
        knext.datetime(True, False, True)
