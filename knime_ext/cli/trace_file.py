"""The page of a file of saved runs."""

from __future__ import annotations

from pathlib import Path

from knime_ext.agent import render_batch, render_trace
from knime_ext.agent.page.saved import read_runs, rows_of_traces

__all__ = ["page_of_file"]

_JSON = (".json", ".jsonl", ".ndjson")


def page_of_file(path: Path, answer: str | None, title: str) -> str:
    """The page of one run or of many, whatever the file holds.

    Raises:
        ConfigurationError: The file cannot be read, or holds no runs.
    """
    if path.suffix.lower() not in _JSON:
        from knime_ext.agent.page.answer_table import answer_rows

        return render_batch(answer_rows(path, answer), title)
    runs = read_runs(path)
    return render_batch(rows_of_traces(runs), title) if isinstance(runs, list) else render_trace(runs, title)
