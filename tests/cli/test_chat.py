"""`knime-mcp chat`, with lines from a pipe and at a terminal."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from knime_ext.cli.app import app
from tests.agent.openai_server import Body, Reply, chosen, completion, failure, openai_service, results_in
from tests.cli.process import COMMAND, ROOT

EXAMPLE = ROOT / "examples" / "orders-agent"
WAIT = 30.0


def chat(lines: str, *words: str) -> Result:
    return CliRunner().invoke(app, ["chat", *words], input=lines)


def openai(url: str) -> list[str]:
    return ["--model", "openai:m", "--base-url", url]


def test_questions_from_a_pipe_get_answers_on_the_standard_output_and_calls_beside_it(
    server_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "tools.arrow"
    assert CliRunner().invoke(app, ["tools", "export", server_url, str(file)]).exit_code == 0
    words = ["--tools", str(EXAMPLE / "tools" / "customer_revenue.json"), "--tools", str(file)]
    done = chat("Which customer has the highest revenue?\n\n", *words, "--data", f"orders={EXAMPLE / 'orders.csv'}")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (
        0,
        "Northwind Traders has the highest revenue: 18342.50 USD (8 customers ranked).",
    )
    call, result = done.stderr.splitlines()
    assert call == '▸ customer_revenue(data_inputs={"orders": 0})'
    assert re.match(r"  ✔ customer_revenue \d+\.\d s  Northwind Traders has", result)


def test_tools_of_a_server_are_taken_as_they_are_now(server_url: str) -> None:
    done = chat("/tools\nHow much are 100 USD in EUR?\n/exit\nnever asked\n", "--server", server_url)
    assert done.exit_code == 0
    host = server_url.split("/")[2]
    assert f"Convert currency (server {host}): Converts an amount of money" in done.stderr
    assert "▸ Convert currency(amount=100" in done.stderr
    assert "never" not in done.stdout + done.stderr


def test_the_conversation_is_kept_until_it_is_cleared() -> None:
    with openai_service([completion("One."), completion("Two."), completion("Three.")]) as service:
        done = chat("first\nsecond\n/clear\nthird\n", *openai(service.url), "--system", "Be brief.")
    assert done.stdout == "One.\nTwo.\nThree.\n"
    said = [[message["content"] for message in request["messages"]] for request in service.requests]
    assert said == [["Be brief.", "first"], ["Be brief.", "first", "One.", "second"], ["Be brief.", "third"]]
    assert all(request["stream"] for request in service.requests)


def test_a_question_that_fails_is_told_and_the_next_one_is_asked() -> None:
    with openai_service(
        [failure(500, "boom"), failure(500, "boom"), failure(500, "boom"), completion("Fine.")]
    ) as service:
        done = chat("first\nsecond\n", *openai(service.url))
    assert done.exit_code == 1
    assert done.stderr == "Error: The chat model 'm' is failing on its server (HTTP 500); try again later.\n"
    assert done.stdout == "Fine.\n"


def test_a_model_cannot_reach_into_the_terminal() -> None:
    with openai_service([completion("\x1b[2J\x1b]0;title\x07red\u202e alert")]) as service:
        assert chat("go\n", *openai(service.url)).stdout == "red alert\n"


def test_calls_are_refused_where_nobody_can_be_asked() -> None:
    def reply(body: Body) -> Reply:
        results = results_in(body)
        arguments = {"data_inputs": {"orders": 0}}
        return completion(results[-1] if results else None, [] if results else [("customer_revenue", arguments)])

    words = ["--tools", str(EXAMPLE / "tools" / "customer_revenue.json"), "--data", f"orders={EXAMPLE / 'orders.csv'}"]
    with openai_service(chosen(reply)) as service:
        done = chat("go\n", *openai(service.url), *words, "--ask")
    assert "✘ customer_revenue" in done.stderr
    assert "approv" in done.stdout


def test_the_last_answer_can_be_written_as_a_page(tmp_path: Path) -> None:
    page = tmp_path / "last.html"
    done = chat(f"/page {page}\nHi\n/page {page}\n/page {tmp_path / 'no' / 'x.html'}\n/what\n/help\n")
    assert done.exit_code == 0
    assert "Hi" in page.read_text(encoding="utf-8")
    assert "after an answer" in done.stderr
    assert "There is no command '/what'" in done.stderr
    assert "/clear" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--model", "gpt"], "names no chat model"),
        (["--tools", "nowhere.arrow"], "'nowhere.arrow' cannot be read"),
        (["--data", "orders.csv"], "write it as --data NAME=FILE"),
        (["--server", "nobody"], "No provider 'nobody'"),
    ],
)
def test_what_cannot_be_used_is_named_before_anything_is_asked(words: list[str], sentence: str) -> None:
    done = chat("go\n", *words)
    assert done.exit_code == 2
    assert sentence in done.stderr


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Terminal:
    """The command at a terminal of its own."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self._master = master
        self._seen = ""

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def until(self, words: str) -> str:
        """What has come up to these words, since the last time."""
        return self._read(lambda: words in self._seen, words)

    def interrupt(self, words: str) -> None:
        """Presses Ctrl-C at the prompt until it is answered.

        Python's line editor misses a signal that comes just before it begins to wait for keys; a person presses again.
        """
        patience = time.monotonic()

        def answered() -> bool:
            nonlocal patience
            if words in self._seen or self.process.poll() is not None:
                return True
            if time.monotonic() >= patience:
                self.type(CTRL_C)
                patience = time.monotonic() + 5
            return False

        self._read(answered, words)

    def until_end(self) -> int:
        self._read(lambda: self.process.poll() is not None, "the end")
        return self.process.wait(WAIT)

    def _read(self, enough: Callable[[], bool], what: str) -> str:
        deadline = time.monotonic() + WAIT
        while not enough():
            assert time.monotonic() < deadline, f"{what!r} did not come, but {self._seen!r}"
            if select.select([self._master], [], [], 0.05)[0]:
                try:
                    self._seen += os.read(self._master, 4096).decode()
                except OSError:  # nobody holds the other end any more
                    assert self.process.wait(WAIT) is not None
        found, self._seen = self._seen, ""
        return found


