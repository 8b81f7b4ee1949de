"""`knime-mcp trace`: pages of saved runs."""

import json
from pathlib import Path

from pyarrow import parquet

from tests.agent.page_reader import Page
from tests.agent.test_saved_runs import MESSAGES, table_of
from tests.cli.process import knime_mcp


def test_a_file_of_runs_becomes_a_page(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(MESSAGES), encoding="utf-8")
    parquet.write_table(table_of(3), tmp_path / "answers.parquet")
    done = knime_mcp("trace", str(tmp_path / "run.json"))
    assert (done.returncode, done.stdout) == (0, f"Written to {tmp_path / 'run.html'}\n"), done.stderr
    assert Page((tmp_path / "run.html").read_text(encoding="utf-8")).root.one("h1").text == "Who?"
    page = tmp_path / "new" / "page.html"
    done = knime_mcp("trace", str(tmp_path / "answers.parquet"), "--html", str(page), "--title", "All answers")
    assert done.returncode == 0, done.stderr
    root = Page(page.read_text(encoding="utf-8")).root
    assert root.one("h1").text == "All answers"
    assert len(root.one("table", "batch-table").rows) == 4


def test_a_wrong_file_is_one_sentence_and_no_page(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}", encoding="utf-8")
    done = knime_mcp("trace", str(tmp_path / "run.json"))
    assert done.returncode == 2
    assert done.stderr.startswith("Error: 'run.json' holds no trace")
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
