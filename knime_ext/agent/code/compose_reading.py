"""The MCP servers of a Docker Compose file, at addresses that can be reached from here."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

import yaml

from knime_ext.agent.code.compose import MCP_SERVERS
from knime_ext.agent.code.registry import HasLangChainTools
from knime_ext.errors import ConfigurationError

__all__ = ["clients_of_compose_file", "server_addresses", "split_addresses"]

_MAX_BYTES = 1_000_000
_REFERENCE = re.compile(r"\$(?:\$|\{([A-Za-z_]\w*)(?:(:?)([-?+])([^}]*))?\}|([A-Za-z_]\w*))")


def clients_of_compose_file(path: Path) -> list[HasLangChainTools]:
    """One client for each server of the file; nothing is connected yet.

    Raises:
        ConfigurationError: The file cannot be read or names no servers, or an address is none.
    """
    # The agent's room does not know the one of MCP: this is the one place where it is loaded, by its name.
    client: Any = import_module("knime_ext.mcp").MCPClient
    return [client(address) for address in server_addresses(path, os.environ)]


def server_addresses(path: Path, variables: Mapping[str, str]) -> list[str]:
    """The addresses of the file's servers as they are reached from here.

    Args:
        path: The file.
        variables: The environment; `MCP_SERVERS` in it says that this program runs inside of the file's network.

    Raises:
        ConfigurationError: The file cannot be read or names no servers.
    """
    services = _services(path)
    if variables.get(MCP_SERVERS, "").strip():
        return split_addresses(variables[MCP_SERVERS])
    lists = [_variable(service, MCP_SERVERS) for service in services.values()]
    named = [_filled(text, variables) for text in lists if text]
    if not named:
        raise ConfigurationError(
            f"{str(path)!r}: no service has the variable {MCP_SERVERS}; write the file with generate_compose_file, "
            f"or give the environment's service {MCP_SERVERS} with the addresses of the servers."
        )
    addresses = [address for text in named for address in split_addresses(text)]
    return [_from_here(address, services, variables, path) for address in dict.fromkeys(addresses)]


def split_addresses(text: str) -> list[str]:
    """The addresses in the value of `MCP_SERVERS`."""
    return [address for part in text.split(",") if (address := part.strip())]


def _services(path: Path) -> dict[str, Mapping[str, Any]]:
    try:
        text = path.read_bytes()[: _MAX_BYTES + 1]
        document: Any = yaml.safe_load(text) if len(text) <= _MAX_BYTES else None
    except OSError as error:
        raise ConfigurationError(f"cannot read {str(path)!r}: {error.strerror or error}.") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigurationError(f"{str(path)!r} is no YAML: {' '.join(str(error).split())[:200]}.") from None
    services = cast("dict[str, Any]", document).get("services") if isinstance(document, dict) else None
    if not isinstance(services, dict):
        raise ConfigurationError(f"{str(path)!r} is no Docker Compose file: it has no 'services'.")
    return {str(name): _mapping(service) for name, service in cast("dict[str, Any]", services).items()}


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _variable(service: Mapping[str, Any], name: str) -> str | None:
    """A variable of a service, which may be written as mapping or as list."""
    environment = service.get("environment")
    if isinstance(environment, list):
        pairs = (str(line).partition("=") for line in cast("list[Any]", environment))
        return next((value for key, _, value in pairs if key == name), None)
    value = _mapping(environment).get(name)
    return None if value is None else str(value)


def _filled(text: str, variables: Mapping[str, str]) -> str:
    """The text with references filled in, as Compose does it."""

    def fill(match: re.Match[str]) -> str:
        name = match.group(1) or match.group(5)
        if name is None:
            return "$"
        value = variables.get(name)
        absent = value is None or (match.group(2) == ":" and not value)
        if match.group(3) == "+":
            return "" if absent else match.group(4)
        return match.group(4) if absent and match.group(3) == "-" else value or ""

    return _REFERENCE.sub(fill, text)


def _from_here(address: str, services: Mapping[str, Any], variables: Mapping[str, str], path: Path) -> str:
    """The address with this computer and the published port in the place of the service."""
    parts = urlsplit(address)
    service = services.get(parts.hostname or "")
    if service is None:
        return address
    target = parts.port or (443 if parts.scheme == "https" else 80)
    for published, container in _ports(service, variables):
        if container == target:
            return urlunsplit(parts._replace(netloc=f"127.0.0.1:{published}"))
    raise ConfigurationError(
        f"{str(path)!r}: service {parts.hostname!r} publishes no fixed port for {target}; add "
        f"\"127.0.0.1:{target}:{target}\" to its 'ports', or set {MCP_SERVERS} where this program runs."
    )


def _ports(service: Mapping[str, Any], variables: Mapping[str, str]) -> list[tuple[int, int]]:
    """Published and container's port of each line that says both."""
    lines = service.get("ports")
    found: list[tuple[int, int]] = []
    for line in cast("list[Any]", lines) if isinstance(lines, list) else []:
        long = _mapping(line)
        text = f"{long.get('published', '')}:{long.get('target', '')}" if long else str(line)
        match = re.fullmatch(r"(?:.*:)?(\d+):(\d+)(?:/tcp)?", _filled(text, variables))
        if match:
            found.append((int(match.group(1)), int(match.group(2))))
    return found
