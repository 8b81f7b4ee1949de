"""A Docker Compose file for an environment and the MCP servers beside it."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from knime_ext.errors import ConfigurationError

__all__ = ["MCP_SERVERS", "EnvironmentConfig", "MCPServerConfig", "compose_document", "generate_compose_file"]

MCP_SERVERS = "MCP_SERVERS"
"""The variable that tells an environment the addresses of its servers, with commas between them."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_IMAGE = re.compile(r"[a-z0-9][A-Za-z0-9._/:@-]*")
_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*(?::?[-?+][^}]*)?\}")
_SECRET_NAME = re.compile(r"key|token|secret|passw|pwd|credential|auth|cookie|private|dsn", re.IGNORECASE)
_SECRET_VALUE = re.compile(
    r"^(?:sk|pk|rk|xox[a-z]|gh[a-z]|glpat|hf|npm|pypi)[-_][A-Za-z0-9]|^AKIA[0-9A-Z]{12}|^eyJ[A-Za-z0-9_-]{8,}\."
    r"|^(?:bearer|basic) |-----BEGIN|://[^/\s@]*:[^/\s@]*@",
    re.IGNORECASE,
)
_LONG_WORD = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_RANDOM_BITS = 3.7


@dataclass(frozen=True, slots=True)
class MCPServerConfig:
    """A container with an MCP server that speaks HTTP.

    Attributes:
        name: Name of the service, which is its host name for the environment.
        image: Its image.
        port: Where it listens, in the container and, for this computer only, outside.
        env_vars: Its environment variables. `${NAME}` is a reference that Compose fills in when it starts, None takes
            the variable of that name over.
        path: Where the server is below its address.
    """

    name: str
    image: str
    port: int
    env_vars: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    path: str = "/mcp"

    @property
    def url(self) -> str:
        """Its address for the environment."""
        return f"http://{self.name}:{self.port}{self.path}"


@dataclass(frozen=True, slots=True)
class EnvironmentConfig:
    """A container with an environment, and its servers.

    Attributes:
        name: Name of the service.
        image: Its image.
        mcp_servers: The servers beside it.
    """

    name: str
    image: str
    mcp_servers: Sequence[MCPServerConfig] = ()


def generate_compose_file(config: EnvironmentConfig, path: str | Path) -> Path:
    """Writes a Docker Compose file: one service for the environment and one for each server.

    The environment gets the servers' addresses in `MCP_SERVERS`. The file holds no secrets: write `${NAME}` for them
    and set the variable when you start it.

    Args:
        config: What to write.
        path: The file; replaced if it is there.

    Returns:
        The file.

    Raises:
        ConfigurationError: Something cannot be a service, or a value looks like a secret.
    """
    target = Path(path)
    # Escaped, because YAML takes some characters of other scripts for ends of lines.
    text = yaml.safe_dump(compose_document(config), sort_keys=False, allow_unicode=False, width=120)
    partial = target.with_name(f".{target.name}.part")
    partial.write_text(text, encoding="utf-8", newline="\n")
    os.replace(partial, target)
    return target


def compose_document(config: EnvironmentConfig) -> dict[str, Any]:
    """What stands in the file.

    Raises:
        ConfigurationError: Something cannot be a service, or a value looks like a secret.
    """
    _check(config)
    environment: dict[str, Any] = {
        "image": config.image,
        "environment": {MCP_SERVERS: ",".join(server.url for server in config.mcp_servers)},
    }
    if config.mcp_servers:
        environment["depends_on"] = [server.name for server in config.mcp_servers]
    services = {config.name: environment} | {server.name: _service(server) for server in config.mcp_servers}
    return {"name": config.name, "services": services}


def _service(server: MCPServerConfig) -> dict[str, Any]:
    # Published for this computer only: a server has no lock of its own.
    port = {"target": server.port, "published": str(server.port), "host_ip": "127.0.0.1", "protocol": "tcp"}
    service: dict[str, Any] = {"image": server.image, "ports": [port]}
    if server.env_vars:
        service["environment"] = {name: _value(name, value, server) for name, value in server.env_vars.items()}
    return service


def _check(config: EnvironmentConfig) -> None:
    services = [config.name, *(server.name for server in config.mcp_servers)]
    for name in services:
        if not _NAME.fullmatch(name):
            raise ConfigurationError(
                f"{name!r} cannot be the name of a service; use small letters, digits, '-' and '_'."
            )
        if services.count(name) > 1:
            raise ConfigurationError(f"two services are called {name!r}; give each a name of its own.")
    for name, image in [(config.name, config.image), *((one.name, one.image) for one in config.mcp_servers)]:
        if not _IMAGE.fullmatch(image):
            raise ConfigurationError(f"service {name!r}: {image!r} is no name of an image; give one like 'search:1.0'.")
    ports = [server.port for server in config.mcp_servers]
    for server in config.mcp_servers:
        if not 1 <= server.port <= 65535 or ports.count(server.port) > 1:
            raise ConfigurationError(
                f"server {server.name!r}: the port {server.port} is not possible, or another server's; "
                "give each server a port from 1 to 65535 of its own."
            )
        if not re.fullmatch(r"(/[A-Za-z0-9._~-]*)*", server.path):
            raise ConfigurationError(f"server {server.name!r}: {server.path!r} is no path; give one like '/mcp'.")


def _value(name: str, value: str | None, server: MCPServerConfig) -> str | None:
    if not _VARIABLE.fullmatch(name):
        raise ConfigurationError(f"server {server.name!r}: {name!r} cannot be the name of an environment variable.")
    if value is None:
        return None
    literal = _REFERENCE.sub("", value)
    if _looks_secret(name, literal) or any(_looks_secret(name, default) for default in _defaults(value)):
        raise ConfigurationError(
            f"server {server.name!r}: the value of {name!r} looks like a secret, and the file is no place for one; "
            f"write '${{{name}}}' and set {name} when you start it."
        )
    # What is no reference must not become one.
    parts = _REFERENCE.split(value)
    references = [*_REFERENCE.findall(value), ""]
    return "".join(part.replace("$", "$$") + reference for part, reference in zip(parts, references, strict=True))


def _defaults(value: str) -> list[str]:
    """What references say stands in for an unset variable."""
    found = (re.search(r":?[-+](.*)\}$", reference) for reference in _REFERENCE.findall(value))
    return [match.group(1) for match in found if match]


def _looks_secret(name: str, text: str) -> bool:
    text = text.strip()
    if not text:
        return False
    if _SECRET_NAME.search(name) and not re.fullmatch(r"\d{1,6}|true|false|yes|no|none", text, re.IGNORECASE):
        return True
    return bool(_SECRET_VALUE.search(text)) or any(_is_random(word) for word in _LONG_WORD.findall(text))


def _is_random(word: str) -> bool:
    """Whether a long word has as many different characters, letters and digits, as only chance makes."""
    if not (re.search(r"[A-Za-z]", word) and re.search(r"\d", word)):
        return False
    counts = Counter(word).values()
    return -sum(count / len(word) * math.log2(count / len(word)) for count in counts) > _RANDOM_BITS
