"""`knime-mcp demo`: the main job, whole, with a real MCP server; nothing in it is canned."""

import csv
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from knime_ext.cli.example import orders_agent, running_server
from knime_ext.errors import MCPConnectionError
from tests.cli.process import COMMAND, ROOT, in_this_process, knime_mcp

SERVER = re.compile(r"^MCP server: (http://\S+) ", re.MULTILINE)


def is_gone(url: str) -> bool:
    """Whether nobody listens at an address any more."""
    parts = urlsplit(url)
    with socket.socket() as probe:
        return probe.connect_ex((str(parts.hostname), int(parts.port or 0))) != 0


def answer_of(text: str) -> str:
    """What stands below the heading "Answer"."""
    return text.split("\nAnswer\n", 1)[1].split("\n\n", 1)[0].strip()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    """One run of the demo, and its folder."""
    out = tmp_path_factory.mktemp("demo") / "out"
    return knime_mcp("demo", "--out", str(out)), out


def test_the_demo_answers_with_a_workflow_and_then_a_tool_of_the_server(
    demo: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    done, _ = demo
    assert done.returncode == 0
    calls = re.findall(r"^▸ (.+?)\(.*\)  (workflow|MCP, 127\.0\.0\.1:\d+)$", done.stdout, re.MULTILINE)
    assert [(name, kind.split(",")[0]) for name, kind in calls] == [
        ("customer_revenue", "workflow"),
        ("Convert currency", "MCP"),
    ]
    answer = answer_of(done.stdout)
    assert "Northwind Traders" in answer
    assert "18342.50 USD" in answer
    assert "15774.55 EUR" in answer


def test_the_demo_says_what_each_node_does(demo: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    done, _ = demo
    for node in ("orders", "provider", "workflows", "tools", "model", "agent", "conversation", "result"):
        assert re.search(rf"^{node}: done in ", done.stderr, re.MULTILINE)
    assert "agent: 33% call 1: customer_revenue" in done.stderr


def test_the_demo_leaves_conversation_result_and_page_in_its_folder(
    demo: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    _, out = demo
    with (out / "result.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {"customer": "Northwind Traders", "orders": "6", "revenue_usd": "18342.5"}
    assert (out / "conversation.arrow").is_file()
    assert "15774.55" in (out / "conversation.csv").read_text("utf-8")
    page = (out / "agent.html").read_text("utf-8")
    assert "customer_revenue" in page
    assert not re.search(r"(src|href)=[\"']https?:", page)


def test_the_demo_stops_its_server(demo: tuple[subprocess.CompletedProcess[str], Path]) -> None:
    found = SERVER.search(demo[0].stderr)
    assert found is not None
    assert is_gone(found.group(1))


def test_other_orders_give_another_answer(tmp_path: Path) -> None:
    orders = tmp_path / "orders.csv"
    lines = (orders_agent() / "orders.csv").read_text("utf-8").splitlines()
    orders.write_text("\n".join([*lines, '"Tiny Shop",Grinder,1000,100.25,France,2025-12-31']) + "\n", encoding="utf-8")
    done = in_this_process("demo", "--orders", str(orders), "--out", str(tmp_path / "out"))
    assert done.returncode == 0
    answer = answer_of(done.stdout)
    assert "Tiny Shop" in answer
    assert "100250.00 USD" in answer
    assert "86215" in answer


def test_another_question_gets_other_calls(tmp_path: Path) -> None:
    question = "How much is 200 USD in CHF?"
    done = in_this_process("demo", "--question", question, "--out", str(tmp_path / "out"))
    assert done.returncode == 0
    assert question in done.stdout
    assert re.findall(r"^▸ (.+?)\(", done.stdout, re.MULTILINE) == ["Convert currency"]
    assert "CHF" in answer_of(done.stdout)


def test_without_its_server_the_workflow_fails_with_a_clear_error(tmp_path: Path) -> None:
    with running_server(orders_agent() / "server.py") as url:
        pass  # from here on nobody listens there
    out = tmp_path / "out"
    workflow = str(orders_agent() / "workflow.json")
    done = in_this_process("run", workflow, "--set", f"provider.server_url={url}", "--out", str(out))
    assert done.returncode == 1
    error = done.stderr.splitlines()[-1]
    assert error.startswith("Error: Node 'provider' failed: ")
    assert urlsplit(url).netloc in error
    assert "Traceback" not in done.stderr
    assert "Answer" not in done.stdout
    assert not (out / "result.arrow").exists()


def test_orders_that_are_not_there_are_named(tmp_path: Path) -> None:
    done = knime_mcp("demo", "--orders", str(tmp_path / "gone.csv"), "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert done.stderr == f"Error: There is no file '{tmp_path / 'gone.csv'}'; check the path\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_the_demo_and_its_server(tmp_path: Path, number: int, code: int) -> None:
    command = [*COMMAND, "demo", "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        guard = threading.Timer(60, process.kill)
        guard.start()
        assert process.stderr is not None
        started = SERVER.match(process.stderr.readline())
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(number)
        said = process.stderr.read()
        guard.cancel()
    assert process.returncode == code
    assert said.splitlines()[-1] == "Stopped."
    assert started is not None
    assert is_gone(started.group(1))
    assert children
    assert psutil.wait_procs(children, timeout=0)[1] == []


def test_a_server_that_does_not_start_is_one_sentence_with_its_reason(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text("raise SystemExit('the port is taken')\n", encoding="utf-8")
    with pytest.raises(MCPConnectionError) as caught, running_server(script):
        pass
    assert str(caught.value) == "the example's server ended at once (exit code 1): the port is taken"


def test_the_example_is_found_in_an_installed_package(tmp_path: Path) -> None:
    # As the wheel has it: the examples inside of the package.
    package = tmp_path / "knime_ext"
    package.mkdir()
    for name in ("__init__.py", "errors.py"):
        (package / name).write_text((ROOT / "knime_ext" / name).read_text("utf-8"), encoding="utf-8")
    (package / "cli").mkdir()
    for name in ("__init__.py", "example.py"):
        (package / "cli" / name).write_text((ROOT / "knime_ext" / "cli" / name).read_text("utf-8"), encoding="utf-8")
    example = package / "examples" / "orders-agent"
    example.mkdir(parents=True)
    (example / "workflow.json").write_text("{}", encoding="utf-8")
    code = "from knime_ext.cli.example import orders_agent; print(orders_agent())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == str(example)
