"""Finished rows on disk: each is written the moment it is done, so that nothing is done twice after a crash.

A journal is an SQLite file with a write-ahead log: a row that `record` has taken is there after a kill -9, and a power
cut loses at most the newest rows, never the file. Rows are only ever added. It knows nothing about what a row holds.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
import threading
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from knime_ext.errors import ConfigurationError, JournalInUse, OtherRun

__all__ = ["Journal", "fingerprint"]

_OURS = 0x4B4D4A31
"""SQLite's application id of a journal: "KMJ1"."""

_PAGE = 64

_TABLES = """
BEGIN IMMEDIATE;
CREATE TABLE about (fingerprint TEXT NOT NULL);
CREATE TABLE finished (number INTEGER PRIMARY KEY, payload BLOB NOT NULL);
PRAGMA application_id = {ours};
COMMIT;
"""


def fingerprint(settings: Any, content: Iterable[bytes] = ()) -> str:
    """What tells a run from every other one: a digest of its settings and its input.

    Args:
        settings: Anything that JSON can hold; the order of keys does not matter.
        content: The input, in pieces; how it is cut does not matter.
    """
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    digest.update(b"\0")
    for piece in content:
        digest.update(piece)
    return digest.hexdigest()


class Journal:
    """The finished rows of one run. Made by `open`; may be used from any thread; a context manager that closes it.

    with Journal.open(path, fingerprint=fingerprint(settings, pieces)) as journal:
        journal.record(0, b"...")
        assert 0 in journal
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = threading.Lock()

    @classmethod
    def open(cls, path: Path, *, fingerprint: str, fresh: bool = False) -> Journal:
        """Opens the journal of a run, or begins it.

        Args:
            path: The file; its folder is made if it does not exist.
            fingerprint: What the run is, see `fingerprint`.
            fresh: True forgets the rows that are there, whatever run they are of.

        Raises:
            OtherRun: It belongs to other inputs or settings.
            JournalInUse: Another run has it open.
            ConfigurationError: The file is no journal, is damaged, or cannot be written.
        """
        with _explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0.2)
        try:
            with _explained(path):
                _prepare(connection, path, fingerprint, fresh=fresh)
        except BaseException:
            connection.close()
            raise
        return cls(path, connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; may be called twice."""
        with self._lock, _explained(self.path):
            self._connection.close()

    def remove(self) -> None:
        """Closes and deletes the file: nobody needs it any more."""
        self.close()
        with _explained(self.path):
            for ending in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    def record(self, number: int, payload: bytes) -> None:
        """Adds a finished row; the first one with a number stays.

        Args:
            number: Position of the row in the input, from 0.
            payload: Whatever the run needs to know of it later.

        Raises:
            ConfigurationError: It cannot be written.
        """
        self._ask("INSERT OR IGNORE INTO finished VALUES (?, ?)", number, payload)

    def __contains__(self, number: object) -> bool:
        return bool(self._ask("SELECT 1 FROM finished WHERE number = ?", number))

    def __len__(self) -> int:
        return int(self._ask("SELECT count(*) FROM finished")[0][0])

    def payload(self, number: int) -> bytes | None:
        """What was recorded of a row, None if it is not finished."""
        found = self._ask("SELECT payload FROM finished WHERE number = ?", number)
        return found[0][0] if found else None

    def finished(self) -> set[int]:
        """The numbers of all finished rows."""
        return {number for (number,) in self._ask("SELECT number FROM finished")}

    def rows(self) -> Iterator[tuple[int, bytes]]:
        """Number and payload of all finished rows, by number; a few at a time are in memory."""
        last = -1
        while page := self._ask(
            f"SELECT number, payload FROM finished WHERE number > ? ORDER BY number LIMIT {_PAGE}", last
        ):
            yield from page
            last = page[-1][0]

    def forget(self, numbers: Iterable[int]) -> None:
        """Takes rows out that are to be done again."""
        with self._lock, _explained(self.path), self._connection:
            self._connection.execute("BEGIN")
            self._connection.executemany("DELETE FROM finished WHERE number = ?", ((number,) for number in numbers))

    def _ask(self, statement: str, *values: Any) -> list[Any]:
        with self._lock, _explained(self.path):
            return self._connection.execute(statement, values).fetchall()


def _prepare(connection: sqlite3.Connection, path: Path, fingerprint: str, *, fresh: bool) -> None:
    # Exclusive: a second run over the same rows would do all of them twice. The lock ends with the process.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    [(made_by,)] = connection.execute("PRAGMA application_id").fetchall()
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if made_by != _OURS and tables:
        raise ConfigurationError(f"{str(path)!r} is no journal but some other database; choose another file.")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    if not tables:
        connection.executescript(_TABLES.format(ours=_OURS))
    connection.execute("BEGIN IMMEDIATE")
    known = connection.execute("SELECT fingerprint FROM about").fetchone()
    if fresh:
        connection.execute("DELETE FROM finished")
        connection.execute("DELETE FROM about")
    if fresh or known is None:
        connection.execute("INSERT INTO about VALUES (?)", (fingerprint,))
    elif known[0] != fingerprint:
        raise OtherRun(
            f"the journal {str(path)!r} belongs to a run with other inputs or settings; start afresh, choose another "
            "output, or run again what it belongs to."
        )
    connection.execute("COMMIT")


@contextlib.contextmanager
def _explained(path: Path) -> Generator[None]:
    """Turns errors of the database and of the file system into sentences."""
    try:
        yield
    except sqlite3.ProgrammingError as error:
        raise ConfigurationError(f"the journal {str(path)!r} is closed.") from error
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorname", "")
        if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise JournalInUse(
                f"the journal {str(path)!r} is in use by another run; wait for its end or choose another output."
            ) from error
        if code.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            raise ConfigurationError(
                f"the journal {str(path)!r} is damaged or no journal ({error}); delete it or choose another output."
            ) from error
        raise ConfigurationError(
            f"the journal {str(path)!r} cannot be used: {error}; free space, fix permissions or choose another place."
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(
            f"the journal {str(path)!r} cannot be used: {reason}; free space, fix permissions or choose another place."
        ) from error
