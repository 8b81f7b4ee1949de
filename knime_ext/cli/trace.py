"""`knime-mcp trace`: makes the page of runs that were saved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knime_ext.cli.failures import ends_well

__all__ = ["trace"]


def trace(
    ctx: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Traces or messages as JSON, or answers of a batch with their traces as Arrow or Parquet.",
        ),
    ],
    html: Annotated[
        Path | None, typer.Option("--html", metavar="PAGE.html", help="The page; beside the file if not given.")
    ] = None,
    answer: Annotated[
        str | None, typer.Option("--answer", metavar="COLUMN", help="The answer column, if the table has several.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Heading of the page.")] = None,
) -> None:
    """Make a page of saved runs: conversations with every tool call, its result and its time."""
    with ends_well(ctx.obj):
        from knime_ext.cli.trace_file import page_of_file
        from knime_ext.runtime.atomic import write_text

        page = html or file.with_suffix(".html")
        write_text(page, page_of_file(file, answer, title or file.stem))
        print(f"Written to {page}")
