"""All conversations of a table in an Arrow file, for those who want to look into them later."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
from pyarrow import ipc

from knime_ext.agent.batch.journal import Journal
from knime_ext.agent.batch.output_fields import OutputFields
from knime_ext.agent.batch.row_answer import RowAnswer
from knime_ext.errors import ConfigurationError

__all__ = ["save_traces"]

_ROWS_AT_ONCE = 256


def save_traces(path: Path, journal: Journal) -> None:
    """Writes number, prompt, answer and conversation of every finished row; the file appears whole or not at all.

    Args:
        path: An Arrow file; its folder is made if it does not exist.
        journal: The finished rows.

    Raises:
        ConfigurationError: It cannot be written.
    """
    output = OutputFields()
    fields = [pa.field("row", pa.int64()), pa.field("prompt", pa.string()), *output.fields(())]
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with ipc.new_file(str(partial), pa.schema(fields)) as writer:
            for numbers, answers in _pages(journal):
                prompts = pa.array([answer.prompt for answer in answers], pa.string())
                arrays = [pa.array(numbers, pa.int64()), prompts, *output.arrays(answers)]
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields)))
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ConfigurationError(
            f"cannot write {str(path)!r}: {error.strerror or error}; choose another place"
        ) from error


def _pages(journal: Journal) -> Iterator[tuple[list[int], list[RowAnswer]]]:
    rows = journal.rows()
    while page := list(islice(rows, _ROWS_AT_ONCE)):
        yield [number for number, _ in page], [RowAnswer.from_bytes(payload) for _, payload in page]
