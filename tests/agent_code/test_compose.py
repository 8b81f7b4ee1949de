"""Compose files for an environment and its servers, written and read back."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from knime_ext.agent import (
    CodeActEnvironment,
    CodeAction,
    EnvironmentConfig,
    MCPServerConfig,
    generate_compose_file,
)
from knime_ext.agent.code.compose import compose_document
from knime_ext.agent.code.compose_reading import server_addresses, split_addresses
from knime_ext.errors import ConfigurationError

SEARCH = MCPServerConfig(
    "search", "registry.example.org/search:1.0", 8001, {"API_KEY": "${SEARCH_KEY:?set it}", "LANG": "yes", "HOME": None}
)
FILES = MCPServerConfig("files", "files@sha256:" + "0" * 64, 8002, {"PRICE": "5$ & ${CURRENCY}"}, "/sse")
CONFIG = EnvironmentConfig("shop-env", "shop-env:latest", [SEARCH, FILES])


def test_the_file_has_a_service_for_the_environment_and_one_for_each_server(tmp_path: Path) -> None:
    path = generate_compose_file(CONFIG, tmp_path / "docker-compose.yml")
    assert yaml.safe_load(path.read_text(encoding="utf-8")) == {
        "name": "shop-env",
        "services": {
            "shop-env": {
                "image": "shop-env:latest",
                "environment": {"MCP_SERVERS": "http://search:8001/mcp,http://files:8002/sse"},
                "depends_on": ["search", "files"],
            },
            "search": {
                "image": "registry.example.org/search:1.0",
                "ports": [{"target": 8001, "published": "8001", "host_ip": "127.0.0.1", "protocol": "tcp"}],
                "environment": {"API_KEY": "${SEARCH_KEY:?set it}", "LANG": "yes", "HOME": None},
            },
            "files": {
                "image": "files@sha256:" + "0" * 64,
                "ports": [{"target": 8002, "published": "8002", "host_ip": "127.0.0.1", "protocol": "tcp"}],
                "environment": {"PRICE": "5$$ & ${CURRENCY}"},
            },
        },
    }
    assert [one.name for one in tmp_path.iterdir()] == ["docker-compose.yml"]


def _compose_is_there() -> bool:
    docker = shutil.which("docker")
    return docker is not None and subprocess.run([docker, "compose", "version"], capture_output=True).returncode == 0


@pytest.mark.skipif(not _compose_is_there(), reason="`docker compose` is not installed")
def test_docker_compose_takes_the_file_and_reads_the_same_values(tmp_path: Path) -> None:
    path = generate_compose_file(CONFIG, tmp_path / "docker-compose.yml")
    done = subprocess.run(
        ["docker", "compose", "--file", str(path), "config"],
        env={**os.environ, "SEARCH_KEY": "k", "CURRENCY": "EUR"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    services = yaml.safe_load(done.stdout)["services"]
    assert services["files"]["environment"]["PRICE"].replace("$$", "$") == "5$ & EUR"
    assert services["search"]["environment"]["API_KEY"] == "k"
    assert services["shop-env"]["environment"]["MCP_SERVERS"] == "http://search:8001/mcp,http://files:8002/sse"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("API_KEY", "abc"),
        ("DB_PASSWORD", "hunter2"),
        ("API_KEY", "${KEY:-fallback-key}"),
        ("ADDRESS", "postgres://user:pass@db/x"),
        ("ANYTHING", "sk-proj-abcdefgh"),
        ("ANYTHING", "Bearer abc"),
        ("ANYTHING", "8f3b1c9d7e2a4065b8d1f0e9c7a35642"),
    ],
)
def test_what_looks_like_a_secret_is_not_written(tmp_path: Path, name: str, value: str) -> None:
    config = EnvironmentConfig("env", "env", [MCPServerConfig("s", "s", 1, {name: value})])
    with pytest.raises(ConfigurationError, match=f"looks like a secret.*write '\\${{{name}}}'") as raised:
        generate_compose_file(config, tmp_path / "compose.yml")
    assert value not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_what_only_sounds_like_a_secret_is_written() -> None:
    harmless = {"MAX_TOKENS": "4096", "USE_AUTH": "false", "KEY": "${KEY}", "MODEL": "a-model-with-a-very-long-name"}
    config = EnvironmentConfig("env", "env", [MCPServerConfig("s", "s", 1, harmless)])
    assert compose_document(config)["services"]["s"]["environment"] == harmless


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (EnvironmentConfig("Env", "e"), "'Env' cannot be the name of a service"),
        (EnvironmentConfig("e", "an image"), "'an image' is no name of an image"),
        (EnvironmentConfig("e", "e", [MCPServerConfig("e", "s", 1)]), "two services are called 'e'"),
        (EnvironmentConfig("e", "e", [MCPServerConfig("s", "s", 0)]), "port 0"),
        (EnvironmentConfig("e", "e", [MCPServerConfig("s", "s", 1), MCPServerConfig("t", "t", 1)]), "port 1 "),
        (EnvironmentConfig("e", "e", [MCPServerConfig("s", "s", 1, {"A B": "1"})]), "'A B' cannot be the name"),
        (EnvironmentConfig("e", "e", [MCPServerConfig("s", "s", 1, {}, "mcp\n")]), "is no path"),
    ],
)
def test_what_cannot_be_a_service_is_refused(config: EnvironmentConfig, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        compose_document(config)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_values_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, value: str) -> None:
    path = tmp_path_factory.mktemp("compose") / "compose.yml"
    config = EnvironmentConfig("e", "e", [MCPServerConfig("s", "s", 1, {"TEXT": value})])
    try:
        generate_compose_file(config, path)
    except ConfigurationError:
        return  # it looks like a secret
    written: Any = yaml.safe_load(path.read_text(encoding="utf-8"))["services"]["s"]["environment"]["TEXT"]
    assert written.replace("$$", "$") == value


def test_servers_are_reached_at_the_ports_that_they_publish(tmp_path: Path) -> None:
    path = generate_compose_file(CONFIG, tmp_path / "compose.yml")
    assert server_addresses(path, {}) == ["http://127.0.0.1:8001/mcp", "http://127.0.0.1:8002/sse"]


def test_within_the_network_the_variable_says_where_servers_are(tmp_path: Path) -> None:
    path = generate_compose_file(CONFIG, tmp_path / "compose.yml")
    assert server_addresses(path, {"MCP_SERVERS": " http://a:1/mcp, ,http://b:2/sse,"}) == [
        "http://a:1/mcp",
        "http://b:2/sse",
    ]
    assert split_addresses("") == []


def test_files_of_other_hands_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "compose.yml"
    path.write_text(
        """
