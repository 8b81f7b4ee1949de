"""`knime-mcp config tools`: which tools of which providers a model may call, by alias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from knime_ext.cli.failures import ends_well

if TYPE_CHECKING:
    from knime_ext.mcp import ToolConfig

__all__ = ["app", "list_configs", "set_config"]

app = typer.Typer(help="Choose tools by alias; without a command, asks questions.", rich_markup_mode=None)

Alias = Annotated[str, typer.Argument(metavar="ALIAS", help="Name that the tools are asked for by.")]


@app.callback(invoke_without_command=True)
def wizard(ctx: typer.Context) -> None:
    """Choose tools by alias; without a command, asks questions."""
    if ctx.invoked_subcommand is None:
        with ends_well(ctx.obj):
            from knime_ext.cli.config_wizard import ask_about_tools

            ask_about_tools()


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """List the tool configurations."""
    with ends_well(ctx.obj):
        list_configs()


@app.command("set")
def set_(
    ctx: typer.Context,
    alias: Alias,
    provider: Annotated[list[str], typer.Option("--provider", help="Name of a provider. Repeatable.")],
    allow: Annotated[list[str] | None, typer.Option("--allow", help="Name or pattern of a tool. Repeatable.")] = None,
    turns: Annotated[int, typer.Option("--turns", help="Turns in which the model may call tools.")] = 5,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds that a call may take.")] = 60.0,
    calls: Annotated[int | None, typer.Option("--calls", help="Tool calls of one run.")] = None,
    run_timeout: Annotated[float | None, typer.Option("--run-timeout", help="Seconds of one run.")] = None,
    table_calls: Annotated[int | None, typer.Option("--table-calls", help="Tool calls of a whole table.")] = None,
    table_tokens: Annotated[int | None, typer.Option("--table-tokens", help="Tokens of a whole table.")] = None,
) -> None:
    """Write a tool configuration; one of the same alias is replaced."""
    with ends_well(ctx.obj):
        from knime_ext.mcp import ToolConfig

        set_config(
            ToolConfig(
                tool_alias=alias,
                providers=provider,
                allow_tools=allow,
                max_tool_call_turns=turns,
                timeout_sec=timeout,
                max_tool_calls=calls,
                run_timeout_sec=run_timeout,
                max_table_tool_calls=table_calls,
                max_table_tokens=table_tokens,
            )
        )


@app.command("remove")
def remove(ctx: typer.Context, alias: Alias) -> None:
    """Remove a tool configuration."""
    with ends_well(ctx.obj):
        from knime_ext.mcp.tool_config_file import remove_tool_config, tool_configs_path

        remove_tool_config(alias)
        print(f"Tool configuration {alias!r} removed from {tool_configs_path()}")


def set_config(config: ToolConfig) -> None:
    """Writes a tool configuration and says so.

    Raises:
        ConfigurationError: A provider is not registered, or the file cannot be written.
    """
    from knime_ext.mcp.providers import load_providers
    from knime_ext.mcp.tool_config_file import save_tool_config, tool_configs_path

    known = load_providers()
    for name in config.providers:
        _check_provider(name, list(known))
    save_tool_config(config)
    print(f"Tool configuration {config.tool_alias!r} written to {tool_configs_path()}")


def _check_provider(name: str, known: list[str]) -> None:
    from knime_ext.mcp.server_choice import unknown_provider

    if name not in known:
        raise unknown_provider(name, known)


def list_configs() -> None:
    """Prints the tool configurations."""
    from knime_ext.mcp.tool_config_file import load_tool_configs, tool_configs_path

    configs = load_tool_configs()
    if not configs:
        print(f"No tool configurations in {tool_configs_path()}")
    for alias, config in configs.items():
        tools = "all tools" if config.allow_tools is None else ", ".join(config.allow_tools)
        print(f"{alias}  {', '.join(config.providers)}  {tools}  {', '.join(_limits(config))}")


def _limits(config: ToolConfig) -> list[str]:
    """The limits that there are, in words."""
    words = {
        "{:g} turns": config.max_tool_call_turns,
        "{:g} s": config.timeout_sec,
        "{:g} calls": config.max_tool_calls,
        "{:g} s per run": config.run_timeout_sec,
        "{} calls per table": config.max_table_tool_calls,
        "{} tokens per table": config.max_table_tokens,
    }
    return [text.format(limit) for text, limit in words.items() if limit is not None]
