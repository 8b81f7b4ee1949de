"""`knime-mcp tools call-rows`: one call per row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knime_ext.cli.failures import ends_well

__all__ = ["call_rows"]


def call_rows(
    ctx: typer.Context,
    server: Annotated[
        str,
        typer.Argument(metavar="SERVER", help="Address of a server, name of a provider, or FILE.arrow with tools."),
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the tool.")],
    rows: Annotated[
        Path, typer.Argument(metavar="ROWS", help="The table: a .csv, .parquet or .arrow file, one call per row.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="File for the results: .parquet, .arrow or .csv.")],
    constants: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Arguments that are the same for all rows.", show_default=False),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="ARGUMENT=COLUMN",
            help="Takes an argument from a column of another name. May be repeated.",
        ),
    ] = None,
    concurrency: Annotated[int, typer.Option("--concurrency", help="Calls at a time.", min=1, max=1000)] = 16,
    per_minute: Annotated[float, typer.Option("--per-minute", help="Most calls that begin in a minute.", min=0)] = 0,
    call_seconds: Annotated[float, typer.Option("--call-seconds", help="Seconds per call.", min=0)] = 0,
    fail: Annotated[bool, typer.Option("--fail", help="Stop at the first row that fails.")] = False,
) -> None:
    """Call a tool once per row of a table. Arguments come from columns of the same name.

    The same command goes on where it was stopped.
    """
    with ends_well(ctx.obj):
        from knime_ext.cli.call_rows_run import CallOptions, call_and_write

        call_and_write(
            CallOptions(
                server=server,
                tool=name,
                rows=rows,
                out=out,
                constants=tuple(constants or ()),
                columns=tuple(columns or ()),
                limits={"concurrency": concurrency, "per_minute": per_minute, "seconds_per_call": call_seconds},
                fail=fail,
            )
        )
