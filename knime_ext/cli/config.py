"""`knime-mcp config`: the operator's files, by questions or by options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knime_ext.cli import config_providers, config_tools
from knime_ext.cli.failures import ends_well

__all__ = ["app"]

app = typer.Typer(help="Register MCP servers and choose their tools.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(config_providers.app, name="mcp")
app.add_typer(config_tools.app, name="tools")


@app.command("import")
def import_servers(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A JSON file with `mcpServers`.")],
    replace: Annotated[bool, typer.Option("--replace", help="Replace providers of the same name.")] = False,
) -> None:
    """Register the servers that a desktop host has in its configuration file."""
    with ends_well(ctx.obj):
        from knime_ext.cli.terminal import counted
        from knime_ext.mcp.provider_import import read_desktop_file
        from knime_ext.mcp.providers import load_providers, providers_path, save_provider

        found = read_desktop_file(file)
        known = load_providers()
        taken = 0
        for provider in found.providers:
            if provider.name in known and not replace:
                typer.echo(f"Left out: provider {provider.name!r} exists; --replace replaces it", err=True)
                continue
            save_provider(provider)
            taken += 1
        for problem in found.problems:
            typer.echo(f"Note: {problem}", err=True)
        print(f"{counted(taken, 'provider')} registered in {providers_path()}")
