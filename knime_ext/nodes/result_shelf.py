"""Where a node keeps the results of tools that are too long for a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from knime_ext.mcp import ResultFiles

__all__ = ["result_shelf"]


def result_shelf(ctx: Any) -> ResultFiles:
    """A folder beside the node's outputs; in KNIME one among the temporary files of the workflow.

    Args:
        ctx: The node's context. Nothing is made before the first result comes.
    """
    from knime_ext.mcp import ResultFiles

    beside = getattr(ctx, "_node_folder", None)
    if beside is not None:
        return ResultFiles(beside() / "results")
    return ResultFiles(Path(ctx.get_workflow_temp_dir()) / f"tool-results-{uuid4().hex}")
