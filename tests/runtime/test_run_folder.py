import json
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.result import RunFailed
from knime_ext.runtime.run_folder import RECORD_NAME, file_stem
from tests.runtime.small_nodes import REGISTRY, calling, run, values, wait_for, workflow

CHAIN = workflow({"count": "Count", "加": "Add", "show": "Show"}, (["count", 0], ["加", 0]), (["加", 0], ["show", 0]))


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def record(folder: Path) -> dict[str, Any]:
    return json.loads((folder / RECORD_NAME).read_text("utf-8"))


def test_every_table_and_view_is_a_file_and_nothing_else_is_left(tmp_path: Path):
    out = tmp_path / "new" / "out"
    result = run(CHAIN, out=out)
    assert result.folder == out
    assert files(out) == {"nodes/count/0.arrow", "nodes/加/0.arrow", "nodes/show/0.arrow", "show.html", "run.json"}
    with pa.memory_map(str(out / "nodes" / "加" / "0.arrow")) as source:
        assert pa.ipc.open_file(source).read_all().column("n").to_pylist() == [1, 2, 3]
    assert (out / "show.html").read_text("utf-8") == "<!doctype html><p>[1, 2, 3]</p>"
    assert result.views == {"show": "<!doctype html><p>[1, 2, 3]</p>"}


def test_the_tables_of_a_group_are_files_of_their_own(tmp_path: Path):
    flow = workflow(
        {"count": "Count", "split": "Split", "stack": "Stack"},
        (["count", 0], ["split", 0]),
        (["split", 0, 0], ["stack", 0]),
        (["split", 0, 1], ["stack", 0]),
    )
    run(flow, out=tmp_path)
    assert files(tmp_path) >= {"nodes/split/0-0.arrow", "nodes/split/0-1.arrow"}


def test_the_record_tells_states_times_and_settings(tmp_path: Path):
    run(CHAIN, out=tmp_path, settings={"加.amount": "2"})
    told = record(tmp_path)
    assert (told["workflow"], told["state"], told["views"]) == ("Test", "succeeded", {"show": {"html": "show.html"}})
    node = told["nodes"]["加"]
    assert node["seconds"] >= 0
    assert (node["name"], node["state"], node["settings"]) == ("Add", "succeeded", {"amount": 2})
    assert node["tables"] == [{"port": 0, "slot": 0, "rows": 3, "columns": 1}]


def test_the_record_of_a_failed_run_tells_why(tmp_path: Path):
    with pytest.raises(RunFailed):
        run(workflow({"fail": "Fail", "add": "Add"}, (["fail", 0], ["add", 0])), out=tmp_path)
    told = record(tmp_path)
    assert told["state"] == "failed"
    assert told["nodes"]["fail"]["message"] == "the server is away; start it"
    assert (told["nodes"]["add"]["state"], told["nodes"]["add"]["message"]) == ("skipped", "node 'fail' failed")


def test_while_a_run_goes_on_its_record_says_so(tmp_path: Path):
    seen: list[dict[str, Any]] = []
    registry = REGISTRY.extended_by(calling(lambda ctx: seen.append(record(tmp_path))))
    run(workflow({"look": "Call"}), registry=registry, out=tmp_path)
    assert (seen[0]["state"], seen[0]["nodes"]["look"]["state"]) == ("running", "waiting")


def test_a_second_run_removes_the_files_of_the_first_and_nothing_else(tmp_path: Path):
    run(CHAIN, out=tmp_path)
    (tmp_path / "mine.csv").write_text("a\n", "utf-8")
    run(workflow({"other": "Count"}), out=tmp_path)
    assert files(tmp_path) == {"nodes/other/0.arrow", "run.json", "mine.csv"}


def test_files_in_a_folder_without_a_run_are_left_alone(tmp_path: Path):
    (tmp_path / "nodes").mkdir()
    (tmp_path / "nodes" / "mine.txt").write_text("mine", "utf-8")
    run(workflow({"count": "Count"}), out=tmp_path)
    assert files(tmp_path) == {"nodes/mine.txt", "nodes/count/0.arrow", "run.json"}


def test_a_record_that_somebody_edited_removes_nothing_outside_of_the_folder(tmp_path: Path):
    out, outside = tmp_path / "out", tmp_path / "outside.csv"
    run(CHAIN, out=out)
    outside.write_text("mine", "utf-8")
    (out / "notes.txt").write_text("mine", "utf-8")
    told = record(out)
    told["outputs"] = {"x": {"csv": "../outside.csv", "arrow": str(outside), "txt": "notes.txt", "n": 1, "up": ".."}}
    (out / RECORD_NAME).write_text(json.dumps(told), "utf-8")
    run(workflow({"other": "Count"}), out=out)
    assert outside.exists() and (out / "notes.txt").exists()