services:
  agent:
    environment:
      - OTHER=1
      - MCP_SERVERS=http://one:${ONE_PORT:-80}/mcp,http://two:9000/sse,https://mcp.example.org/mcp
  one:
    ports: ["127.0.0.1:${PUBLISHED:-8080}:80/tcp", "443"]
  two:
    ports: ["9100:9000"]
""",
        encoding="utf-8",
    )
    others = ["http://127.0.0.1:9100/sse", "https://mcp.example.org/mcp"]
    assert server_addresses(path, {}) == ["http://127.0.0.1:8080/mcp", *others]
    assert server_addresses(path, {"PUBLISHED": "8181"}) == ["http://127.0.0.1:8181/mcp", *others]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("services: {a: {image: x}}", "no service has the variable MCP_SERVERS"),
        (
            "services: {a: {environment: {MCP_SERVERS: 'http://b:1/mcp'}}, b: {}}",
            "service 'b' publishes no fixed port for 1",
        ),
        ("[1, 2]", "it has no 'services'"),
        ("a: [", "is no YAML"),
        ("a: !!python/object/apply:os.system ['id']", "is no YAML"),
    ],
)
def test_a_file_without_servers_is_an_error_that_says_what_to_do(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "compose.yml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=reason):
        server_addresses(path, {})
    with pytest.raises(ConfigurationError, match="cannot read"):
        server_addresses(tmp_path / "nothing.yml", {})


def test_an_environment_has_the_servers_of_the_file(tmp_path: Path, toolbox_url: str) -> None:
    port = int(toolbox_url.split(":")[2].split("/")[0])
    config = EnvironmentConfig("env", "env:1", [MCPServerConfig("toolbox", "toolbox:1", port)])
    path = generate_compose_file(config, tmp_path / "compose.yml")
    with CodeActEnvironment.from_docker_compose(path) as env:
        assert env.step(CodeAction("add(a=40, b=2)")).result == 42
        env.reset()
        assert env.registry.problems == ()
