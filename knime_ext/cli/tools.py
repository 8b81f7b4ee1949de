"""`knime-mcp tools`: looks at the tools of an MCP server and calls them, without any workflow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knime_ext.cli.call_rows import call_rows
from knime_ext.cli.failures import ends_well

if TYPE_CHECKING:
    from knime.types.tool import MCPTool
    from knime_ext.mcp import Listing, MCPToolCaller

__all__ = ["app", "tools_of_server"]

app = typer.Typer(help="Look at the tools of an MCP server and call them.", no_args_is_help=True, rich_markup_mode=None)

app.command("call-rows")(call_rows)

Where = Annotated[
    str,
    typer.Argument(
        metavar="SERVER", help="Address of the server, such as http://localhost:8000/mcp, or name of a provider."
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", help="Seconds to wait for the server; for a provider else its own limits.", min=0.1),
]


@app.command("list")
def list_tools(
    ctx: typer.Context,
    server: Where,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything the server says, as JSON.")] = False,
    timeout: Timeout = None,
) -> None:
    """List the tools of a server with their arguments."""
    with ends_well(ctx.obj):
        from knime_ext.cli.tool_printing import listing_as_json, print_listing
        from knime_ext.mcp import MCPToolCaller

        with MCPToolCaller() as caller:
            listing, _ = _listing(caller, server, timeout)
        if as_json:
            print(json.dumps(listing_as_json(listing), indent=2, ensure_ascii=False))
        else:
            print_listing(listing)


@app.command("call")
def call_tool(
    ctx: typer.Context,
    server: Where,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the tool.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE",
            help="Arguments, converted to the types the tool wants. Repeat a key for a list; nested values as JSON.",
            show_default=False,
        ),
    ] = None,
    from_json: Annotated[
        str | None, typer.Option("--json", metavar="OBJECT", help="All arguments as one JSON object, instead.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Print the whole result as JSON.")] = False,
    timeout: Timeout = None,
) -> None:
    """Call a tool of a server and print its result."""
    with ends_well(ctx.obj):
        from knime_ext.cli.questions import handlers_at_terminal
        from knime_ext.cli.tool_printing import print_result
        from knime_ext.errors import ToolFailed
        from knime_ext.mcp import MCPToolCaller, asking
        from knime_ext.tools import check_arguments

        with MCPToolCaller(timeout=timeout) as caller:
            tool = _tool(tools_of_server(caller, server, timeout), name)
            parameters = _arguments(arguments or [], from_json, tool)
            check_arguments(tool.parameter_schema, parameters, name)
            with asking(handlers_at_terminal()):
                result = caller.call(tool, parameters)
        if result.is_error and not raw:
            raise ToolFailed(f"tool {name!r} failed: {result.text}")
        print_result(result, raw=raw)
        if result.is_error:
            raise typer.Exit(1)


@app.command("export")
def export_tools(
    ctx: typer.Context,
    server: Where,
    file: Annotated[Path, typer.Argument(metavar="FILE.arrow", help="The file to write.")],
    timeout: Timeout = None,
) -> None:
    """Write the tools of a server to an Arrow file with the one column "Tool"."""
    with ends_well(ctx.obj):
        from knime_ext.cli.terminal import counted
        from knime_ext.cli.tool_file import write_tools
        from knime_ext.mcp import MCPToolCaller
        from knime_ext.mcp.listed import save_listed

        with MCPToolCaller() as caller:
            tools = tools_of_server(caller, server, timeout)
        write_tools(tools, file)
        # The commands that read the file are processes of their own.
        save_listed({tool.server_uri for tool in tools if tool.provider is None})
        print(f"{counted(len(tools), 'tool')} written to {file}")


@app.command("diff")
def diff_tools(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE.arrow", help="A table of tools: an export, or a run's output.")],
    column: Annotated[
        str | None, typer.Option("--column", help="Name of the column; the first column of tools if not given.")
    ] = None,
) -> None:
    """Show what has changed about the tools in a file since they were listed. Exit code 1 if something has."""
    with ends_well(ctx.obj):
        from knime_ext.cli.tool_diff import print_comparisons, read_mcp_tools
        from knime_ext.mcp import MCPToolCaller

        tools = read_mcp_tools(file, column)
        with MCPToolCaller() as caller:
            comparisons = caller.compare(tools)
        if not print_comparisons(comparisons):
            raise typer.Exit(1)


def tools_of_server(caller: MCPToolCaller, server: str, timeout: float | None = None) -> list[MCPTool]:
    """The tools of a server; what is wrong with single ones goes to the error output.

    Args:
        caller: Whose sessions are used.
        server: Its address, or the name of a provider.
        timeout: Seconds to wait for it; None for its own limits.

    Raises:
        ConfigurationError: There is no such provider, or the address cannot be used.
        MCPConnectionError: The server cannot be reached.
    """
    from knime_ext.mcp import tools_from_listing

    listing, provider = _listing(caller, server, timeout)
    return tools_from_listing(listing, provider=provider)


def _listing(caller: MCPToolCaller, server: str, timeout: float | None) -> tuple[Listing, str | None]:
    """The server's tools and its provider's name; what is wrong with single tools goes to the error output."""
    from knime_ext.errors import MCPConnectionError
    from knime_ext.mcp.server_choice import choose_server

    choice = choose_server(server)
    limits = (
        choice.server.timeouts if timeout is None else replace(choice.server.timeouts, connect=timeout, list=timeout)
    )
    [listing] = caller.list_tools([replace(choice.server, timeouts=limits)])
    if listing.error is not None and not listing.definitions:
        raise MCPConnectionError(listing.error)
    if listing.error is not None:
        typer.echo(f"Warning: {listing.error}", err=True)
    for problem in listing.problems:
        typer.echo(f"Warning: tool {problem.name!r} is left out: {problem.reason}", err=True)
    return listing, choice.provider


def _tool(tools: Sequence[MCPTool], name: str) -> MCPTool:
    from knime_ext.errors import UnknownTool

    found = next((tool for tool in tools if tool.tool_name == name), None)
    if found is None:
        known = ", ".join(repr(tool.tool_name) for tool in tools) or "none"
        raise UnknownTool(f"the server has no tool {name!r}; its tools are {known}")
    return found


def _arguments(words: Sequence[str], from_json: str | None, tool: MCPTool) -> dict[str, Any]:
    from knime_ext.cli.arguments import arguments_from_json, arguments_from_words
    from knime_ext.errors import InvalidArguments

    if from_json is None:
        return arguments_from_words(words, tool.parameter_schema)
    if words:
        raise InvalidArguments("give the arguments either as name=value words or with --json, not both")
    return arguments_from_json(from_json)
