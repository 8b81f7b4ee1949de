"""`knime-mcp serve`: the tools of a table as one MCP server, for desktop hosts and every other client."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from knime_ext.cli.failures import Terminated, ends_well

__all__ = ["serve"]


def serve(
    ctx: typer.Context,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…", help="Tables of tools (.arrow), and workflows (.json), each of which becomes one tool."
        ),
    ],
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Speak over standard input and output, the default: a host starts it.")
    ] = False,
    http: Annotated[
        int | None, typer.Option("--http", metavar="PORT", help="Speak streamable HTTP instead; 0 takes a free port.")
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Interface to listen on.")] = "127.0.0.1",
    token_env: Annotated[
        str | None,
        typer.Option(
            "--token-env", metavar="NAME", help="Environment variable with the token that HTTP clients must send."
        ),
    ] = None,
    allowed_hosts: Annotated[
        list[str] | None,
        typer.Option("--allowed-host", metavar="NAME", help="A further name of this host, such as that of a proxy."),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="What the server calls itself.")] = None,
    prefix: Annotated[str, typer.Option("--prefix", help="Put before every name, with an underscore.")] = "",
    include: Annotated[
        list[str] | None, typer.Option("--include", metavar="GLOB", help="Serve only tools with such names.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", metavar="GLOB", help="Do not serve tools with such names.")
    ] = None,
    ask: Annotated[
        list[str] | None,
        typer.Option(
            "--ask", metavar="GLOB", help="Ask the person in front of the client before such tools are called."
        ),
    ] = None,
    deny: Annotated[
        list[str] | None, typer.Option("--deny", metavar="GLOB", help="Never call such tools; they are not offered.")
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Serve only tools that their servers mark as read-only.")
    ] = False,
    search_above: Annotated[
        int | None,
        typer.Option(
            "--search-above",
            metavar="TOKENS",
            help="If the definitions have more tokens together, offer a search in their place.",
            min=0,
        ),
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", help="Name of the tables' column; the first column of tools by default.")
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option("--data", metavar="NAME=FILE", help="A table (.csv or .arrow) that workflow tools may be given."),
    ] = None,
    rows: Annotated[int, typer.Option("--rows", help="Rows of a resulting table that clients see.", min=0)] = 20,
    credentials: Annotated[
        list[str] | None,
        typer.Option(
            "--credential",
            metavar="NAME=VARIABLE",
            help="Give workflows a credential whose password is the value of an environment variable.",
        ),
    ] = None,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the entry for a desktop host's configuration instead.")
    ] = False,
) -> None:
    """Serve the tools of a table as one MCP server."""
    with ends_well(ctx.obj):
        from knime_ext.cli.serving import ServeOptions, config_text, run_server

        options = ServeOptions(
            files=tuple(files),
            stdio=stdio,
            port=http,
            host=host,
            token_variable=token_env,
            allowed_hosts=tuple(allowed_hosts or ()),
            name=name or files[0].stem,
            prefix=prefix,
            include=None if include is None else tuple(include),
            exclude=tuple(exclude or ()),
            ask=tuple(ask or ()),
            deny=tuple(deny or ()),
            read_only=read_only,
            search_above=search_above,
            column=column,
            data=tuple(data or ()),
            rows=rows,
            credentials=tuple(credentials or ()),
        )
        if print_config:
            print(config_text(options))
            return
        stopped_by = run_server(options)
        if stopped_by is not None:
            raise Terminated if stopped_by == signal.SIGTERM else KeyboardInterrupt
