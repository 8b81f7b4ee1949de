"""A batch in a process of its own that is killed again and again, and the table that comes out in the end."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep

import pyarrow as pa
from pyarrow import csv, parquet

from knime_ext.agent import BatchPrompter, ChatModelConfig, create_chat_model, prompt_table
from knime_ext.agent.batch.row_scope import RowData, row_tools
from knime_ext.cli.tool_file import read_tools, write_tools
from knime_ext.mcp import MCPToolCaller, server_from_uri, tools_from_listing
from knime_ext.runtime import tool_context
from tests.agent.openai_server import delayed, openai_service
from tests.agent_batch.tool_server import ToolServer, tool_server, weighing
from tests.cli.process import COMMAND, ROOT

ROWS = 300


def finished_rows(journal: Path) -> set[int]:
    """What the journal holds, read while nobody has it open."""
    with closing(sqlite3.connect(journal)) as connection:
        return {number for (number,) in connection.execute("SELECT number FROM finished")}


def started(folder: Path, url: str, out: str) -> subprocess.Popen[bytes]:
    words = ["agent", "things.csv", "--prompt", "{{ thing }}", "--tools", "tools.arrow", "--model", "openai:tiny"]
    words += ["--base-url", url, "--out", out, "--concurrency", "16"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen([*COMMAND, *words], cwd=folder, env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)


def killed_after(process: subprocess.Popen[bytes], server: ToolServer, calls: int) -> None:
    """Kills a process when the server has been called that often since the process was started."""
    before, deadline = len(server.calls), monotonic() + 60
    while len(server.calls) - before < calls:
        assert process.poll() is None, process.communicate()
        assert monotonic() < deadline
        sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=10)


def finished(process: subprocess.Popen[bytes]) -> str:
    _, errors = process.communicate(timeout=90)
    assert process.returncode == 0, errors.decode()
    return errors.decode()


def unbroken(folder: Path, url: str) -> pa.Table:
    """The same table, asked for in one go by this process."""
    data = RowData()
    model = create_chat_model(ChatModelConfig(model="tiny", base_url=url))
    rows = [tool for tool in read_tools(folder / "tools.arrow").tools if tool is not None]
    with tool_context() as context:
        prompter = BatchPrompter(model, row_tools(rows, context, data=data), prompt="{{ thing }}", data=data)
        table = csv.read_csv(folder / "things.csv")
        return prompt_table(prompter, table, folder / "unbroken.journal")


def repeated(done: set[int], server: ToolServer) -> set[str]:
    """Calls for rows that had been finished."""
    return {f"weight thing {number}" for number in done} & set(server.calls)


def test_a_batch_that_is_killed_three_times_gives_the_table_of_an_unbroken_one(tmp_path: Path) -> None:
    csv.write_csv(
        pa.table({"number": list(range(ROWS)), "thing": [f"thing {n}" for n in range(ROWS)]}), tmp_path / "things.csv"
    )
    journal = tmp_path / "broken.parquet.journal"
    chance = random.Random()
    with tool_server() as server, openai_service(delayed(weighing("weigh"), 5), keep=False) as model:
        with MCPToolCaller() as caller:
            write_tools(
                tools_from_listing(caller.list_tools([server_from_uri(server.url)])[0]), tmp_path / "tools.arrow"
            )
        whole = unbroken(tmp_path, model.url)
        assert len(server.calls) == ROWS
        done: set[int] = set()
        for _ in range(3):
            server.calls.clear()
            killed_after(started(tmp_path, model.url, "broken.parquet"), server, chance.randint(1, 75))
            assert repeated(done, server) == set()
            done = finished_rows(journal)
        server.calls.clear()
        told = finished(started(tmp_path, model.url, "broken.parquet"))
        assert repeated(done, server) == set()
    assert f"{ROWS} rows, {len(done)} of them before, 0 failed" in told
    assert not journal.exists()
    assert whole["answer"][7].as_py() == "weight of thing 7"
    patched = parquet.read_table(tmp_path / "broken.parquet")
    assert patched.drop_columns("answer__seconds").equals(whole.drop_columns("answer__seconds"))
