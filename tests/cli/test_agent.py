"""`knime-mcp agent` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from typer.testing import CliRunner

from knime_ext.cli.agent_run import answer_form
from knime_ext.cli.app import app
from knime_ext.errors import ConfigurationError
from tests.agent.openai_server import completion, failure, openai_service
from tests.agent_batch.tool_server import tool_server, weighing
from tests.cli.process import in_this_process, knime_mcp


@pytest.fixture
def things(tmp_path: Path) -> Path:
    csv.write_csv(pa.table({"The thing": ["ball", "pen", "cup"]}), tmp_path / "things.csv")
    return tmp_path


def test_a_preview_is_part_of_the_whole_table_and_tools_come_by_alias(things: Path) -> None:
    out = str(things / "out.parquet")
    words = ["agent", str(things / "things.csv"), "--prompt", "{{ row['The thing'] }}", "--tool-alias", "scales"]
    with tool_server() as server, openai_service(weighing()) as model:
        words += ["--model", "openai:tiny", "--base-url", model.url, "--out", out, "--api-key-env", "MY_KEY"]
        (things / "providers.yaml").write_text(
            f"providers:\n  tools:\n    provider_type: http\n    url: {server.url}\n", encoding="utf-8"
        )
        (things / "tool_configs.yaml").write_text(
            "tool_configs:\n  scales:\n    providers: [tools]\n    allow_tools: [weigh, col*]\n", encoding="utf-8"
        )
        env = {"KNIME_MCP_HOME": str(things), "MY_KEY": "secret-key-4711"}
        preview = CliRunner().invoke(app, [*words, "--rows", "2", "--html", str(things / "page.html")], env=env)
        assert preview.exit_code == 0, preview.output
        assert parquet.read_table(things / "out.parquet")["The thing"].to_pylist() == ["ball", "pen"]
        whole = knime_mcp(*words, cwd=things, **env)
    assert whole.returncode == 0, whole.stderr
    assert "3 rows, 2 of them before, 0 failed, 36 tokens" in whole.stderr
    assert whole.stdout == f"Written to {out}\n"
    table = parquet.read_table(things / "out.parquet")
    assert table["answer"].to_pylist() == [f"weight of {it} and colour of {it}" for it in ("ball", "pen", "cup")]
    assert model.keys == ["Bearer secret-key-4711"] * 6
    assert "colour of pen" in (things / "page.html").read_text("utf-8")
    assert "secret-key-4711" not in preview.stderr + whole.stderr


def test_a_failing_row_is_written_down_or_ends_the_command(things: Path) -> None:
    words = ["agent", str(things / "things.csv"), "--prompt", "{{ row['The thing'] }}", "--model", "openai:tiny"]
    words += ["--out", str(things / "o.csv"), "--concurrency", "1", "--attempts", "1"]
    replies = [completion("round"), failure(400, "no pens"), failure(400, "no pens"), completion("late")]
    with openai_service(replies) as model:
        words += ["--base-url", model.url]
        stopped = CliRunner().invoke(app, [*words, "--on-error", "fail"])
        assert stopped.exit_code == 1
        assert "Error: Row 2 failed: the chat model 'tiny' rejected the request" in stopped.stderr
        assert not (things / "o.csv").exists()
        written = CliRunner().invoke(app, words)
    assert written.exit_code == 0
    assert "3 rows, 1 of them before, 1 failed" in written.stderr
    assert "--retry-failed to ask for the 1 row again" in written.stderr
    assert csv.read_csv(things / "o.csv")["answer"].to_pylist() == ["round", "", "late"]


def test_the_form_of_answers_is_given_by_fields_or_by_a_schema(tmp_path: Path) -> None:
    form = answer_form(["price:number:Price in EUR: a number", "name"], None)
    assert form is not None
    assert form.properties == {
        "price": {"type": "number", "description": "Price in EUR: a number"},
        "name": {"type": "string"},
    }
    (tmp_path / "schema.json").write_text('{"properties": {"a": {"type": "integer"}}}', encoding="utf-8")
    again = answer_form([], tmp_path / "schema.json")
    assert again is not None
    assert list(again.properties) == ["a"]
    assert answer_form([], None) is None
    with pytest.raises(ConfigurationError, match="not both"):
        answer_form(["a"], tmp_path / "schema.json")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        answer_form([], tmp_path / "none.json")


def test_rows_reach_servers_that_the_person_has_listed_and_failed_calls_are_told(things: Path, server_url: str) -> None:
    csv.write_csv(pa.table({"amount": [10]}), things / "amounts.csv")
    tools, out = str(things / "tools.arrow"), str(things / "out.csv")
    words = ["agent", str(things / "amounts.csv"), "--prompt", "How much is {{ amount }} USD in EUR?"]
    words += ["--tools", tools, "--model", "offline", "--out", out]
    home = str(things / "home")
    in_this_process("tools", "export", server_url, tools, KNIME_MCP_HOME=home)
    elsewhere = knime_mcp(*words, KNIME_MCP_HOME=str(things / "other"), KNIME_MCP_ALLOW="")
    assert "1 answer came about with failed tool calls; --html PAGE.html shows them." in elsewhere.stderr
    here = knime_mcp(*words, KNIME_MCP_HOME=home, KNIME_MCP_ALLOW="")
    assert "failed tool calls" not in here.stderr
    assert "EUR (rate" in csv.read_csv(out)["answer"].to_pylist()[0]
