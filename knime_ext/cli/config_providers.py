"""`knime-mcp config mcp`: registers MCP servers by name. Without a command, it asks."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from knime_ext.cli.failures import ends_well
from knime_ext.cli.provider_actions import add_provider, list_providers, switch_provider, test_provider

__all__ = ["app"]

app = typer.Typer(help="Register MCP servers by name; without a command, asks questions.", rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the provider.")]
Kind = Annotated[str | None, typer.Option("--type", help="stdio, http or sse; else guessed from the rest.")]
URL = Annotated[str | None, typer.Option("--url", help="Address of a server behind a URL.")]
Token = Annotated[str | None, typer.Option("--bearer-token", help="Token to send, such as '${DOCS_TOKEN}'.")]
Header = Annotated[list[str] | None, typer.Option("--header", metavar="NAME=VALUE", help="A header. Repeatable.")]
Command = Annotated[str | None, typer.Option("--command", help="Program of a server that is started.")]
Arg = Annotated[list[str] | None, typer.Option("--arg", help="An argument of the program. Repeatable.")]
Env = Annotated[list[str] | None, typer.Option("--env", metavar="NAME=VALUE", help="A variable. Repeatable.")]
Cwd = Annotated[str | None, typer.Option("--cwd", help="Working folder of the program.")]
Auth = Annotated[
    list[str] | None,
    typer.Option("--auth", metavar="FIELD=VALUE", help="A field of 'auth', such as type=oauth. Repeatable."),
]
Seconds = Annotated[
    list[str] | None,
    typer.Option("--timeout", metavar="LIMIT=SECONDS", help="connect=, list= or call= and seconds. Repeatable."),
]
Disabled = Annotated[bool, typer.Option("--disabled", help="Register it switched off.")]

_PLAIN = {
    "kind": "provider_type",
    "url": "url",
    "bearer_token": "bearer_token",
    "command": "command",
    "arg": "args",
    "cwd": "cwd",
}
"""Options whose values are taken as they are, and their fields."""

_PAIRS = {"header": "headers", "env": "env", "auth": "auth", "timeout": "timeouts"}
"""Options that take NAME=VALUE, and their fields."""


@app.callback(invoke_without_command=True)
def wizard(ctx: typer.Context) -> None:
    """Register MCP servers by name; without a command, asks questions."""
    if ctx.invoked_subcommand is None:
        with ends_well(ctx.obj):
            from knime_ext.cli.config_wizard import ask_about_providers

            ask_about_providers()


@app.command("list")
def list_(
    ctx: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print names, types and addresses as JSON.")] = False,
) -> None:
    """List the registered providers."""
    with ends_well(ctx.obj):
        list_providers(as_json=as_json)


@app.command("add")
def add(
    ctx: typer.Context,
    name: Name,
    kind: Kind = None,
    url: URL = None,
    bearer_token: Token = None,
    header: Header = None,
    command: Command = None,
    arg: Arg = None,
    env: Env = None,
    cwd: Cwd = None,
    auth: Auth = None,
    timeout: Seconds = None,
    disabled: Disabled = False,
) -> None:
    """Register a provider."""
    with ends_well(ctx.obj):
        from knime_ext.errors import ConfigurationError
        from knime_ext.mcp.providers import load_providers

        if name in load_providers():
            raise ConfigurationError(f"provider {name!r} exists; change it with `knime-mcp config mcp change {name}`")
        entry = _entry(ctx)
        if "provider_type" not in entry:
            entry["provider_type"] = "stdio" if command is not None else "http"
        add_provider(name, entry | ({"enabled": False} if disabled else {}))


@app.command("change")
def change(
    ctx: typer.Context,
    name: Name,
    kind: Kind = None,
    url: URL = None,
    bearer_token: Token = None,
    header: Header = None,
    command: Command = None,
    arg: Arg = None,
    env: Env = None,
    cwd: Cwd = None,
    auth: Auth = None,
    timeout: Seconds = None,
    unset: Annotated[list[str] | None, typer.Option("--unset", help="A field to remove. Repeatable.")] = None,
) -> None:
    """Change what is given, and nothing else. Lists are replaced as a whole."""
    with ends_well(ctx.obj):
        from knime_ext.mcp.providers import load_providers, provider_entry

        providers = load_providers()
        providers.check(name)
        kept = {key: value for key, value in provider_entry(providers[name]).items() if key not in (unset or ())}
        add_provider(name, kept | _entry(ctx))


@app.command("remove")
def remove(ctx: typer.Context, name: Name) -> None:
    """Remove a provider."""
    with ends_well(ctx.obj):
        from knime_ext.mcp.providers import providers_path, remove_provider

        remove_provider(name)
        print(f"Provider {name!r} removed from {providers_path()}")


@app.command("enable")
def enable(ctx: typer.Context, name: Name) -> None:
    """Switch a provider on."""
    with ends_well(ctx.obj):
        switch_provider(name, on=True)


@app.command("disable")
def disable(ctx: typer.Context, name: Name) -> None:
    """Switch a provider off."""
    with ends_well(ctx.obj):
        switch_provider(name, on=False)


@app.command("test")
def test(ctx: typer.Context, name: Name) -> None:
    """Connect to a provider and list its tools."""
    with ends_well(ctx.obj):
        test_provider(name)


def _entry(ctx: typer.Context) -> dict[str, Any]:
    """The fields that were given, as they stand in providers.yaml; typer keeps the options of a command in `params`."""
    given = {option: None if value in ([], ()) else value for option, value in ctx.params.items()}
    entry: dict[str, Any] = {field: given[option] for option, field in _PLAIN.items()}
    entry |= {field: _pairs(option, given[option]) for option, field in _PAIRS.items()}
    if entry["auth"] is not None:
        entry["auth"] = {"type": "oauth", **entry["auth"]}
    return {field: value for field, value in entry.items() if value is not None}


def _pairs(option: str, words: list[str] | None) -> dict[str, str] | None:
    from knime_ext.errors import InvalidArguments

    if words is None:
        return None
    pairs: dict[str, str] = {}
    for word in words:
        name, separator, value = word.partition("=")
        if not separator or not name:
            # The word may be a secret whose name was forgotten.
            raise InvalidArguments(f"--{option} needs a name and a value, NAME=VALUE")
        pairs[name] = value
    return pairs
