"""Where a node that works row by row writes down what is finished."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from knime_ext.agent.batch.journal import Journal

__all__ = ["open_journal", "remove_journal"]


def open_journal(ctx: Any, fingerprint: str) -> Journal:
    """The journal of this node's rows, with what an execution that was ended before has finished.

    In the embedded runtime it lies in the folder of the run, where the next run into the same folder finds it, and
    belongs to the node: what was written for other inputs or settings is forgotten. In KNIME it lies among the
    temporary files of the workflow, which last while the workflow is open.

    Args:
        ctx: The node's context.
        fingerprint: What the rows and the settings are.
    """
    from knime_ext.agent.batch.journal import Journal
    from knime_ext.errors import JournalInUse, OtherRun

    beside = getattr(ctx, "_node_folder", None)
    if beside is not None:
        node: Path = beside()
        path = node.parent.parent / "journals" / f"{node.name}.sqlite"
    else:
        path = Path(ctx.get_workflow_temp_dir()) / f"rows-{fingerprint[:32]}.sqlite"
    try:
        return Journal.open(path, fingerprint=fingerprint)
    except OtherRun:
        return Journal.open(path, fingerprint=fingerprint, fresh=True)
    except JournalInUse:  # by a node that does the very same at this moment
        return Journal.open(path.with_stem(f"{path.stem}-{uuid4().hex[:8]}"), fingerprint=fingerprint)


def remove_journal(journal: Journal) -> None:
    """Deletes the journal of rows that are all in the node's output."""
    journal.remove()
    with suppress(OSError):  # others lie there too
        if journal.path.parent.name == "journals":
            journal.path.parent.rmdir()
