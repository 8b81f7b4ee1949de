"""`knime-mcp run`: runs a workflow and shows what came out of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knime_ext.cli.failures import ends_well

if TYPE_CHECKING:
    from knime_ext.runtime.knext.contexts import Credential

__all__ = ["credential_of", "run"]


def run(
    ctx: typer.Context,
    workflow: Annotated[
        Path,
        typer.Argument(
            metavar="WORKFLOW", help="The workflow document, or a workflow of KNIME: a .knwf file or a folder."
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NODE.PARAM=VALUE", help="Change a setting of a node, for this run only."),
    ] = None,
    credentials: Annotated[
        list[str] | None,
        typer.Option(
            "--credential",
            metavar="NAME=VARIABLE",
            help="Give nodes a credential whose password is the value of an environment variable.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for the tables and pages that the run makes.")
    ] = None,
) -> None:
    """Run a workflow and print its conversation and results."""
    with ends_well(ctx.obj):
        changed = dict(map(_setting, settings or []))
        secrets = dict(map(credential_of, credentials or []))

        from knime_ext.cli.workflow_run import run_and_print

        run_and_print(workflow, changed, out, secrets)


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


def credential_of(word: str) -> tuple[str, Credential]:
    """`name=VARIABLE` as a credential; the secret itself never stands on the command line.

    Raises:
        ConfigurationError: The word has no such form, or there is no such environment variable.
    """
    from knime_ext.errors import ConfigurationError
    from knime_ext.runtime.knext.contexts import Credential

    name, separator, variable = word.partition("=")
    if not (name and separator and variable):
        raise ConfigurationError(f"{word!r} is no credential; write it as --credential NAME=VARIABLE")
    if not os.environ.get(variable):
        raise ConfigurationError(f"credential {name!r}: the environment variable {variable!r} is not set; set it first")
    return name, Credential(username="", password=os.environ[variable], credential_name=name)
