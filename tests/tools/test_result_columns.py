"""Results of calls become cells: typed where the tool says what it gives."""

import base64
from typing import Any

import pyarrow as pa
import pytest

from knime_ext.tools import ToolResult
from knime_ext.tools.result_columns import Media, OutputColumn, media_of, output_columns, typed_cells

SCHEMA: dict[str, Any] = {
    "$defs": {"when": {"type": "string", "format": "date"}},
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "count": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "share": {"type": ["number", "null"]},
        "fine": {"const": True},
        "when": {"$ref": "#/$defs/when"},
        "either": {"type": ["string", "integer"]},
        "list": {"type": "array"},
        "any": {},
    },
}


def columns_of(*schemas: Any) -> dict[str, str]:
    return {column.name: column.json_type for column in output_columns(schemas)}


def test_an_output_schema_names_typed_columns() -> None:
    assert columns_of(SCHEMA) == {
        "name": "string",
        "count": "integer",
        "share": "number",
        "fine": "boolean",
        "when": "string",
        "either": "",
        "list": "",
        "any": "",
    }
    assert [column.kind for column in output_columns([SCHEMA])][:4] == [pa.utf8(), pa.int64(), pa.float64(), pa.bool_()]


def test_columns_of_several_tools_are_joined() -> None:
    one = {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    other = {"properties": {"b": {"type": "string"}, "c": {"type": "boolean"}}}
    assert columns_of(one, other) == {"a": "string", "b": "", "c": "boolean"}


@pytest.mark.parametrize("schema", [{}, {"type": "array"}, {"properties": []}, {"properties": {"a": 1}}])
def test_odd_output_schemas_do_no_harm(schema: Any) -> None:
    assert all(kind == "" for kind in columns_of(schema).values())


def test_values_become_cells_of_their_type() -> None:
    value = {"name": "x", "count": 3.0, "share": 1, "fine": True, "either": 3, "list": [1, "é"], "any": None, "more": 1}
    cells, odd = typed_cells(output_columns([SCHEMA]), value)
    assert cells == ["x", 3, 1.0, True, None, "3", '[1, "é"]', None]
    assert odd is None


@pytest.mark.parametrize(
    ("kind", "value"),
    [("integer", 2.5), ("integer", True), ("integer", 2**63), ("number", "1"), ("boolean", 1), ("string", {"a": 1})],
)
def test_a_value_of_another_type_is_missing_and_told(kind: str, value: Any) -> None:
    cells, odd = typed_cells([OutputColumn(name="n", json_type=kind)], {"n": value})
    assert cells == [None]
    assert odd is not None
    assert f"'n' is no {kind} but" in odd


@pytest.mark.parametrize("structured", [None, [1], "text", 3])
def test_what_is_no_object_gives_missing_cells(structured: Any) -> None:
    assert typed_cells(output_columns([SCHEMA]), structured) == ([None] * 8, None)


def test_half_a_character_does_not_break_a_cell() -> None:
    columns = [OutputColumn(name="a", json_type="string"), OutputColumn(name="b", json_type="")]
    cells, _ = typed_cells(columns, {"a": "x\ud800", "b": ["\ud800"]})
    assert pa.array(cells, pa.utf8()).to_pylist() == ["x\ufffd", '["\\ud800"]']


def test_media_are_taken_out_of_results_in_order() -> None:
    data = base64.b64encode(b"data").decode()
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "x"},
        {"type": "image", "mimeType": "image/png", "data": data},
        {"type": "image", "data": "no base64!"},
        {"type": "audio", "mimeType": "audio/wav", "data": data},
        {"type": "resource", "resource": {"uri": "a:b", "text": "plain"}},
        {"type": "resource", "resource": {"uri": "a:b", "blob": data}},
        {"type": "resource", "resource": "odd"},
        {"type": "hologram", "data": data},
    ]
    assert media_of(ToolResult(content=blocks)) == [
        Media(data=b"data", mime_type="image/png"),
        Media(data=b"data", mime_type="audio/wav"),
        Media(data=b"data", mime_type=""),
    ]
