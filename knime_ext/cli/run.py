"""`knime-mcp run`: runs a workflow and shows what came out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knime_ext.cli.failures import ends_well

__all__ = ["run"]


def run(
    ctx: typer.Context,
    workflow: Annotated[Path, typer.Argument(metavar="WORKFLOW.json", help="The workflow document.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NODE.PARAM=VALUE", help="Change a setting of a node, for this run only."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for the tables and pages that the run makes.")
    ] = None,
) -> None:
    """Run a workflow and print its conversation and results."""
    with ends_well(ctx.obj):
        from knime_ext.cli.workflow_run import run_and_print

        run_and_print(workflow, dict(map(_setting, settings or [])), out)


def _setting(word: str) -> tuple[str, str]:
    """`node.param=value` as key and text; the runtime's schema decides about the type.

    Raises:
        ConfigurationError: The word has no such form.
    """
    from knime_ext.errors import ConfigurationError

    key, separator, value = word.partition("=")
    node, dot, parameter = key.partition(".")
    if not (separator and dot and node and parameter):
        raise ConfigurationError(f"{word!r} is no setting; write it as --set NODE.PARAM=VALUE")
    return key, value
