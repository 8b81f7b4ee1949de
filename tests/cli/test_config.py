"""`knime-mcp config` and `knime-mcp auth`, by options and by questions, as a user runs them."""

import json
import os
import pty
import re
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from knime_ext.cli.app import app
from knime_ext.mcp import ToolConfig
from knime_ext.mcp.providers import load_providers
from knime_ext.mcp.tool_config_file import load_tool_configs
from tests.cli.process import COMMAND, ROOT
from tests.servers.oauth import protected


def configured(home: Path, *words: str, code: int = 0, **env: str) -> str:
    """What a command prints; its files are in `home`."""
    variables = {"KNIME_MCP_HOME": str(home), "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    done = CliRunner().invoke(app, words, env=variables | env)
    assert done.exit_code == code, done.output
    return done.stdout + done.stderr


def test_providers_are_added_changed_switched_listed_and_removed(tmp_path: Path) -> None:
    configured(tmp_path, "config", "mcp", "add", "docs", "--url", "https://a.example/mcp", "--bearer-token", "canary")
    configured(tmp_path, "config", "mcp", "add", "files", "--command", "npx", "--arg=-y", "--env", "KEY=canary")
    said = configured(tmp_path, "config", "mcp", "add", "docs", "--url", "https://b.example", code=2)
    assert "config mcp change docs" in said
    configured(
        tmp_path, "config", "mcp", "change", "docs", "--header", "X=1", "--timeout", "call=5", "--unset", "enabled"
    )
    configured(tmp_path, "config", "mcp", "disable", "files")
    listed = configured(tmp_path, "config", "mcp", "list")
    assert listed.splitlines() == ["docs  http  https://a.example/mcp", "files  stdio  npx  (off)"]
    assert [row["name"] for row in json.loads(configured(tmp_path, "config", "mcp", "list", "--json"))] == [
        "docs",
        "files",
    ]
    docs = load_providers(tmp_path / "providers.yaml")["docs"].server()
    assert docs.timeouts.call == 5 and "canary" not in listed
    configured(tmp_path, "config", "mcp", "enable", "files")
    configured(tmp_path, "config", "mcp", "remove", "docs")
    assert list(load_providers(tmp_path / "providers.yaml")) == ["files"]
    assert "did you mean 'files'" in configured(tmp_path, "config", "mcp", "change", "file", code=2)


def test_a_wrong_word_is_told_without_its_value(tmp_path: Path) -> None:
    said = configured(tmp_path, "config", "mcp", "add", "a", "--command", "c", "--env", "canary", code=2)
    assert "--env needs a name and a value" in said and "canary" not in said
    assert not (tmp_path / "providers.yaml").exists()


def test_a_provider_is_tested_by_listing_its_tools(tmp_path: Path, server_url: str) -> None:
    configured(tmp_path, "config", "mcp", "add", "demo", "--type", "sse", "--url", server_url)
    assert re.search(r"'demo' works: \d+ tools, MCP 20", configured(tmp_path, "config", "mcp", "test", "demo"))
    configured(tmp_path, "config", "mcp", "add", "dead", "--url", "http://127.0.0.1:9/mcp")
    assert "Cannot reach" in configured(tmp_path, "config", "mcp", "test", "dead", code=1)


def test_servers_of_a_desktop_host_are_imported(tmp_path: Path) -> None:
    file = tmp_path / "desktop.json"
    file.write_text(json.dumps({"mcpServers": {"a": {"command": "c"}, "b": {"command": "d"}}}), encoding="utf-8")
    assert "2 providers registered" in configured(tmp_path, "config", "import", str(file))
    said = configured(tmp_path, "config", "import", str(file))
    assert "0 providers registered" in said and "--replace" in said
    assert "2 providers registered" in configured(tmp_path, "config", "import", str(file), "--replace")


def test_tool_configs_are_set_listed_and_removed(tmp_path: Path) -> None:
    configured(tmp_path, "config", "mcp", "add", "docs", "--url", "https://a.example/mcp")
    configured(
        tmp_path, "config", "tools", "set", "research", "--provider", "docs", "--allow", "search_*", "--turns", "3"
    )
    expected = ToolConfig(tool_alias="research", providers=["docs"], allow_tools=["search_*"], max_tool_call_turns=3)
    assert load_tool_configs(tmp_path / "tool_configs.yaml") == {"research": expected}
    assert "research  docs  search_*  3 turns, 60 s" in configured(tmp_path, "config", "tools", "list")
    limits = ["--calls", "9", "--run-timeout", "30", "--table-calls", "500", "--table-tokens", "2000000"]
    configured(tmp_path, "config", "tools", "set", "all", "--provider", "docs", *limits)
    shown = configured(tmp_path, "config", "tools", "list")
    assert "5 turns, 60 s, 9 calls, 30 s per run, 500 calls per table, 2000000 tokens per table" in shown
    configured(tmp_path, "config", "tools", "remove", "all")
    assert "'nodocs'" in configured(tmp_path, "config", "tools", "set", "x", "--provider", "nodocs", code=2)
    configured(tmp_path, "config", "tools", "remove", "research")
    assert "No tool configurations" in configured(tmp_path, "config", "tools", "list")


def answered(home: Path, words: list[str], answers: list[str]) -> str:
    """The output of a command that gets these lines on its standard input."""
    done = subprocess.run(
        [*COMMAND, *words],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "KNIME_MCP_HOME": str(home)},
        input="".join(f"{answer}\n" for answer in answers),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout + done.stderr


def test_the_wizard_adds_changes_and_removes(tmp_path: Path) -> None:
    program = ["add", "files", "stdio", "npx -y 'my server'", "", "KEY=${KEY}", "", "60", "n"]
    url = ["add", "docs", "http", "not an address", "none", "", "60", "n"]
    again = ["add", "docs", "http", "https://a.example/mcp", "oauth", "X=1", "", "90", "n"]
    change = ["change", "docs", "", "https://b.example/mcp", "", "", "", "n"]
    remove = ["remove", "files", "y"]
    said = answered(tmp_path, ["config", "mcp"], [*program, *url[:-1], *again, *change, *remove, "list", "quit"])
    assert "is no http:// or https:// address" in said and "docs  http  https://b.example/mcp" in said
    (docs,) = load_providers(tmp_path / "providers.yaml").values()
    assert docs.model_dump()["auth"]["type"] == "oauth" and docs.server().timeouts.call == 90


def test_input_that_ends_early_stops_the_wizard_and_changes_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "config", "mcp"],
        input="add\ndocs\n",
        env=os.environ | {"KNIME_MCP_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 130
    assert "the input ended before every question was answered" in done.stderr
    assert not (tmp_path / "providers.yaml").exists()


def test_the_wizard_for_tools_asks_for_everything(tmp_path: Path) -> None:
    configured(tmp_path, "config", "mcp", "add", "docs", "--url", "https://a.example/mcp")
    answered(tmp_path, ["config", "tools"], ["set", "research", "docs", "a, b*", "", "30", "quit"])
    expected = ToolConfig(tool_alias="research", providers=["docs"], allow_tools=["a", "b*"], timeout_sec=30)
    assert load_tool_configs(tmp_path / "tool_configs.yaml") == {"research": expected}


def test_a_token_typed_at_a_terminal_is_not_shown(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "config", "mcp"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "KNIME_MCP_HOME": str(tmp_path)},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    seen = ""
    steps = [
        ("What to do", "add"), ("Name", "docs"), ("Kind", ""), ("Address", "https://a.example/mcp"),
        ("Credentials", "token"), ("Token: ", "canary-token"), ("Header", ""), ("Seconds", ""), ("Test it now", "n"),
        ("What to do", "quit"),
    ]  # fmt: skip
    try:
        for question, answer in steps:
            seen += _until(master, question)
            os.write(master, f"{answer}\n".encode())
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait(10)
        os.close(master)
    assert "canary-token" not in seen
    assert load_providers(tmp_path / "providers.yaml").server("docs") is not None
    assert "canary-token" in (tmp_path / "providers.yaml").read_text(encoding="utf-8")


def _until(master: int, question: str) -> str:
    """Everything up to a question."""
    seen, deadline = "", time.monotonic() + 60
    while question not in seen:
        assert time.monotonic() < deadline, seen
        if select.select([master], [], [], 1)[0]:
            seen += os.read(master, 4096).decode(errors="replace")
    return seen


def test_sign_in_status_and_sign_out(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "KNIME_MCP_HOME": str(tmp_path),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
    }
    with protected() as server:
        configured(tmp_path, "config", "mcp", "add", "docs", "--url", f"{server.url}/mcp", "--auth", "type=oauth")
        assert "docs  signed out" in configured(tmp_path, "auth", "status")
        assert "knime-mcp auth login docs" in configured(tmp_path, "config", "mcp", "test", "docs", code=1)
        login = subprocess.Popen(
            [*COMMAND, "auth", "login", "docs", "--no-browser"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            printed: list[str] = []
            reader = in_a_thread(lambda: _sign_in_as_told(login, printed))
            assert login.wait(60) == 0
            reader.join(30)
            assert login.stdout is not None
            printed.append(login.stdout.read())
        finally:
            login.kill()
            login.wait(10)
            for stream in (login.stdout, login.stderr):
                assert stream is not None
                stream.close()
        said = "".join(printed)
        assert "Signed in at provider 'docs': 3 tools" in said
        said += configured(tmp_path, "config", "mcp", "test", "docs") + configured(tmp_path, "auth", "status")
        state = json.loads(configured(tmp_path, "auth", "status", "docs", "--json"))["docs"]
        assert state["state"] == "signed in" and state["is_refreshable"] and state["issuer"] == server.issuer.url
        said += configured(tmp_path, "auth", "logout", "docs")
        assert "docs  signed out" in configured(tmp_path, "auth", "status") and len(server.issuer.revoked) == 1
        assert not any(secret in said for secret in server.issuer.secrets)
        assert not list((tmp_path / "tokens").iterdir())


def in_a_thread(run: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=run)
    thread.start()
    return thread


def _sign_in_as_told(login: "subprocess.Popen[str]", printed: list[str]) -> None:
    """Opens the page that the command prints."""
    assert login.stderr is not None
    for line in login.stderr:
        printed.append(line)
        if line.startswith("http"):
            httpx2.get(line.strip(), follow_redirects=True, trust_env=False)


@pytest.mark.skipif(sys.platform == "win32", reason="ends a process by a signal")
def test_a_sign_in_that_is_given_up_ends_at_once(tmp_path: Path) -> None:
    with protected() as server:
        configured(tmp_path, "config", "mcp", "add", "docs", "--url", f"{server.url}/mcp", "--auth", "type=oauth")
        said = configured(tmp_path, "auth", "login", "docs", "--no-browser", "--timeout", "1", code=1)
        assert "Nobody signed in within 1 s" in said
