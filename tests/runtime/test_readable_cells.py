import csv
import datetime as dt
import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from knime.types.message import MessageContentPart, MessageContentPartType, MessageType, MessageValue, ToolCall
from knime.types.tool import MCPTool, Tool, WorkflowTool
from knime_ext.runtime import knext
from knime_ext.runtime.readable_cells import csv_columns, write_readable_csv


def objects(name: str, of: type, cells: list[Any]) -> pa.Table:
    """A table with one column of objects."""
    ktype = knext.logical(of)
    arrow: Any = ktype.to_pyarrow()
    encode = ktype.value_factory.encode
    storage = pa.array([None if cell is None else encode(cell) for cell in cells], arrow.storage_type)
    return knext.Table.from_pyarrow(pa.table({name: pa.ExtensionArray.from_storage(arrow, storage)})).to_pyarrow()


def text(words: str) -> list[MessageContentPart]:
    return [MessageContentPart(MessageContentPartType.TEXT, words.encode())]


CONVERSATION = objects(
    "Conversation",
    MessageValue,
    [
        MessageValue(MessageType.USER, text('Which is "best"?\nTell me, please.')),
        MessageValue(MessageType.AI, [], [ToolCall("顧客の売上", "c1", {"top": 3})]),
        MessageValue(MessageType.TOOL, text("Northwind: 18342.50 USD"), tool_call_id="c1", name="顧客の売上"),
        None,
        MessageValue(MessageType.AI, [*text("Northwind."), MessageContentPart(MessageContentPartType.PNG, b"\x89PNG")]),
    ],
)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_conversation_is_one_row_per_message_with_type_name_text_and_calls(tmp_path: Path):
    write_readable_csv(CONVERSATION, tmp_path / "c.csv")
    rows = read(tmp_path / "c.csv")
    assert list(rows[0]) == [f"Conversation {part}" for part in ("type", "name", "text", "tool calls", "tool call id")]
    assert [row["Conversation type"] for row in rows] == ["USER", "AI", "TOOL", "", "AI"]
    assert [row["Conversation text"] for row in rows] == [
        'Which is "best"?\nTell me, please.',
        "",
        "Northwind: 18342.50 USD",
        "",
        "Northwind.\n[image 1]",
    ]
    assert json.loads(rows[1]["Conversation tool calls"]) == [
        {"id": "c1", "name": "顧客の売上", "arguments": {"top": 3}}
    ]
    assert (rows[2]["Conversation name"], rows[2]["Conversation tool call id"]) == ("顧客の売上", "c1")


def test_tools_show_name_kind_description_parameters_and_server():
    tools = [
        WorkflowTool("rank", "Ranks.", {"top": {"type": "integer"}}, _filestore_keys="v1:k"),
        MCPTool("echo", "Echoes.", {"type": "object"}, server_uri="http://localhost/mcp"),
        None,
    ]
    assert csv_columns(objects("Tool", Tool, tools)) == {
        "Tool name": ["rank", "echo", ""],
        "Tool kind": ["workflow", "mcp", ""],
        "Tool description": ["Ranks.", "Echoes.", ""],
        "Tool parameters": ['{"top": {"type": "integer"}}', '{"type": "object"}', ""],
        "Tool server": ["", "http://localhost/mcp", ""],
    }


def test_a_spread_column_does_not_hide_another_one():
    table = objects("Tool", Tool, [MCPTool("echo", "", {}, server_uri="http://x")])
    both = table.append_column("Tool name", pa.array(["mine"]))
    assert list(csv_columns(both))[:2] == ["Tool name (2)", "Tool kind"]
    assert csv_columns(both)["Tool name"] == ["mine"]


def test_plain_cells_become_plain_texts():
    table = pa.table(
        {
            "<RowID>": ["Row0", "Row1"],
            "text": ["a", None],
            "whole": [1, None],
            "float": [0.1, None],
            "flag": [True, False],
            "day": [dt.date(2026, 1, 2), None],
            "list": [["ä", None], None],
        }
    )
    assert csv_columns(table) == {
        "text": ["a", ""],
        "whole": ["1", ""],
        "float": ["0.1", ""],
        "flag": ["true", "false"],
        "day": ["2026-01-02", ""],
        "list": ['["ä", null]', ""],
    }


def test_dates_as_objects_are_readable_too():
    moment = dt.datetime(2026, 1, 2, 3, 4, 5)
    ktype: Any = knext.datetime()
    arrow = ktype.to_pyarrow()
    storage = pa.array([ktype.value_factory.encode(moment)], arrow.storage_type)
    assert csv_columns(pa.table({"when": pa.ExtensionArray.from_storage(arrow, storage)})) == {
        "when": ["2026-01-02T03:04:05"]
    }


def test_a_hundred_thousand_rows_are_written(tmp_path: Path):
    table = pa.table({"n": range(100_000), "t": ["x"] * 100_000})
    write_readable_csv(table, tmp_path / "n.csv")
    lines = (tmp_path / "n.csv").read_text("utf-8").splitlines()
    assert (len(lines), lines[0], lines[-1]) == (100_001, "n,t", "99999,x")


def test_an_empty_table_has_a_header(tmp_path: Path):
    write_readable_csv(CONVERSATION.slice(0, 0), tmp_path / "c.csv")
    assert (tmp_path / "c.csv").read_text("utf-8").startswith("Conversation type,Conversation name,")