def test_two_runs_into_one_folder_at_once_are_refused(tmp_path: Path):
    inside, go_on = threading.Event(), threading.Event()

    def hold(ctx: Any) -> None:
        inside.set()
        wait_for(go_on)

    registry = REGISTRY.extended_by(calling(hold))
    first = threading.Thread(target=lambda: run(workflow({"hold": "Call"}), registry=registry, out=tmp_path))
    first.start()
    try:
        wait_for(inside)
        with pytest.raises(ConfigurationError, match="another run .* is writing into the folder"):
            run(CHAIN, out=tmp_path)
    finally:
        go_on.set()
        first.join(30)
    assert record(tmp_path)["state"] == "succeeded"
    assert "hold" in record(tmp_path)["nodes"], "the second run must not have touched the first one's record"


KILLED = """
import os, signal, sys
from pathlib import Path
from knime_ext.runtime.atomic import atomic_file
from tests.runtime.small_nodes import REGISTRY, calling, run, workflow

def work(ctx):
    with atomic_file(Path(sys.argv[1]) / "half.csv") as partial:
        partial.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)

flow = workflow({"count": "Count", "call": "Call"}, name="first")
run(flow, registry=REGISTRY.extended_by(calling(work)), out=sys.argv[1])
"""


def test_a_killed_run_leaves_no_half_files_and_does_not_block_the_next(tmp_path: Path):
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=root, timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert (record(tmp_path)["workflow"], record(tmp_path)["state"]) == ("first", "running")
    assert not (tmp_path / "half.csv").exists()
    run(workflow({"other": "Count"}), out=tmp_path)
    assert files(tmp_path) == {"nodes/other/0.arrow", "run.json"}
    assert record(tmp_path)["state"] == "succeeded"


def test_an_output_folder_that_is_a_file_is_named(tmp_path: Path):
    (tmp_path / "out").write_text("", "utf-8")
    with pytest.raises(ConfigurationError, match=r"cannot write '.*out': File exists; free space, fix permissions or"):
        run(CHAIN, out=tmp_path / "out")


def test_an_output_folder_that_cannot_be_made_is_named():
    with pytest.raises(ConfigurationError, match="cannot write '/dev/null/out': Not a directory"):
        run(CHAIN, out="/dev/null/out")


@pytest.fixture
def no_large_files() -> Iterator[None]:
    """A file may have 100 kB: for a program, that is a full disk."""
    old_handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    signal.signal(signal.SIGXFSZ, old_handler)


@pytest.mark.usefixtures("no_large_files")
def test_a_full_disk_fails_the_node_and_leaves_no_half_file(tmp_path: Path):
    flow = workflow({"large": ("Count", {"rows": 100_000}), "small": "Count"})
    with pytest.raises(RunFailed, match=r"node 'large' failed: cannot write '.*large/0\.arrow': .*free space") as error:
        run(flow, out=tmp_path)
    assert files(tmp_path) == {"nodes/small/0.arrow", "run.json"}
    assert values(error.value.result.table("small")) == [0, 1, 2]


def test_settings_that_look_like_secrets_are_not_in_the_record(tmp_path: Path):
    from knime_ext.runtime import knext

    @knext.node("Login", knext.NodeType.OTHER, "i.png", "/")
    class Login:
        """Has a parameter that it should not have."""

        api_key = knext.StringParameter("Key", "", "")
        url = knext.StringParameter("URL", "", "")
        max_tokens = knext.IntParameter("Tokens", "", 5)

        def configure(self, ctx: Any) -> None: ...

        def execute(self, ctx: Any) -> None: ...

    settings = {"api_key": "sk-12345", "url": "http://x/?key=hunter22"}
    run(
        workflow({"login": ("Login", settings)}),
        registry=REGISTRY.extended_by(Login),
        out=tmp_path,
        credentials={"c": knext.Credential("u", "hunter22", "c")},
    )
    shown = record(tmp_path)["nodes"]["login"]["settings"]
    assert shown == {"api_key": "***", "url": "http://x/?key=***", "max_tokens": 5}


@pytest.mark.parametrize(
    ("name", "taken", "stem"),
    [
        ("conversation", set[str](), "conversation"),
        ("Umsätze 2026", set[str](), "Umsätze 2026"),
        ("a/b:c", set[str](), "a_b_c"),
        ("..", set[str](), "output"),
        ("Result", {"result"}, "Result_2"),
        ("x" * 300, set[str](), "x" * 60),
    ],
)
def test_names_become_file_names(name: str, taken: set[str], stem: str):
    assert file_stem(name, taken) == stem
