"""`knime-mcp tools call-rows` against a real server."""

import base64
import csv
import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet
from typer.testing import CliRunner, Result

from knime_ext.cli.app import app
from tests.servers.legacy import LegacyServer, serving

PNG = base64.b64encode(b"\x89PNG").decode()
PICTURE: dict[str, Any] = {"name": "picture", "inputSchema": {"type": "object", "properties": {"n": {}}}}


async def give_picture(params: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "image", "mimeType": "image/png", "data": PNG}]}


def call_rows(server: str, *words: str) -> Result:
    return CliRunner().invoke(app, ["tools", "call-rows", server, *words])


@pytest.fixture
def amounts(tmp_path: Path) -> Path:
    file = tmp_path / "amounts.csv"
    file.write_text("amount,wanted\n10,EUR\n20,USD\nmany,EUR\n", encoding="utf-8")
    return file


def convert(server: str, amounts: Path, out: Path, *words: str) -> Result:
    mapping = ["from_currency=USD", "--column", "to_currency=wanted", "--out", str(out)]
    return call_rows(server, "convert_currency", str(amounts), *mapping, *words)


def test_every_row_is_a_call_and_results_are_columns(server_url: str, amounts: Path, tmp_path: Path) -> None:
    done = convert(server_url, amounts, out := tmp_path / "euros.csv")
    assert done.exit_code == 0
    assert done.stdout == f"3 rows written to {out}\n"
    assert "1 call failed; the error column says why." in done.stderr
    with out.open(encoding="utf-8", newline="") as file:
        [first, second, third] = csv.DictReader(file)
    assert (first["amount"], first["wanted"], first["currency"]) == ("10", "EUR", "EUR")
    assert json.loads(first["Result"])["currency"] == "EUR"
    assert float(second["amount (#1)"]) == 20
    assert (third["currency"], "'amount' must be of type number" in third["Error"]) == ("", True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["amounts.csv", "euros.csv"]


def test_a_row_that_must_not_fail_stops_the_command_and_finished_rows_are_kept(
    server_url: str, amounts: Path, tmp_path: Path
) -> None:
    done = convert(server_url, amounts, out := tmp_path / "euros.csv", "--fail", "--concurrency", "1")
    assert done.exit_code != 0
    assert "Row 'Row2' failed: the arguments of 'Convert currency' do not fit" in done.stderr
    assert not out.exists()
    assert (tmp_path / "euros.csv.run" / "journals" / "call.sqlite").is_file()


def test_tools_come_from_a_file_too_and_bytes_stay_bytes(tmp_path: Path) -> None:
    rows, tools = tmp_path / "rows.csv", tmp_path / "tools.arrow"
    rows.write_text("n\n1\n", encoding="utf-8")
    with serving(LegacyServer(tools=[PICTURE], on_call=give_picture)) as server:
        assert CliRunner().invoke(app, ["tools", "export", server.url, str(tools)]).exit_code == 0
        for out in ("out.parquet", "out.csv"):
            assert call_rows(str(tools), "picture", str(rows), "--out", str(tmp_path / out)).exit_code == 0
    [row] = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert (row["Media 1"], row["Media type 1"]) == (b"\x89PNG", "image/png")
    assert PNG in (tmp_path / "out.csv").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["convert", "amounts.csv", "--out", "x.csv"], "has no tool 'convert'"),
        (["convert_currency", "amounts.csv", "--out", "x.csv"], "requires the argument 'from_currency'"),
        (["convert_currency", "amounts.csv", "EUR", "--out", "x.csv"], "'EUR' is no argument; write name=value"),
        (["convert_currency", "gone.csv", "--out", "x.csv"], "there is no file 'gone.csv'"),
        (["convert_currency", "amounts.csv", "--out", "x.txt"], "is of no known kind"),
    ],
)
def test_what_cannot_be_called_is_said(
    server_url: str, amounts: Path, words: list[str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(amounts.parent)
    done = call_rows(server_url, *words)
    assert done.exit_code != 0
    assert reason.lower() in done.stderr.lower()
