"""Long results are shortened for a model, which can read on by a handle; nothing is lost."""

import asyncio
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.errors import ConfigurationError, InvalidArguments
from knime_ext.mcp import ResultFiles
from knime_ext.testing import RecordingToolset
from knime_ext.tools import READ_MORE, ToolResult, read_more, shelved_text

LONG = "".join(f"line {number}: Grüße 🎉\r\n" for number in range(100))
MARK = re.compile(r"handle '(?P<handle>[^']+)' and offset (?P<offset>\d+)\.\]$")


def test_a_short_result_stays_as_it_is(tmp_path: Path):
    shelf = ResultFiles(tmp_path / "results")
    result = ToolResult(content=[{"type": "image", "data": "", "mimeType": "image/png"}], structured={"a": 1})
    tools = RecordingToolset({"x": result}).shelved(shelf)
    assert asyncio.run(tools.call("x", {})) is result
    assert not shelf.folder.exists()


def test_a_long_result_goes_to_a_file_and_can_be_read_to_its_end(tmp_path: Path):
    shelf = ResultFiles(tmp_path / "results")
    tools = RecordingToolset({"x": LONG}).shelved(shelf, 300)
    whole = ToolResult.of_text(LONG).text
    text, parts = asyncio.run(tools.call("x", {})).text, list[str]()
    while mark := MARK.search(text):
        parts.append(text.rpartition("\n\n[")[0])
        arguments = {"handle": mark["handle"], "offset": int(mark["offset"])}
        text = asyncio.run(tools.call("read_more", arguments)).text
    assert "the end of the result" in text
    assert "".join([*parts, text.rpartition("\n\n[")[0]]) == whole
    assert all(len(part) == 300 for part in parts)
    (file,) = shelf.folder.iterdir()
    assert file.read_text(encoding="utf-8") == whole


@given(st.text(min_size=1, max_size=80), st.integers(1, 20))
def test_every_text_is_read_whole_whatever_the_limit(tmp_path_factory: pytest.TempPathFactory, text: str, limit: int):
    shelf = ResultFiles(tmp_path_factory.mktemp("results"))
    try:
        text.encode()
    except UnicodeEncodeError:
        text = "x"
    handle = shelf.put(text)
    parts = [shelf.read(handle, offset, limit) for offset in range(0, len(text), limit)]
    assert "".join(parts) == text
    assert shelf.size(handle) == len(text)


def test_a_failure_stays_a_failure_when_it_is_shortened(tmp_path: Path):
    long = ToolResult.of_text(LONG, is_error=True)
    tools = RecordingToolset({"x": long}).shelved(ResultFiles(tmp_path), 100)
    result = asyncio.run(tools.call("x", {}))
    assert result.is_error and len(result.text) < 300


def test_the_tool_to_read_on_takes_a_free_name(tmp_path: Path):
    tools = RecordingToolset({"read_more": LONG}).shelved(ResultFiles(tmp_path), 100)
    assert [tool.name for tool in asyncio.run(tools.list_definitions())] == ["read_more", "read_more_2"]
    text = asyncio.run(tools.call("read_more", {})).text
    assert "call read_more_2 with handle" in text
    mark = MARK.search(text)
    assert mark is not None
    more = asyncio.run(tools.call("read_more_2", {"handle": mark["handle"], "offset": 100})).text
    assert "call read_more_2 with handle" in more


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"handle": "result-0123456789abcdef", "offset": 0}, "no result has the handle"),
        ({"handle": "../../etc/passwd", "offset": 0}, "no result has the handle"),
        ({"handle": "{handle}", "offset": 10_000}, "there is nothing at 10000"),
        ({"handle": "{handle}", "offset": -1}, "do not fit"),
        ({"handle": "{handle}"}, "must have 'offset'"),
    ],
)
def test_a_model_cannot_read_what_is_not_there(tmp_path: Path, arguments: dict[str, object], fault: str):
    (tmp_path / "result-0123456789abcdef.txt").write_text("of another run", encoding="utf-8")
    shelf = ResultFiles(tmp_path)
    handle = shelf.put("x" * 50)
    given = {**arguments, "handle": str(arguments["handle"]).format(handle=handle)}
    with pytest.raises(InvalidArguments, match=fault):
        read_more(given, shelf)


def test_equal_results_share_a_file_and_a_folder_that_cannot_be_written_is_named(tmp_path: Path):
    shelf = ResultFiles(tmp_path / "results")
    assert shelved_text(LONG, shelf, 10) == shelved_text(LONG, shelf, 10)
    assert len(list(shelf.folder.iterdir())) == 1
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="cannot write the long result"):
        ResultFiles(tmp_path / "file" / "below").put("x")
    assert READ_MORE.annotations["readOnlyHint"] is True
