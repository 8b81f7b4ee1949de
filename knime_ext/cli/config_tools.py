"""`knime-mcp config tools`: which tools of which providers a model may call, by alias."""

from __future__ import annotations

from typing import Annotated

import typer

from knime_ext.cli.failures import ends_well

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
) -> None:
    """Write a tool configuration; one of the same alias is replaced."""
    with ends_well(ctx.obj):
        set_config(alias, provider, allow, turns, timeout)


@app.command("remove")
def remove(ctx: typer.Context, alias: Alias) -> None:
    """Remove a tool configuration."""
    with ends_well(ctx.obj):
        from knime_ext.mcp.tool_config_file import remove_tool_config, tool_configs_path

        remove_tool_config(alias)
        print(f"Tool configuration {alias!r} removed from {tool_configs_path()}")


def set_config(alias: str, providers: list[str], allow: list[str] | None, turns: int, seconds: float) -> None:
    """Writes a tool configuration and says so.

    Raises:
        ConfigurationError: A field is wrong, or a provider is not registered.
    """
    from knime_ext.mcp import ToolConfig
    from knime_ext.mcp.providers import load_providers
    from knime_ext.mcp.tool_config_file import save_tool_config, tool_configs_path

    config = ToolConfig(
        tool_alias=alias, providers=providers, allow_tools=allow, max_tool_call_turns=turns, timeout_sec=seconds
    )
    known = load_providers()
    for name in config.providers:
        _check_provider(name, list(known))
    save_tool_config(config)
    print(f"Tool configuration {alias!r} written to {tool_configs_path()}")


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
        limits = f"{config.max_tool_call_turns} turns, {config.timeout_sec:g} s"
        print(f"{alias}  {', '.join(config.providers)}  {tools}  {limits}")
