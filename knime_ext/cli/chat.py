"""`knime-mcp chat`: a conversation with an agent in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knime_ext.cli.failures import ends_well
from knime_ext.cli.model_option import BaseURLOption, KeyVariableOption, ModelOption

__all__ = ["chat"]


def chat(
    ctx: typer.Context,
    model: ModelOption = "offline",
    base_url: BaseURLOption = None,
    api_key_env: KeyVariableOption = None,
    tools: Annotated[
        list[Path] | None,
        typer.Option(
            "--tools", metavar="FILE", help="A table of tools (.arrow) or a workflow (.json). May be repeated."
        ),
    ] = None,
    tool_column: Annotated[
        str | None, typer.Option("--tool-column", help="Column of tools; the first one of each table by default.")
    ] = None,
    server: Annotated[
        list[str] | None,
        typer.Option("--server", metavar="SERVER", help="Address of an MCP server, or name of a provider. Repeatable."),
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option("--data", metavar="NAME=FILE", help="A table (.csv, .arrow) that workflows may take. Repeatable."),
    ] = None,
    system: Annotated[str, typer.Option("--system", help="Instructions for the model.")] = "",
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask before every call of a tool that is not marked as read-only.")
    ] = False,
    max_turns: Annotated[
        int, typer.Option("--max-turns", help="Replies per question that may ask for tools.", min=0)
    ] = 25,
    tool_tokens: Annotated[
        int | None,
        typer.Option(
            "--tool-tokens", help="If the definitions of the tools have more tokens, the model searches them.", min=0
        ),
    ] = None,
) -> None:
    """Talk with a model that may call tools. Ctrl-C stops an answer, Ctrl-D leaves."""
    with ends_well(ctx.obj):
        from knime_ext.cli.chatting import ChatOptions, converse

        failed = converse(
            ChatOptions(
                model=model,
                base_url=base_url,
                key_variable=api_key_env,
                tools=tuple(tools or ()),
                tool_column=tool_column,
                servers=tuple(server or ()),
                data=tuple(data or ()),
                system=system,
                ask=ask,
                max_turns=max_turns,
                tool_tokens=tool_tokens,
            )
        )
        if failed:
            raise typer.Exit(1)