_AS_FOREGROUND = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


@contextmanager
def terminal(*words: str) -> Generator[Terminal]:
    import pty

    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", _AS_FOREGROUND, *COMMAND, "chat", *words],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TERM": "dumb", "COLUMNS": "200"},
    )
    os.close(slave)
    try:
        yield Terminal(process, master)
    finally:
        process.kill()
        process.wait(WAIT)
        os.close(master)


CTRL_C, CTRL_D = "\x03", "\x04"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")
def test_ctrl_c_stops_the_answer_and_not_the_program_and_ctrl_d_leaves(server_url: str) -> None:
    replies = [
        completion("I look", [("Estimate_shipping", {"region": "Europe", "weight_kg": 2})]),
        completion("Cheap."),
        completion("one two three four five", pause_ms=250),
        completion("Right."),
    ]
    with openai_service(replies) as service, terminal(*openai(service.url), "--server", server_url) as person:
        assert "Model openai:m, 3 tools" in person.until("you> ")
        person.type("ship\\\nit\n")
        shown = person.until("Cheap.") + person.until("you> ")
        assert '▸ Estimate shipping(region="Europe", weight_kg=2)' in shown
        assert "✔ Estimate shipping" in shown
        person.type("count\n")
        person.until("one two")
        person.type(CTRL_C)
        assert "Stopped." in person.until("you> ")
        wait_for(lambda: service.dropped == 1)
        person.type("and now?\n")
        assert "Right." in person.until("you> ")
        person.type(CTRL_D)
        assert person.until_end() == 0
        asked = [message["content"] for message in service.requests[3]["messages"] if message["role"] == "user"]
        assert asked == ["ship\nit", "count", "and now?"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals of this kind")
def test_at_the_prompt_the_first_ctrl_c_warns_and_the_second_leaves() -> None:
    with terminal() as person:
        person.until("you> ")
        person.interrupt("once more")
        person.interrupt("the end")
        assert person.until_end() in (0, 130)  # 130 if it was pressed again while the program was leaving
