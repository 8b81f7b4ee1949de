"""`knime-mcp demo`: the main job on an example, with a real MCP server on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knime_ext.cli.failures import ends_well

__all__ = ["demo"]


def demo(
    ctx: typer.Context,
    question: Annotated[
        str | None, typer.Option("--question", metavar="TEXT", help="Ask something else about the orders.")
    ] = None,
    orders: Annotated[
        Path | None, typer.Option("--orders", metavar="FILE.csv", help="Use other orders, with the same columns.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the results.")] = Path("out/demo"),
) -> None:
    """Run the example: an agent that uses an MCP server and workflows to answer a question about orders."""
    with ends_well(ctx.obj):
        from knime_ext.cli.example import orders_agent, running_server
        from knime_ext.cli.terminal import console
        from knime_ext.cli.workflow_run import run_and_print
        from knime_ext.errors import ConfigurationError

        folder = orders_agent()
        settings = {"agent.user_message": question} if question else {}
        if orders is not None:
            if not orders.is_file():
                raise ConfigurationError(f"there is no file {str(orders)!r}; check the path")
            settings["orders.path"] = str(orders.resolve())
        with running_server(folder / "server.py") as url:
            console(stderr=True).print(f"[dim]MCP server: {url} (HTTP+SSE)[/dim]")
            run_and_print(folder / "workflow.json", settings | {"provider.server_url": url}, out)
