"""`knime-mcp export`: writes a workflow in KNIME's own format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knime_ext.cli.failures import ends_well

__all__ = ["export"]


def export(
    ctx: typer.Context,
    workflow: Annotated[Path, typer.Argument(metavar="WORKFLOW.json", help="The workflow document.")],
    out: Annotated[Path, typer.Argument(metavar="OUT.knwf", help="The file that KNIME imports.")],
) -> None:
    """Write a workflow as a file that KNIME can import."""
    with ends_well(ctx.obj):
        from knime_ext.cli.terminal import counted
        from knime_ext.runtime import NodeRegistry, load_workflow
        from knime_ext.runtime.knime_workflow import write_knime_workflow

        document = load_workflow(workflow)
        written = write_knime_workflow(document, out, NodeRegistry.load(), workflow.resolve().parent)
        print(f"Written to {written.path}: {counted(written.nodes, 'node')}, {counted(len(written.files), 'file')}")
        for note in written.notes:
            print(f"  {note}")
