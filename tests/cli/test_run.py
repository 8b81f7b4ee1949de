"""`knime-mcp run`: workflows from the command line, in processes of their own."""

import json
import os
import pty
import re
import signal
import socket
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import COMMAND, ROOT, in_this_process, knime_mcp

NUMBERS = {
    "id": "numbers",
    "factory": "TableCreator",
    "settings": {
        "columns": [{"name": "word", "type": "STRING"}, {"name": "n", "type": "LONG"}],
        "rows": '[["one", 1], ["two", 2], ["three", 3]]',
    },
}
FILTER = {
    "id": "filter",
    "factory": "SQLQuery",
    "settings": {"query": "SELECT * FROM input WHERE n > 1"},
}
OUTPUT = {"id": "end", "factory": "WorkflowOutput", "settings": {"parameter_name": "big_ones"}}
CONNECTIONS = [{"from": ["numbers", 0], "to": ["filter", 0]}, {"from": ["filter", 0], "to": ["end", 0]}]


def document(folder: Path, nodes: list[Any] | None = None, connections: list[Any] | None = None) -> Path:
    path = folder / "workflow.json"
    content = {
        "format": 1,
        "name": "Test",
        "nodes": [NUMBERS, FILTER, OUTPUT] if nodes is None else nodes,
        "connections": CONNECTIONS if connections is None else connections,
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def hanging_provider(folder: Path, port: int) -> Path:
    settings = {"server_url": f"http://127.0.0.1:{port}/mcp"}
    return document(folder, [{"id": "provider", "factory": "MCPToolProvider", "settings": settings}], [])


def test_results_go_to_the_output_and_progress_as_plain_lines_to_the_error_output(tmp_path: Path) -> None:
    done = knime_mcp("run", str(document(tmp_path)), cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout == "big_ones (2 rows)\nword   n\ntwo    2\nthree  3\n\n"
    lines = done.stderr.splitlines()
    assert lines[0] == "numbers: Table Creator started"
    assert any(re.fullmatch(r"filter: done in \d+\.\d\d s, 2 rows × 2 columns", line) for line in lines)
    assert lines[-1] == "Nothing was kept; --out DIR keeps tables and pages."
    assert [path.name for path in tmp_path.iterdir()] == ["workflow.json"]


def test_results_are_kept_where_the_user_says(tmp_path: Path) -> None:
    out = tmp_path / "results" / "first"
    done = in_this_process("run", str(document(tmp_path)), "--out", str(out))
    assert done.returncode == 0
    assert done.stdout.endswith(f"Written to {out}\n  big_ones.arrow, big_ones.csv\n  nodes/, run.json\n")
    assert (out / "big_ones.csv").read_text("utf-8") == "word,n\ntwo,2\nthree,3\n"
    assert sorted(path.name for path in out.iterdir() if not path.name.startswith(".")) == [
        "big_ones.arrow",
        "big_ones.csv",
        "nodes",
        "run.json",
    ]


def test_a_setting_can_be_changed_for_one_run(tmp_path: Path) -> None:
    query = "filter.query=SELECT word FROM input WHERE n = 1"
    done = in_this_process("run", str(document(tmp_path)), "--set", query, "--set", "end.parameter_name=only")
    assert [line.rstrip() for line in done.stdout.splitlines()] == ["only (1 row)", "word", "one", ""]


@pytest.mark.parametrize(
    ("nodes", "connections", "words", "sentence"),
    [
        (
            [{"id": "a", "factory": "TableCreatr"}],
            [],
            [],
            "unknown factory 'TableCreatr'; did you mean 'TableCreator'?",
        ),
        (None, None, ["--set", "filter.quer=x"], "there is no parameter 'quer'; did you mean 'query'?"),
        (None, None, ["--set", "filtr.query=x"], "there is no node 'filtr'; did you mean 'filter'?"),
        (None, [*CONNECTIONS, {"from": ["end", 0], "to": ["numbers", 0]}], [], "'end'"),
        ([{**NUMBERS, "id": 5}], [], [], "nodes[0].id must be a text"),
    ],
)
def test_bad_input_is_one_sentence_exits_with_2_and_writes_nothing(
    tmp_path: Path, nodes: Any, connections: Any, words: list[str], sentence: str
) -> None:
    out = tmp_path / "out"
    done = in_this_process("run", str(document(tmp_path, nodes, connections)), "--out", str(out), *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.startswith("Error: ")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert not out.exists()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = in_this_process("run", str(tmp_path / "gone.json"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"Error: There is no workflow file '{tmp_path / 'gone.json'}'; check the path\n"


def test_a_node_that_fails_is_one_sentence_and_exits_with_1(tmp_path: Path) -> None:
    done = in_this_process("run", str(hanging_provider(tmp_path, 9)))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("Error: Node 'provider' failed: ")
    assert "127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_a_run_cleanly(tmp_path: Path, number: int, code: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        command = [*COMMAND, "run", str(hanging_provider(tmp_path, silent.getsockname()[1]))]
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
            guard = threading.Timer(60, process.kill)
            guard.start()
            assert process.stderr is not None
            assert process.stderr.readline() == "provider: MCP Tool Provider started\n"
            silent.accept()[0].close()  # the node is talking to the server now
            process.send_signal(number)
            said = process.stderr.read()
            guard.cancel()
    assert process.returncode == code
    assert said.splitlines()[-1] == "Stopped."
    assert "Traceback" not in said


def on_a_terminal(*words: str, cwd: Path) -> tuple[int, str]:
    """Runs `knime-mcp` on a terminal of its own; gives the exit code and what the terminal got."""
    parent, child = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
    with subprocess.Popen(
        [*COMMAND, *words], cwd=cwd, env=environment, stdin=child, stdout=child, stderr=child, close_fds=True
    ) as process:
        os.close(child)
        guard = threading.Timer(60, process.kill)
        guard.start()
        received = b""
        try:
            while chunk := os.read(parent, 65536):
                received += chunk
        except OSError:
            pass  # the terminal is closed: the process has ended
        finally:
            os.close(parent)
            guard.cancel()
    return process.returncode, received.decode()


def test_a_terminal_gets_a_bar_per_node(tmp_path: Path) -> None:
    code, received = on_a_terminal("run", str(document(tmp_path)), cwd=ROOT)
    assert code == 0
    last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", received).replace("\r", "")
    for node, name in [("numbers", "Table Creator"), ("filter", "SQL Query"), ("end", "Workflow Output")]:
        assert re.search(rf"✔ {node} +{name} +━+", last)
    assert "\x1b[" in received
