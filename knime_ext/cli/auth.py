"""`knime-mcp auth`: signs in at registered providers and out again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from knime_ext.cli.failures import ends_well

if TYPE_CHECKING:
    from knime_ext.mcp.auth import AccountState

__all__ = ["app"]

app = typer.Typer(help="Sign in at registered providers.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the provider.")]


@app.command("login")
def login(
    ctx: typer.Context,
    name: Name,
    browser: Annotated[bool, typer.Option(help="Open a browser, or only print the page to sign in at.")] = True,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds that you may take.", min=1)] = 300.0,
) -> None:
    """Sign in at a provider with a browser."""
    with ends_well(ctx.obj):
        import webbrowser

        from knime_ext.cli.terminal import counted
        from knime_ext.mcp.auth import sign_in
        from knime_ext.mcp.providers import load_providers

        def show(page: str) -> None:
            typer.echo(f"Sign in at provider {name!r} with this page:\n{page}", err=True)

        opened = webbrowser.open if browser else None
        listing = sign_in(load_providers().server(name), name, show, browser=opened, seconds=timeout)
        if listing.error is not None:
            typer.echo(f"Warning: signed in, but {listing.error}", err=True)
        print(f"Signed in at provider {name!r}: {counted(len(listing.definitions), 'tool')}")


@app.command("status")
def status(
    ctx: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One provider; else all.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Show who is signed in, without asking any server."""
    with ends_well(ctx.obj):
        import json

        from knime_ext.mcp.auth import account_state
        from knime_ext.mcp.providers import load_providers

        providers = load_providers()
        names = [name] if name is not None else [key for key, provider in providers.items() if provider.enabled]
        states = {key: account_state(providers.server(key)) for key in names}
        if as_json:
            print(json.dumps({key: _as_json(state) for key, state in states.items()}, indent=2))
            return
        for key, state in states.items():
            print(f"{key}  {_sentence(state)}")


@app.command("logout")
def logout(ctx: typer.Context, name: Name) -> None:
    """Forget the tokens of a provider, here and at its authorization server."""
    with ends_well(ctx.obj):
        import asyncio

        from knime_ext.mcp.auth import sign_out
        from knime_ext.mcp.providers import load_providers

        problem = asyncio.run(sign_out(load_providers().server(name), name))
        if problem is not None:
            typer.echo(f"Warning: the tokens are forgotten here, but {problem}", err=True)
        print(f"Signed out at provider {name!r}")


def _as_json(state: AccountState | None) -> dict[str, Any] | None:
    if state is None:
        return None
    return {
        "state": state.state,
        "issuer": state.issuer,
        "scope": state.scope,
        "seconds_left": None if state.seconds_left is None else round(state.seconds_left),
        "is_refreshable": state.is_refreshable,
    }


def _sentence(state: AccountState | None) -> str:
    if state is None:
        return "wants no sign-in"
    where = f" at {state.issuer}" if state.issuer else ""
    match state.state:
        case "automatic":
            return f"signs in by itself{where}"
        case "signed out":
            return f"signed out{where}"
        case "expired":
            return f"expired{where}; " + ("will be refreshed" if state.is_refreshable else "sign in again")
        case _:
            left = "" if state.seconds_left is None else f", token for {state.seconds_left / 60:.0f} more minutes"
            return f"signed in{where}{left}{', refreshed by itself' if state.is_refreshable else ''}"
