"""Which Python classes cells can hold, and how their values are encoded."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime.types.message import MessageContentPart, MessageContentPartType, MessageType, MessageValue
from knime.types.tool import MCPTool, Tool, ToolPort, WorkflowTool
from knime_ext.runtime import knext
from knime_ext.runtime.knext import time_types, value_types
from knime_ext.runtime.knext.arrow_types import LogicalExtensionType
from knime_ext.runtime.knext.ktypes import LogicalType
from knime_ext.runtime.knext.value_types import PythonValueFactory, register_value_factory

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "tool_struct.json").read_text(encoding="utf-8"))


def test_tools_have_the_struct_of_the_golden_file() -> None:
    ktype = knext.logical(Tool)
    assert json.loads(ktype.logical_type) == {"value_factory_class": GOLDEN["value_factory"]}
    arrow = ktype.to_pyarrow()
    assert isinstance(arrow, LogicalExtensionType)
    struct = arrow.storage_type
    assert isinstance(struct, pa.StructType)
    names = {"int8": pa.int8(), "utf8": pa.string(), "int32": pa.int32()}
    assert [(f.name, f.type) for f in struct] == [(str(f["index"]), names[f["arrow"]]) for f in GOLDEN["fields"]]


def test_a_logical_type_is_named_by_json_without_spaces() -> None:
    text = '{"value_factory_class":"org.knime.ai.core.data.message.MessageValueFactory"}'
    assert knext.logical(MessageValue).logical_type == text
    arrow: Any = knext.logical(MessageValue).to_pyarrow()
    assert arrow.extension_name == "knime.logical_type"
    assert arrow.__arrow_ext_serialize__() == text.encode()


def test_kinds_of_tools_share_the_cells_of_tools_as_proxies() -> None:
    tool, mcp = knext.logical(Tool), knext.logical(MCPTool)
    assert (tool.proxy_type, mcp.proxy_type) == (None, MCPTool)
    assert tool != mcp
    assert tool.to_pyarrow() == mcp.to_pyarrow() == knext.logical(WorkflowTool).to_pyarrow()
    assert mcp.value_type == "knime.types.tool.Tool"


@pytest.mark.parametrize("unknown", [object, "knime.types.tool.Tool", 5, Tool | None])
def test_classes_are_looked_up_by_their_exact_name(unknown: Any) -> None:
    with pytest.raises(TypeError, match="cells cannot hold"):
        knext.logical(unknown)


def test_a_subclass_is_another_class() -> None:
    class Special(MCPTool):
        pass

    with pytest.raises(TypeError, match="no value factory is registered for exactly this class"):
        knext.logical(Special)


def test_the_supported_classes_are_listed() -> None:
    text = knext.supported_value_types()
    for name in ("knime.types.tool.Tool", "knime.types.message.MessageValue", "datetime.date"):
        assert name in text
    assert LogicalType.supported_value_types() == text


class Point:
    def __init__(self, x: int, y: int) -> None:
        self.x, self.y = x, y

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)

    __hash__ = None  # pyright: ignore[reportAssignmentType]


class PointFactory(PythonValueFactory):
    def __init__(self) -> None:
        super().__init__(Point)

    def decode(self, storage: Any) -> Any:
        return None if storage is None else Point(storage["0"], storage["1"])

    def encode(self, value: Any) -> Any:
        return None if value is None else {"0": value.x, "1": value.y}


def test_a_value_type_of_ones_own() -> None:
    register_value_factory(
        Point, PointFactory, knext.struct(knext.int32(), knext.int32()), "org.acme.PointFactory", data_type="2D point"
    )
    ktype = knext.logical(Point)
    assert str(ktype) == "2D point"
    storage = pa.array([{"0": 1, "1": 2}, None], pa.struct([("0", pa.int32()), ("1", pa.int32())]))
    column: Any = pa.ExtensionArray.from_storage(ktype.to_pyarrow(), storage)  # pyright: ignore[reportArgumentType]
    table = knext.Table.from_pyarrow(pa.table({"p": column}))
    assert table.schema["p"].ktype == ktype
    assert table.to_pyarrow()["p"].to_pylist() == [Point(1, 2), None]


def test_a_proxy_needs_a_default() -> None:
    with pytest.raises(ValueError, match="no default class yet"):
        register_value_factory("my.Proxy", PointFactory, knext.int32(), "org.acme.NobodyKnows", role="proxy")


def test_cells_of_an_unknown_type_stay_what_they_store() -> None:
    unknown = LogicalExtensionType(pa.int32(), '{"value_factory_class":"org.acme.Unknown"}')
    column: Any = pa.ExtensionArray.from_storage(unknown, pa.array([1, None], pa.int32()))
    table = knext.Table.from_pyarrow(pa.table({"u": column}))
    assert table.to_pyarrow()["u"].to_pylist() == [1, None]
    ktype: Any = table.schema["u"].ktype
    assert str(ktype).startswith("extension<logical=")
    with pytest.raises(ValueError, match="no value factory is registered for cells"):
        ktype.to_pyarrow()


def test_the_older_workflow_tool_column_is_still_read() -> None:
    legacy = value_types.value_type_of(value_types.logical_type_text(value_types.WORKFLOW_TOOL_FACTORY))
    assert legacy.data_type == "Workflow Tool"
    tool = WorkflowTool("n", "d", {"p": {"type": "string"}}, 0, [ToolPort("in", "", "Table", "")], [], "v1:a:0:b:-1")
    stored = legacy.value_factory.encode(tool)
    from knime_ext.runtime.knext.arrow_types import arrow_type

    dtype = LogicalExtensionType(arrow_type(legacy.storage), legacy.logical_type)
    column: Any = pa.ExtensionArray.from_storage(dtype, pa.array([stored, None], dtype.storage_type))
    assert pa.table({"t": column})["t"].to_pylist() == [tool, None]
    assert knext.logical(WorkflowTool).logical_type != legacy.logical_type


def test_messages_go_to_cells_and_back() -> None:
    message = MessageValue(MessageType.USER, [MessageContentPart(MessageContentPartType.TEXT, "Grüße".encode())])
    ktype = knext.logical(MessageValue)
    arrow: Any = ktype.to_pyarrow()
    storage = pa.array([ktype.value_factory.encode(message), None], arrow.storage_type)
    assert pa.ExtensionArray.from_storage(arrow, storage).to_pylist() == [message, None]


def roundtrip(ktype: LogicalType, value: Any) -> Any:
    arrow: Any = ktype.to_pyarrow()
    storage = pa.array([ktype.value_factory.encode(value)], arrow.storage_type)
    return pa.ExtensionArray.from_storage(arrow, storage).to_pylist()[0]


@given(st.dates(), st.times(), st.datetimes(), st.timedeltas())
def test_dates_and_times_survive_the_layouts_of_knime(
    date: dt.date, time: dt.time, moment: dt.datetime, duration: dt.timedelta
) -> None:
    assert roundtrip(time_types.LOCAL_DATE, date) == date
    assert roundtrip(time_types.LOCAL_TIME, time) == time
    assert roundtrip(time_types.LOCAL_DATE_TIME, moment) == moment
    assert roundtrip(time_types.DURATION, duration) == duration


@pytest.mark.parametrize(
    "value",
    [
        dt.datetime(2024, 7, 1, 12, tzinfo=dt.UTC),
        dt.datetime(2024, 7, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=-3, minutes=-30))),
        dt.datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin")),
        dt.datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1),
    ],
)
def test_times_with_a_zone_keep_it(value: dt.datetime) -> None:
    back = roundtrip(time_types.ZONED_DATE_TIME, value)
    assert back == value
    assert back.utcoffset() == value.utcoffset()
    assert getattr(back.tzinfo, "key", None) == getattr(value.tzinfo, "key", None)


def test_a_zoned_column_refuses_times_without_a_zone() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        roundtrip(time_types.ZONED_DATE_TIME, dt.datetime(2024, 1, 1))


def test_missing_dates_and_times_stay_missing() -> None:
    for ktype in (
        time_types.LOCAL_DATE,
        time_types.LOCAL_TIME,
        time_types.LOCAL_DATE_TIME,
        time_types.DURATION,
        time_types.ZONED_DATE_TIME,
    ):
        assert roundtrip(ktype, None) is None
