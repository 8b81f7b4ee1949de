"""Variables, tool configurations, and the files of desktop hosts."""

import json
from pathlib import Path

import pytest

from knime_ext.errors import ConfigurationError
from knime_ext.mcp import ToolConfig
from knime_ext.mcp.placeholders import resolved
from knime_ext.mcp.provider_import import read_desktop_file
from knime_ext.mcp.provider_models import HTTPProvider, SSEProvider, StdioProvider
from knime_ext.mcp.tool_config_file import load_tool_configs, remove_tool_config, save_tool_config


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain $HOME $", "plain $HOME $"),
        ("${A}", "1"),
        ("${A}${A}-${B:-two}", "11-two"),
        ("${EMPTY:-default}", "default"),
        ("${EMPTY}", ""),
        ("${B:-}", ""),
        ("${B:-a:-b}", "a:-b"),
        ("$${A}", "${A}"),
        ("${NESTED}", "${A}"),
        ("${not a name}", "${not a name}"),
    ],
)
def test_variables_are_replaced_once(text: str, value: str) -> None:
    assert resolved(text, {"A": "1", "EMPTY": "", "NESTED": "${A}"}, "it") == value


def test_a_variable_without_value_is_named() -> None:
    with pytest.raises(ConfigurationError, match="^'url' of provider 'a' needs the environment variable 'MISSING'"):
        resolved("x${MISSING}", {}, "'url' of provider 'a'")


def test_tool_configs_are_written_and_read(tmp_path: Path) -> None:
    file = tmp_path / "tool_configs.yaml"
    first = ToolConfig(tool_alias="research", providers=["docs", "files"], allow_tools=["search_*"], timeout_sec=None)
    second = ToolConfig(
        tool_alias="all",
        providers=["docs"],
        max_tool_calls=20,
        run_timeout_sec=30,
        max_table_tool_calls=500,
        max_table_tokens=9000,
    )
    save_tool_config(first, file)
    save_tool_config(second, file)
    assert load_tool_configs(file) == {"research": first, "all": second}
    remove_tool_config("research", file)
    assert load_tool_configs(file) == {"all": second}
    with pytest.raises(ConfigurationError, match="'research'"):
        remove_tool_config("research", file)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("tool_configs:\n  a:\n    providers: [x]\n    allow_tool: [y]\n", 4, "did you mean 'allow_tools'"),
        ("tool_configs:\n  a:\n    allow_tools: [y]\n", 2, "'providers' of tool configuration 'a': is missing"),
        ("tool_configs:\n  a:\n    providers: [x]\n    max_tool_call_turns: 0\n", 4, "greater than 0"),
        ("tool_configs:\n  a:\n    providers: [x, x]\n", 2, "twice"),
        ("tool_configs:\n  3: {}\n", 2, "alias"),
        ("configs: {}\n", 1, "'configs' is not known"),
    ],
)
def test_a_mistake_in_a_tool_config_is_told_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    file = tmp_path / "tool_configs.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=f"line {line}: .*{words}"):
        load_tool_configs(file)


def _desktop(tmp_path: Path, servers: object, section: str = "mcpServers") -> Path:
    file = tmp_path / "desktop.json"
    file.write_text(json.dumps({section: servers}), encoding="utf-8")
    return file


def test_servers_of_a_desktop_host_become_providers(tmp_path: Path) -> None:
    servers = {
        "files": {"command": "npx", "args": ["-y", "fs"], "env": {"KEY": "${env:KEY}", "N": 3}, "disabled": True},
        "docs": {"url": "https://docs.example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        "old": {"url": "http://127.0.0.1:9/sse"},
        "stated": {"type": "streamable-http", "url": "http://127.0.0.1:9/sse"},
    }
    found = read_desktop_file(_desktop(tmp_path, servers))
    assert found.problems == ()
    assert found.providers == (
        StdioProvider.model_validate(
            {
                "name": "files",
                "command": "npx",
                "args": ["-y", "fs"],
                "env": {"KEY": "${KEY}", "N": "3"},
                "enabled": False,
            }
        ),
        HTTPProvider.model_validate(
            {"name": "docs", "url": "https://docs.example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
        ),
        SSEProvider(name="old", url="http://127.0.0.1:9/sse"),
        HTTPProvider(name="stated", url="http://127.0.0.1:9/sse"),
    )


def test_what_cannot_be_taken_over_is_told_and_hinders_no_other(tmp_path: Path) -> None:
    servers = {
        "My Server!": {"command": "c", "autoApprove": ["x"]},
        "my-server": {"command": "d"},
        "My Server": {"command": "e"},
        "broken": {"type": "websocket", "url": "wss://a"},
        "none": 3,
        "key": {"url": "https://a/?token=canary"},
    }
    found = read_desktop_file(_desktop(tmp_path, servers, "servers"))
    assert [provider.name for provider in found.providers] == ["My-Server", "my-server"]
    said = "\n".join(found.problems)
    assert "'autoApprove'" in said and "'broken'" in said and "'none'" in said and "already called 'My-Server'" in said
    assert "canary" not in said


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "line 1: this is no JSON"), ("[]", "'mcpServers'"), ('{"mcpServers": []}', "'mcpServers'")],
)
def test_a_file_without_servers_is_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "desktop.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=words):
        read_desktop_file(file)
    with pytest.raises(ConfigurationError, match="cannot read"):
        read_desktop_file(tmp_path / "nowhere.json")
