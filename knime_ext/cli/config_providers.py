"""`knime-mcp config mcp`: registers MCP servers by name. Without a command, it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from knime_ext.cli.failures import ends_well

if TYPE_CHECKING:
    from knime_ext.mcp import Listing

__all__ = ["add_provider", "app", "list_providers", "test_provider"]

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
        entry = _entry(kind, url, bearer_token, header, command, arg, env, cwd, auth, timeout)
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
        add_provider(name, kept | _entry(kind, url, bearer_token, header, command, arg, env, cwd, auth, timeout))


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
        _switch(name, on=True)


@app.command("disable")
def disable(ctx: typer.Context, name: Name) -> None:
    """Switch a provider off."""
    with ends_well(ctx.obj):
        _switch(name, on=False)


@app.command("test")
def test(ctx: typer.Context, name: Name) -> None:
    """Connect to a provider and list its tools."""
    with ends_well(ctx.obj):
        test_provider(name)


def add_provider(name: str, entry: dict[str, Any]) -> None:
    """Writes a provider and says so.

    Raises:
        ConfigurationError: A field is wrong.
    """
    from knime_ext.mcp.providers import parse_provider, providers_path, save_provider

    save_provider(parse_provider(name, entry))
    print(f"Provider {name!r} written to {providers_path()}")


def list_providers(*, as_json: bool = False) -> None:
    """Prints the registered providers, without secrets."""
    import json

    from knime_ext.cli.terminal import console
    from knime_ext.mcp.provider_models import StdioProvider
    from knime_ext.mcp.providers import load_providers, providers_path

    providers = load_providers()
    rows = [
        {
            "name": provider.name,
            "type": provider.provider_type,
            "address": provider.command if isinstance(provider, StdioProvider) else provider.url,
            "enabled": provider.enabled,
        }
        for provider in providers.values()
    ]
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    if not rows:
        print(f"No providers in {providers_path()}")
    for row in rows:
        console().print(
            f"{row['name']}  {row['type']}  {row['address']}{'' if row['enabled'] else '  (off)'}", markup=False
        )


def test_provider(name: str) -> None:
    """Connects to a provider and prints what it offers.

    Raises:
        MCPError: It cannot be reached, or wants something else.
    """
    from knime_ext.cli.terminal import counted
    from knime_ext.errors import MCPConnectionError
    from knime_ext.mcp import MCPToolCaller
    from knime_ext.mcp.providers import load_providers

    server = load_providers().server(name)
    with MCPToolCaller() as caller:
        listing: Listing = caller.list_tools([server])[0]
    if listing.error is not None:
        raise MCPConnectionError(listing.error)
    print(f"Provider {name!r} works: {counted(len(listing.definitions), 'tool')}, MCP {listing.era}")
    for problem in listing.problems:
        typer.echo(f"Warning: tool {problem.name!r} is left out: {problem.reason}", err=True)


def _switch(name: str, *, on: bool) -> None:
    from knime_ext.mcp.providers import load_providers, save_provider

    providers = load_providers()
    providers.check(name)
    save_provider(providers[name].model_copy(update={"enabled": on}))
    print(f"Provider {name!r} is switched {'on' if on else 'off'}")


def _entry(
    kind: str | None,
    url: str | None,
    bearer_token: str | None,
    header: list[str] | None,
    command: str | None,
    arg: list[str] | None,
    env: list[str] | None,
    cwd: str | None,
    auth: list[str] | None,
    timeout: list[str] | None,
) -> dict[str, Any]:
    """The fields that were given."""
    entry: dict[str, Any] = {
        "provider_type": kind,
        "url": url,
        "bearer_token": bearer_token,
        "headers": None if header is None else _pairs("--header", header),
        "command": command,
        "args": arg,
        "env": None if env is None else _pairs("--env", env),
        "cwd": cwd,
        "auth": None if auth is None else {"type": "oauth", **_pairs("--auth", auth)},
        "timeouts": None if timeout is None else _pairs("--timeout", timeout),
    }
    return {field: value for field, value in entry.items() if value is not None}


def _pairs(option: str, words: list[str]) -> dict[str, str]:
    from knime_ext.errors import InvalidArguments

    pairs: dict[str, str] = {}
    for word in words:
        name, separator, value = word.partition("=")
        if not separator or not name:
            # The word may be a secret whose name was forgotten.
            raise InvalidArguments(f"{option} needs a name and a value, NAME=VALUE")
        pairs[name] = value
    return pairs
