"""`knime-mcp tools` against a real server."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from knime.types.tool import MCPTool, Tool
from knime_ext.cli.app import app
from knime_ext.runtime.knext import Column, Schema, logical
from knime_ext.runtime.knext.arrow_files import read_table
from knime_ext.tools import decode_tools
from tests.cli.process import COMMAND, ROOT, knime_mcp

NOBODY = "http://127.0.0.1:9/mcp"  # the port "discard", where nobody listens


def tools(*words: str) -> Result:
    return CliRunner().invoke(app, ["tools", *words])


def test_list_shows_names_descriptions_and_arguments_with_types(server_url: str) -> None:
    done = tools("list", server_url)
    assert done.exit_code == 0
    heading, _, columns, *rows = done.stdout.splitlines()
    assert heading.startswith("orders-helper 1.0.0: 3 tools, MCP 20")
    assert columns.split("  ")[0] == "Name"
    row = next(row for row in rows if row.startswith("shipping_estimate"))
    assert "Estimates price (EUR) and delivery time (days) of a parcel by region and weight." in row
    assert row.rstrip().endswith("region*: string, weight_kg*: number, express: boolean")


def test_a_registered_provider_can_be_named_instead_of_an_address(
    server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIME_MCP_HOME", str(tmp_path / "home"))
    CliRunner().invoke(app, ["config", "mcp", "add", "orders", "--url", server_url, "--type", "sse"])
    assert "convert_currency" in tools("list", "orders").stdout
    done = tools("call", "orders", "convert_currency", "amount=5", "from_currency=USD", "to_currency=USD")
    assert json.loads(done.stdout)["amount"] == 5
    file = tmp_path / "tools.arrow"
    tools("export", "orders", str(file))
    [first, *_] = decode_tools(read_table(file).to_pyarrow().column("Tool"))
    assert isinstance(first, MCPTool)
    assert (first.provider, first.server_uri) == ("orders", server_url)


def test_an_unknown_provider_is_named_with_the_known_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNIME_MCP_HOME", str(tmp_path / "home"))
    done = CliRunner().invoke(app, ["tools", "list", "nowhere"])
    assert done.exit_code != 0
    assert "no provider 'nowhere' is registered" in done.stderr.lower()


def test_list_as_json_has_the_schemas_of_the_server(server_url: str) -> None:
    listing: dict[str, Any] = json.loads(tools("list", server_url, "--json").stdout)
    assert listing["server"] == server_url
    assert listing["problems"] == []
    assert [each["name"] for each in listing["tools"]] == ["convert_currency", "shipping_estimate", "days_between"]
    convert = listing["tools"][0]
    assert convert["inputSchema"]["required"] == ["amount", "from_currency", "to_currency"]
    assert convert["annotations"]["readOnlyHint"] is True


def test_call_converts_words_by_the_schema_and_prints_the_result(server_url: str) -> None:
    done = tools("call", server_url, "convert_currency", "amount=100", "from_currency=EUR", "to_currency=EUR")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["amount"] == 100
    done = tools("call", server_url, "shipping_estimate", "region=Europe", "weight_kg=2.5", "express=yes")
    express = json.loads(done.stdout)["price_eur"]
    done = tools("call", server_url, "shipping_estimate", "--json", '{"region": "Europe", "weight_kg": 2.5}')
    assert express == 2 * json.loads(done.stdout)["price_eur"]


def test_call_can_print_the_whole_result(server_url: str) -> None:
    words = ["amount=1", "from_currency=USD", "to_currency=USD", "--raw"]
    whole = json.loads(tools("call", server_url, "convert_currency", *words).stdout)
    assert whole["structuredContent"]["amount"] == 1
    assert whole["content"][0]["type"] == "text"
    assert whole["isError"] is False


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["nonsense"], 2, "The server has no tool 'nonsense'; its tools are 'convert_currency', 'shipping_estimate', "),
        (["convert_currency", "amount=much"], 2, "Argument 'amount' must be a number, not 'much'"),
        (["convert_currency", "amuont=1"], 2, "The tool has no argument 'amuont'; did you mean 'amount'?"),
        (["convert_currency", "amount=1"], 2, "must have 'from_currency', 'to_currency'"),
        (["convert_currency", "amount=1", "--json", "{}"], 2, "either as name=value words or with --json, not both"),
        (["convert_currency", "--json", "{"], 2, "The arguments are not JSON"),
        (["days_between", "start=yesterday", "end=2026-01-01"], 1, "Tool 'days_between' failed: "),
    ],
)
def test_a_call_that_cannot_be_made_or_fails_is_one_sentence(
    server_url: str, words: list[str], code: int, sentence: str
) -> None:
    done = tools("call", server_url, *words)
    assert done.exit_code == code
    assert sentence in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_tool_that_fails_can_still_be_looked_at_whole(server_url: str) -> None:
    done = tools("call", server_url, "days_between", "start=yesterday", "end=2026-01-01", "--raw")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["isError"] is True


def test_export_writes_the_tool_column_that_a_node_would_write(server_url: str, tmp_path: Path) -> None:
    file = tmp_path / "new folder" / "tools.arrow"
    done = tools("export", server_url, str(file))
    assert (done.exit_code, done.stdout) == (0, f"3 tools written to {file}\n")
    table = read_table(file)
    assert table.schema == Schema.from_columns([Column(logical(Tool), "Tool")])
    written = [tool for tool in decode_tools(table.to_pyarrow().column("Tool")) if isinstance(tool, MCPTool)]
    assert [tool.tool_name for tool in written] == ["convert_currency", "shipping_estimate", "days_between"]
    assert {tool.server_uri for tool in written} == {server_url}
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("words", [["list"], ["call", "x"], ["export", "x.arrow"]])
def test_a_server_that_is_not_there_is_one_sentence_and_leaves_no_file(words: list[str], tmp_path: Path) -> None:
    command, *rest = words
    done = knime_mcp("tools", command, NOBODY, *rest, "--timeout", "5", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert "127.0.0.1:9" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_address_with_a_password_is_refused_without_repeating_it() -> None:
    done = tools("list", "http://me:hunter2@localhost/")
    assert done.exit_code == 2
    assert "user name or password" in done.stderr
    assert "hunter2" not in done.stderr


def test_debug_adds_the_traceback() -> None:
    done = CliRunner().invoke(app, ["--debug", "tools", "list", "not an address"])
    assert done.exit_code == 2
    assert "Traceback (most recent call last)" in done.stderr


def test_a_reader_that_closes_the_pipe_is_no_error(server_url: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as pipe:
        command = [*COMMAND, "tools", "list", server_url]
        done = subprocess.run(command, cwd=ROOT, stdout=pipe, stderr=subprocess.PIPE, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
