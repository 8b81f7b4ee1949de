"""`knime-mcp tools diff` shows what has changed since tools were listed."""

from pathlib import Path

from tests.cli.process import in_this_process, knime_mcp
from tests.servers.legacy import ECHO, LegacyServer, serving


def test_nothing_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "tools.arrow"
    with serving(LegacyServer()) as server:
        assert in_this_process("tools", "export", server.url, str(file)).returncode == 0
        done = knime_mcp("tools", "diff", str(file))
    assert (done.returncode, done.stdout.strip()) == (0, "1 tool: 1 unchanged, 0 not")


def test_changes_are_shown_field_by_field_and_end_with_exit_code_1(tmp_path: Path) -> None:
    file = tmp_path / "tools.arrow"
    with serving(LegacyServer(tools=[ECHO, {**ECHO, "name": "shout"}])) as server:
        assert in_this_process("tools", "export", server.url, str(file)).returncode == 0
        properties = {"text": {"type": "string"}, "copy_to": {"type": "string", "description": "hidden\u200b"}}
        server.tools = [ECHO | {"inputSchema": {**ECHO["inputSchema"], "properties": properties}}]
        done = in_this_process("tools", "diff", str(file))
    assert done.returncode == 1
    assert "echo" in done.stdout and "inputSchema.properties.copy_to" in done.stdout
    assert "- (absent)" in done.stdout and "hidden\\u200b" in done.stdout
    assert "is gone" in done.stdout
    assert "2 tools: 0 unchanged, 2 not" in done.stdout


def test_a_server_that_is_not_there_is_said_for_its_tools(tmp_path: Path) -> None:
    file = tmp_path / "tools.arrow"
    with serving(LegacyServer()) as server:
        assert in_this_process("tools", "export", server.url, str(file)).returncode == 0
    done = in_this_process("tools", "diff", str(file))
    assert done.returncode == 1
    assert "is unknown" in done.stdout


def test_a_file_without_tools_is_one_clear_sentence(tmp_path: Path) -> None:
    file = tmp_path / "no.arrow"
    file.write_text("no table", "utf-8")
    done = in_this_process("tools", "diff", str(file))
    assert done.returncode == 2
    assert "is no Arrow file" in done.stderr
