"""Providers from the `mcpServers` JSON that desktop hosts keep their servers in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from knime_ext.errors import ConfigurationError
from knime_ext.mcp.provider_models import Provider
from knime_ext.mcp.providers import parse_provider

__all__ = ["Imported", "read_desktop_file"]

_SECTIONS = ("mcpServers", "servers")
_TYPES = {"stdio": "stdio", "sse": "sse", "http": "http", "streamable-http": "http", "streamableHttp": "http"}
_KNOWN = frozenset("type transport command args env cwd url serverUrl headers disabled enabled timeout".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What such a file holds.

    Attributes:
        providers: The servers that can be used.
        problems: What could not be taken over, one sentence each.
    """

    providers: tuple[Provider, ...]
    problems: tuple[str, ...]


def read_desktop_file(path: Path | str) -> Imported:
    """Reads a file with `mcpServers`, or `servers` as some editors write it.

    Variables are taken over: `${VAR}`, `${VAR:-default}`, and `${env:VAR}`.

    Raises:
        ConfigurationError: The file cannot be read or holds no servers.
    """
    servers = _servers(Path(path))
    providers: list[Provider] = []
    problems: list[str] = []
    for name, entry in servers.items():
        safe = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-._")[:64]
        if safe != name:
            problems.append(f"server {name!r} is called {safe!r} here, because names have no other characters")
        if any(provider.name == safe for provider in providers):
            problems.append(f"server {name!r} is left out: another one is already called {safe!r}")
            continue
        if not isinstance(entry, dict):
            problems.append(f"server {name!r} is left out: it has no fields")
            continue
        fields = cast("dict[str, Any]", entry)
        ignored = ", ".join(map(repr, sorted(set(fields) - _KNOWN)))
        if ignored:
            problems.append(f"of server {name!r}, {ignored} means nothing here and is left out")
        try:
            providers.append(parse_provider(safe, _entry(fields)))
        except ConfigurationError as error:
            problems.append(f"server {name!r} is left out: {error}")
    return Imported(providers=tuple(providers), problems=tuple(problems))


def _servers(path: Path) -> Mapping[str, Any]:
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"cannot read {str(path)!r}: {error.strerror or error}; correct the path") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{str(path)!r} is no UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ConfigurationError(f"{str(path)!r}, line {error.lineno}: this is no JSON ({error.msg})") from None
    for section in _SECTIONS:
        found = cast("dict[str, Any]", document).get(section) if isinstance(document, dict) else None
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
    raise ConfigurationError(f"{str(path)!r} has no object 'mcpServers' with servers in it")


def _entry(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as `providers.yaml` calls them."""
    fields = cast("dict[str, Any]", _with_our_variables(fields))
    url = fields.get("url", fields.get("serverUrl"))
    stated = fields.get("type", fields.get("transport"))
    guessed = "stdio" if url is None else "sse" if str(url).partition("?")[0].rstrip("/").endswith("/sse") else "http"
    kind = guessed if stated is None else _TYPES.get(str(stated), str(stated))
    entry: dict[str, Any] = {"provider_type": kind}
    if kind == "stdio":
        entry |= {key: fields[key] for key in ("command", "args", "env", "cwd") if fields.get(key) is not None}
        entry["env"] = {key: str(value) for key, value in cast("dict[str, Any]", entry.get("env") or {}).items()}
    else:
        entry |= {"url": url, "headers": fields.get("headers") or {}}
    if fields.get("disabled") is True or fields.get("enabled") is False:
        entry["enabled"] = False
    return entry


def _with_our_variables(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}", r"${\1}", value)
    if isinstance(value, list):
        return [_with_our_variables(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {key: _with_our_variables(item) for key, item in cast("dict[str, Any]", value).items()}
    return value
