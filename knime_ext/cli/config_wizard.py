"""The questions of `knime-mcp config mcp` and `knime-mcp config tools`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from knime_ext.cli.provider_actions import add_provider, list_providers, test_provider
from knime_ext.errors import KnimeExtError

__all__ = ["ask_about_providers", "ask_about_tools"]


def ask_about_providers() -> None:
    """Asks what to do with the providers until there is nothing more to do."""
    _menu({"add": _add, "test": _test, "change": _change, "remove": _remove, "list": list_providers})


def ask_about_tools() -> None:
    """Asks what to do with the tool configurations until there is nothing more to do."""
    from knime_ext.cli.config_tools import list_configs

    _menu({"set": _set_tools, "remove": _remove_tools, "list": list_configs})


def _menu(actions: dict[str, Callable[[], None]]) -> None:
    words = [*actions, "quit"]
    while (action := _choice("What to do", words, default="quit")) != "quit":
        try:
            actions[action]()
        except KnimeExtError as error:
            # A wrong answer is no reason to begin again.
            typer.echo(str(error)[:1].upper() + str(error)[1:], err=True)


def _choice(question: str, words: list[str], default: str) -> str:
    while True:
        answer = typer.prompt(f"{question} ({', '.join(words)})", default=default).strip().lower()
        fitting = [word for word in words if word == answer] or [word for word in words if word.startswith(answer)]
        if len(fitting) == 1:
            return fitting[0]
        typer.echo(f"{answer!r} is none of these.", err=True)


def _text(question: str, default: str = "") -> str:
    return typer.prompt(question, default=default, show_default=bool(default)).strip()


def _names() -> list[str]:
    from knime_ext.mcp.providers import load_providers

    return list(load_providers())


def _pick() -> str | None:
    names = _names()
    if not names:
        typer.echo("No provider is registered yet.", err=True)
        return None
    return _choice("Which", names, default=names[0])


def _add() -> None:
    name = _text("Name")
    if name in _names() and not typer.confirm(f"Provider {name!r} exists. Replace it?", default=False):
        return
    _ask_fields(name, {})


def _change() -> None:
    from knime_ext.mcp.providers import load_providers, provider_entry

    name = _pick()
    if name is not None:
        _ask_fields(name, provider_entry(load_providers()[name]))


def _ask_fields(name: str, entry: dict[str, Any]) -> None:
    kind = _choice("Kind of server", ["http", "sse", "stdio"], default=str(entry.get("provider_type", "http")))
    entry = {**entry, "provider_type": kind}
    if kind == "stdio":
        _ask_program(entry)
    else:
        _ask_url(entry)
    seconds = _text("Seconds that a call may take", str(entry.get("timeouts", {}).get("call", 60)))
    if seconds and float(seconds) != 60:
        entry["timeouts"] = {**entry.get("timeouts", {}), "call": seconds}
    add_provider(name, entry)
    if typer.confirm("Test it now?", default=False):
        test_provider(name)


def _ask_program(entry: dict[str, Any]) -> None:
    import shlex

    for field in ("url", "bearer_token", "headers", "auth"):
        entry.pop(field, None)
    before = shlex.join([entry["command"], *entry.get("args", ())]) if "command" in entry else ""
    command, *arguments = shlex.split(_text("Command with its arguments", before)) or [""]
    entry |= {"command": command, "args": arguments}
    folder = _text("Working folder (empty for none)", str(entry.pop("cwd", "")))
    if folder:
        entry["cwd"] = folder
    while variable := _text("Environment variable NAME=VALUE (empty for no more)"):
        key, _, value = variable.partition("=")
        entry["env"] = {**entry.get("env", {}), key: value}


def _ask_url(entry: dict[str, Any]) -> None:
    for field in ("command", "args", "env", "cwd"):
        entry.pop(field, None)
    entry["url"] = _text("Address", str(entry.get("url", "")))
    before = "token" if "bearer_token" in entry else "oauth" if "auth" in entry else "none"
    way = _choice("Credentials", ["none", "token", "oauth"], default=before)
    if way != before or way == "token":
        entry.pop("auth", None)
        kept = entry.pop("bearer_token", None)
        if way == "token":
            typer.echo("Better than the token itself is the name of a variable that holds it: ${NAME}")
            entry["bearer_token"] = typer.prompt("Token", default=kept or None, show_default=False, hide_input=True)
        elif way == "oauth":
            entry["auth"] = {"type": "oauth"}
    while header := _text("Header NAME=VALUE (empty for no more)"):
        key, _, value = header.partition("=")
        entry["headers"] = {**entry.get("headers", {}), key: value}


def _test() -> None:
    name = _pick()
    if name is not None:
        test_provider(name)


def _remove() -> None:
    from knime_ext.mcp.providers import remove_provider

    name = _pick()
    if name is not None and typer.confirm(f"Remove provider {name!r}?", default=False):
        remove_provider(name)
        typer.echo(f"Provider {name!r} removed")


def _set_tools() -> None:
    from knime_ext.cli.config_tools import set_config
    from knime_ext.mcp import ToolConfig

    alias = _text("Alias")
    names = _text(f"Providers, separated by commas (known: {', '.join(_names()) or 'none'})")
    tools = _text("Tools, as names or patterns separated by commas (empty for all)")
    turns = typer.prompt("Turns in which the model may call tools", default=5, type=int)
    seconds = typer.prompt("Seconds that a call may take", default=60.0, type=float)
    set_config(
        ToolConfig(
            tool_alias=alias,
            providers=_words(names),
            allow_tools=_words(tools) or None,
            max_tool_call_turns=turns,
            timeout_sec=seconds,
        )
    )


def _remove_tools() -> None:
    from knime_ext.mcp.tool_config_file import load_tool_configs, remove_tool_config

    aliases = list(load_tool_configs())
    if not aliases:
        typer.echo("There are no tool configurations yet.", err=True)
        return
    remove_tool_config(_choice("Which", aliases, default=aliases[0]))


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
