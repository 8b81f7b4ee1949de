"""The command line's entry: global options and the list of commands."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from knime_ext import __version__
from knime_ext.cli import agent, auth, chat, config, demo, export, run, serve, tools, trace

__all__ = ["app", "main"]

# No rich help: its modules alone take longer to import than everything else together.
app = typer.Typer(
    name="knime-mcp",
    help="Tools of MCP servers and workflows as table rows, and agents that call them.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
)
app.command("demo")(demo.demo)
app.command("run")(run.run)
app.command("agent")(agent.agent)
app.command("chat")(chat.chat)
app.command("export")(export.export)
app.command("trace")(trace.trace)
app.command("serve")(serve.serve)
app.add_typer(tools.app, name="tools")
app.add_typer(config.app, name="config")
app.add_typer(auth.app, name="auth")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"knime-mcp {__version__}")
        raise typer.Exit


@app.callback()
def _options(  # pyright: ignore[reportUnusedFunction]
    ctx: typer.Context,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks of errors and what the libraries log.")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    ctx.obj = debug
    if debug:
        logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    else:
        # Errors come as sentences of ours; without a handler Python would print the libraries' warnings too.
        logging.getLogger().addHandler(logging.NullHandler())


def main() -> None:
    """Runs the command line and exits."""
    app()


if __name__ == "__main__":
    main()
