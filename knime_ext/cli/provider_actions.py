"""What can be done with registered servers; the commands and the questions of `knime-mcp config mcp` do the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from knime_ext.mcp import Listing

__all__ = ["add_provider", "list_providers", "switch_provider", "test_provider"]


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


def switch_provider(name: str, *, on: bool) -> None:
    """Switches a provider on or off and says so.

    Raises:
        ConfigurationError: There is no such provider.
    """
    from knime_ext.mcp.providers import load_providers, save_provider

    providers = load_providers()
    providers.check(name)
    save_provider(providers[name].model_copy(update={"enabled": on}))
    print(f"Provider {name!r} is switched {'on' if on else 'off'}")
