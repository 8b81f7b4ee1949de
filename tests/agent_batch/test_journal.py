"""The journal of finished rows: what it took is there, whatever happened afterwards."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knime_ext.agent.batch.journal import Journal, fingerprint
from knime_ext.errors import ConfigurationError, JournalInUse, OtherRun

NUMBERS = st.integers(min_value=0, max_value=2**62)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(NUMBERS, st.binary(max_size=200)), max_size=150), st.integers(0, 150))
def test_a_journal_gives_back_what_it_took_in_order_of_the_rows(rows: list[tuple[int, bytes]], cut: int) -> None:
    first: dict[int, bytes] = {}
    for number, payload in rows:
        first.setdefault(number, payload)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal"
        for part in (rows[:cut], rows[cut:]):
            with Journal.open(path, fingerprint="same") as journal:
                for number, payload in part:
                    journal.record(number, payload)
        with Journal.open(path, fingerprint="same") as journal:
            assert list(journal.rows()) == sorted(first.items())
            assert journal.finished() == set(first)
            assert len(journal) == len(first)
            assert all(number in journal and journal.payload(number) == payload for number, payload in first.items())
            assert journal.payload(2**62 + 1) is None


KILLED = """
import sys
from itertools import count
from pathlib import Path
from knime_ext.agent.batch.journal import Journal
journal = Journal.open(Path(sys.argv[1]), fingerprint="same")
for number in count():
    journal.record(number, b"x" * 1000)
    print(number, flush=True)
"""


def test_every_row_that_was_recorded_is_there_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    told = [int(process.stdout.readline()) for _ in range(100)]
    with pytest.raises(JournalInUse, match="in use by another run"):
        Journal.open(path, fingerprint="same")
    os.kill(process.pid, signal.SIGKILL)
    told += [int(line) for line in process.stdout.read().split(b"\n") if line.strip()]
    process.wait(10)
    process.stdout.close()
    with Journal.open(path, fingerprint="same") as journal:
        assert set(told) <= journal.finished()
        assert all(payload == b"x" * 1000 for _, payload in journal.rows())


def test_a_journal_of_another_run_is_refused_or_begun_afresh(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "journal"
    with Journal.open(path, fingerprint="one") as journal:
        journal.record(7, b"seven")
    with pytest.raises(OtherRun, match="other inputs or settings; start afresh"):
        Journal.open(path, fingerprint="two")
    with Journal.open(path, fingerprint="one") as journal:
        assert journal.finished() == {7}
    with Journal.open(path, fingerprint="two", fresh=True) as journal:
        assert journal.finished() == set()
        journal.record(1, b"one")
    with Journal.open(path, fingerprint="two") as journal:
        assert journal.finished() == {1}


def test_rows_can_be_taken_out_to_be_done_again(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "journal", fingerprint="one") as journal:
        for number in range(5):
            journal.record(number, b"old")
        journal.forget([1, 3, 99])
        journal.record(3, b"new")
        assert list(journal.rows()) == [(0, b"old"), (2, b"old"), (3, b"new"), (4, b"old")]


def test_only_our_own_files_are_touched(tmp_path: Path) -> None:
    database, text = tmp_path / "other.db", tmp_path / "notes.txt"
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE precious (x)")
    connection.close()
    text.write_text("precious " * 1000, encoding="utf-8")
    before = database.read_bytes(), text.read_bytes()
    with pytest.raises(ConfigurationError, match="is no journal but some other database"):
        Journal.open(database, fingerprint="one", fresh=True)
    with pytest.raises(ConfigurationError, match="damaged or no journal"):
        Journal.open(text, fingerprint="one", fresh=True)
    assert (database.read_bytes(), text.read_bytes()) == before


def test_a_removed_journal_leaves_nothing_behind(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "journal", fingerprint="one")
    journal.record(0, b"zero")
    journal.remove()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ConfigurationError, match="is closed"):
        journal.record(1, b"one")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="cannot be used"):
        Journal.open(tmp_path / "file" / "journal", fingerprint="one")


def test_a_fingerprint_depends_on_settings_and_content_alone() -> None:
    known = fingerprint({"a": 1, "b": [2]}, [b"one", b"two"])
    assert known == fingerprint({"b": [2], "a": 1}, [b"onet", b"wo"])
    assert len({known, fingerprint({"a": 1}, [b"onetwo"]), fingerprint({"a": 1, "b": [2]}, [b"onetw"])}) == 3
