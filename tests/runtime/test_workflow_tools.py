import io
import json
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from knime.types.tool import ToolPort, WorkflowTool
from knime_ext.errors import ConfigurationError, Cycle, WorkflowError
from knime_ext.runtime import knext
from knime_ext.runtime.document import load_workflow, save_workflow
from knime_ext.runtime.filestore import FileStore
from knime_ext.runtime.registry import NodeRegistry
from knime_ext.runtime.result import RunFailed
from knime_ext.runtime.workflow_package import DOCUMENT_NAME, pack, unpack
from knime_ext.runtime.workflow_tools import MAX_DEPTH, NO_MESSAGE, workflow_to_tool
from tests.runtime.small_nodes import NODES, calling, run, workflow

REGISTRY = NodeRegistry.load().extended_by(*NODES)
Outcome = tuple[str, list[knext.Table], list[str]]


def written(path: Path, nodes: dict[str, Any], *connections: Any, name: str = "rank") -> Path:
    """A workflow file in a folder that is made for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    save_workflow(workflow(nodes, *connections, name=name), path)
    return path


RANK: tuple[Any, ...] = (
    {
        "top": (
            "IntegerConfiguration",
            {"parameter_name": "top_n", "default_value": 2, "description": "How many"},
        ),
        "sample": ("TableCreator", {"columns": [{"name": "name"}, {"name": "n", "type": "LONG"}], "rows": "[]"}),
        "orders": ("WorkflowInput", {"parameter_name": "orders", "description": "The orders"}),
        "sql": ("SQLQuery", {"query": "SELECT name, n FROM input ORDER BY n DESC LIMIT $top_n"}),
        "message": ("SQLQuery", {"query": "SELECT name || ' leads' AS said FROM input LIMIT 1"}),
        "say": "ToolMessageOutput",
        "ranking": ("WorkflowOutput", {"parameter_name": "ranking", "description": "Best first"}),
    },
    (["sample", 0], ["orders", 0]),
    (["orders", 0], ["sql", 0]),
    (["top", "variables"], ["sql", "variables"]),
    (["sql", 0], ["ranking", 0]),
    (["sql", 0], ["message", 0]),
    (["message", 0], ["say", 0]),
)
ORDERS = knext.Table.from_pyarrow(pa.table({"name": ["李", "Ana", "Bo"], "n": [3, 9, 1]}))


@pytest.fixture
def filestore(tmp_path: Path) -> FileStore:
    return FileStore(folder=tmp_path / "store")


@pytest.fixture
def make_tool(tmp_path: Path, filestore: FileStore) -> Callable[..., WorkflowTool]:
    """Writes a workflow and makes a tool of it."""

    def make(nodes: dict[str, Any], *connections: Any, registry: NodeRegistry = REGISTRY) -> WorkflowTool:
        path = written(tmp_path / "tools" / "flow.json", nodes, *connections)
        return workflow_to_tool(path, registry=registry, filestore=filestore)

    return make


@pytest.fixture
def execute(filestore: FileStore) -> Callable[..., Outcome]:
    """Executes a tool as a node does, through its context."""

    def call(tool: Any, parameters: dict[str, Any] | None = None, *tables: Any, **options: Any) -> Outcome:
        outcomes: list[Outcome] = []
        hints = options.pop("hints", {})

        def ask(ctx: Any) -> None:
            outcomes.append(ctx._execute_tool(tool, parameters or {}, list(tables), hints))

        registry = options.pop("registry", REGISTRY).extended_by(calling(ask))
        run(workflow({"call": "Call"}), registry=registry, filestore=filestore, **options)
        return outcomes[0]

    return call


def rows(table: knext.Table) -> list[dict[str, Any]]:
    return table.to_pyarrow().drop_columns(["<RowID>"]).to_pylist()


# --- making tools ---


def test_a_tool_has_what_the_special_nodes_say(make_tool: Callable[..., WorkflowTool]):
    tool = make_tool(*RANK)
    columns = [{"name": "name", "type": "String"}, {"name": "n", "type": "Number (Long Integer)"}]
    assert replace(tool, _filestore_keys="k") == WorkflowTool(
        name="rank",
        description="",
        parameter_schema={"top_n": {"type": "integer", "default": 2, "description": "How many"}},
        message_output_port_index=0,
        input_ports=[ToolPort("orders", "The orders", "Table", json.dumps({"name": "orders", "columns": columns}))],
        output_ports=[ToolPort("ranking", "Best first", "Table", json.dumps({"name": "ranking", "columns": columns}))],
        _filestore_keys="k",
    )


def test_what_is_not_known_before_a_call_is_left_open(make_tool: Callable[..., WorkflowTool]):
    tool = make_tool(
        {
            "in": ("WorkflowInput", {"parameter_name": "rows"}),
            "out": ("WorkflowOutput", {"parameter_name": "copy"}),
        },
        (["in", 0], ["out", 0]),
    )
    assert tool.input_ports == [ToolPort("rows", "", "Table", "")]
    assert (tool.message_output_port_index, tool.parameter_schema) == (-1, {})


def test_the_same_workflow_makes_the_same_tool(make_tool: Callable[..., WorkflowTool]):
    assert make_tool(*RANK) == make_tool(*RANK)


def test_a_workflow_that_cannot_be_planned_makes_no_tool(make_tool: Callable[..., WorkflowTool], tmp_path: Path):
    with pytest.raises(Cycle, match=r"'.*flow\.json': the connections form a circle: 'a' -> 'a'"):
        make_tool({"a": "Add"}, (["a", 0], ["a", 0]))
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (
            {"a": ("WorkflowInput", {"parameter_name": "x"}), "b": ("WorkflowInput", {"parameter_name": "x"})},
            "nodes 'a' and 'b' both make a workflow input 'x'; rename one",
        ),
        (
            {
                "a": ("IntegerConfiguration", {"parameter_name": "x"}),
                "b": ("StringConfiguration", {"parameter_name": "x"}),
            },
            "nodes 'a' and 'b' both make a workflow parameter 'x'; rename one",
        ),
    ],
)
def test_names_that_could_not_be_told_apart_are_refused(
    nodes: dict[str, Any], message: str, make_tool: Callable[..., WorkflowTool]
):
    with pytest.raises(WorkflowError, match=message):
        make_tool(nodes)


def test_a_wrong_setting_is_said_when_the_tool_is_made_not_when_a_model_calls_it(
    make_tool: Callable[..., WorkflowTool],
):
    with pytest.raises(
        WorkflowError, match=r"flow\.json': settings of node 'c' \(Count\): there is no parameter 'rwos'"
    ):
        make_tool({"c": ("Count", {"rwos": 1})})


def test_a_node_that_only_the_callers_table_can_configure_is_no_obstacle(make_tool: Callable[..., WorkflowTool]):
    nodes = {"in": ("WorkflowInput", {"parameter_name": "rows"}), "t": "TableCreator", "add": "Add"}
    tool = make_tool({**nodes, "bad": ("Fail", {"how": "configure"})}, (["t", 0], ["in", 0]), (["in", 0], ["add", 0]))
    assert tool.input_ports == [ToolPort("rows", "", "Table", "")]


def test_a_missing_workflow_file_is_named(filestore: FileStore, tmp_path: Path):
    with pytest.raises(ConfigurationError, match=r"there is no workflow file '.*none\.json'"):
        workflow_to_tool(tmp_path / "none.json", registry=REGISTRY, filestore=filestore)


# --- executing ---


def test_a_tool_takes_tables_and_parameters_and_gives_message_and_tables(
    make_tool: Callable[..., WorkflowTool], execute: Callable[..., Outcome]
):
    message, tables, views = execute(make_tool(*RANK), {"top_n": 1}, ORDERS)
    assert (message, views) == ("Ana leads", [])
    assert [rows(table) for table in tables] == [[{"name": "Ana", "n": 9}]]


def test_parameters_that_are_left_out_take_their_defaults(
    make_tool: Callable[..., WorkflowTool], execute: Callable[..., Outcome]
):
    _, [ranking], _ = execute(make_tool(*RANK), {}, ORDERS)
    assert rows(ranking) == [{"name": "Ana", "n": 9}, {"name": "李", "n": 3}]


def test_a_tool_without_message_says_that_it_is_done(
    make_tool: Callable[..., WorkflowTool], execute: Callable[..., Outcome]
):
    assert execute(make_tool({"count": "Count"})) == (NO_MESSAGE, [], [])


def test_nodes_with_a_view_are_named_on_request(
    make_tool: Callable[..., WorkflowTool], execute: Callable[..., Outcome]
):
    tool = make_tool({"count": "Count", "show": "Show"}, (["count", 0], ["show", 0]))
    assert execute(tool, hints={"execution-mode": "DEFAULT", "with-view-nodes": "True"})[2] == ["show"]
    assert execute(tool, hints={"with-view-nodes": "false"})[2] == []


def refusal(execute: Callable[..., Outcome], *call: Any) -> str:
    with pytest.raises(RunFailed) as error:
        execute(*call)
    assert isinstance(error.value.__cause__, RuntimeError), "KNIME's own executor raises RuntimeError"
    return str(error.value).removeprefix("node 'call' failed: RuntimeError: tool 'rank' failed: ")


def test_wrong_parameters_and_tables_are_refused(
    make_tool: Callable[..., WorkflowTool], execute: Callable[..., Outcome]
):
    tool = make_tool(*RANK)
    assert "must not have 'topn'; known are 'top_n'" in refusal(execute, tool, {"topn": 1}, ORDERS)
    assert "'top_n' must be of type integer" in refusal(execute, tool, {"top_n": "many"}, ORDERS)
    assert refusal(execute, tool, {}) == "it takes 1 tables, 0 were given; give one per input port"


def test_a_failing_node_within_a_tool_is_named(make_tool: Callable[..., WorkflowTool], execute: Callable[..., Outcome]):
    assert refusal(execute, make_tool({"bad": "Fail"})) == "node 'bad' failed: the server is away; start it"


def test_a_tool_whose_content_is_gone_says_how_to_get_it_back(
    make_tool: Callable[..., WorkflowTool], execute: Callable[..., Outcome], filestore: FileStore
):
    tool = make_tool({"count": "Count"})
    for path in [path for path in filestore.folder.rglob("*") if path.is_file()]:
        path.unlink()
    assert "is not in the file store" in refusal(execute, tool)
    assert "made" not in refusal(execute, replace(tool, _filestore_keys="nonsense"))
    assert "has no content in a file store" in refusal(execute, replace(tool, _filestore_keys=None))


def test_a_damaged_package_is_refused(
    make_tool: Callable[..., WorkflowTool], execute: Callable[..., Outcome], filestore: FileStore
):
    tool = make_tool({"count": "Count"})
    nonsense = replace(tool, _filestore_keys=filestore.put(b"no zip", "x"))
    assert "cannot be unpacked" in refusal(execute, nonsense)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as target:
        target.writestr("../escape.txt", "x")
        target.writestr(DOCUMENT_NAME, "{}")
    escaping = replace(tool, _filestore_keys=filestore.put(archive.getvalue(), "x"))
    assert "unsafe path '../escape.txt'" in refusal(execute, escaping)


def test_a_tool_that_promises_more_than_its_workflow_gives_is_refused(
    make_tool: Callable[..., WorkflowTool], execute: Callable[..., Outcome]
):
    tool = replace(make_tool({"count": "Count"}), output_ports=[ToolPort("extra", "", "Table", "")])
    assert refusal(execute, tool).startswith("its workflow does not have the outputs that the tool promises")


def test_a_tool_that_is_no_tool_is_refused(execute: Callable[..., Outcome]):
    class Odd:
        name = "rank"

    assert refusal(execute, Odd()).startswith("a Odd cannot be executed")


def test_many_threads_of_one_node_execute_tools_side_by_side(
    make_tool: Callable[..., WorkflowTool], filestore: FileStore
):
    both_inside = threading.Barrier(2, timeout=30)
    failures: list[BaseException] = []

    def work(ctx: Any) -> None:
        if ctx._services.depth:
            both_inside.wait()
            return

        def call() -> None:
            try:
                ctx._execute_tool(tool, {}, [], {})
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=call) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)

    registry = REGISTRY.extended_by(calling(work))
    tool = make_tool({"call": "Call"}, registry=registry)
    assert run(workflow({"call": "Call"}), registry=registry, filestore=filestore).state == "succeeded"
    assert failures == []


def test_canceling_the_run_cancels_the_workflow_of_a_tool(make_tool: Callable[..., WorkflowTool], filestore: FileStore):
    cancel = threading.Event()
    seen: list[bool] = []

    def work(ctx: Any) -> None:
        if ctx._services.depth:
            cancel.set()
            seen.append(ctx.is_canceled())
        else:
            ctx._execute_tool(tool, {}, [], {})

    registry = REGISTRY.extended_by(calling(work))
    tool = make_tool({"call": "Call"}, registry=registry)
    result = run(workflow({"call": "Call"}), registry=registry, filestore=filestore, cancel=cancel)
    assert (result.state, seen) == ("canceled", [True])


def test_a_tool_that_calls_itself_without_end_is_stopped(make_tool: Callable[..., WorkflowTool], filestore: FileStore):
    depths: list[int] = []

    def work(ctx: Any) -> None:
        depths.append(ctx._services.depth)
        ctx._execute_tool(tool, {}, [], {})

    registry = REGISTRY.extended_by(calling(work))
    tool = make_tool({"call": "Call"}, registry=registry)
    with pytest.raises(RunFailed, match=f"call each other more than {MAX_DEPTH} deep"):
        run(workflow({"call": "Call"}), registry=registry, filestore=filestore)
    assert depths == list(range(MAX_DEPTH + 1))


def test_tools_leave_no_temporary_files_behind(
    make_tool: Callable[..., WorkflowTool],
    execute: Callable[..., Outcome],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    import gc

    tool = make_tool(*RANK)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    _, [ranking], _ = execute(tool, {}, ORDERS)
    gc.collect()
    assert list(temporary.iterdir()) == []
    assert len(rows(ranking)) == 2, "the table stays readable nevertheless"


def test_a_tool_table_that_was_saved_runs_in_another_process(tmp_path: Path):
    folder = tmp_path / "flow"
    written(folder / "tools" / "rank.json", *RANK)
    tools = workflow(
        {
            "tools": ("WorkflowToTool", {"workflows": "tools/*.json"}),
            "out": ("WorkflowOutput", {"parameter_name": "tools"}),
        },
        (["tools", 0], ["out", 0]),
    )
    store = FileStore(folder=tmp_path / "home" / "filestore")
    run(tools, registry=REGISTRY, base_dir=folder, out=tmp_path / "out", filestore=store)
    for path in (folder / "tools").iterdir():
        path.unlink()
    program = """
import sys, pyarrow as pa
from knime_ext.runtime import NodeRegistry, knext, parse_workflow, run_workflow
from knime_ext.runtime.knext.arrow_files import read_table
tool = read_table(sys.argv[1]).to_pyarrow().column("Tool")[0].as_py()
orders = knext.Table.from_pyarrow(pa.table({"name": ["Ana"], "n": [9]}))

@knext.node("Call", knext.NodeType.OTHER, "", "/")
class Call:
    def configure(self, ctx): pass
    def execute(self, ctx): print(ctx._execute_tool(tool, {"top_n": 5}, [orders], {})[0])

run_workflow(parse_workflow({"name": "w", "nodes": [{"id": "c", "factory": "Call"}]}),
             registry=NodeRegistry.load().extended_by(Call))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "out" / "tools.arrow")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"KNIME_MCP_HOME": str(tmp_path / "home")},
    )
    assert done.stdout == "Ana leads\n", done.stderr


# --- packages ---


def packed(path: Path) -> set[str]:
    with zipfile.ZipFile(io.BytesIO(pack(path, REGISTRY))) as package:
        return set(package.namelist())


def test_the_files_that_a_workflow_reads_come_along(
    tmp_path: Path, execute: Callable[..., Outcome], filestore: FileStore
):
    (tmp_path / "flow" / "daten").mkdir(parents=True)
    (tmp_path / "flow" / "daten" / "größe.csv").write_text("said\ninside\n", "utf-8")
    (tmp_path / "outside.csv").write_text("said\noutside\n", "utf-8")
    nodes = {"in": ("CSVReader", {"path": "daten/größe.csv"}), "out": ("CSVReader", {"path": "../outside.csv"})}
    path = written(
        tmp_path / "flow" / "flow.json",
        {**nodes, "both": "Concatenate", "message": ("SQLQuery", {"query": "SELECT string_agg(said, ' ') FROM input"}),
         "say": "ToolMessageOutput"},
        (["in", 0], ["both", 0]),
        (["out", 0], ["both", 0]),
        (["both", 0], ["message", 0]),
        (["message", 0], ["say", 0]),
    )  # fmt: skip
    assert packed(path) == {DOCUMENT_NAME, "daten/größe.csv", "outside/1/outside.csv"}
    tool = workflow_to_tool(path, registry=REGISTRY, filestore=filestore)
    (tmp_path / "outside.csv").unlink()
    (tmp_path / "flow" / "daten" / "größe.csv").unlink()
    assert execute(tool)[0] == "inside outside"


def test_tools_of_tools_come_along_with_their_own_files(
    tmp_path: Path, execute: Callable[..., Outcome], filestore: FileStore
):
    inner = {"read": ("CSVReader", {"path": "../data/words.csv"}), "say": "ToolMessageOutput"}
    (tmp_path / "flow" / "data").mkdir(parents=True)
    (tmp_path / "flow" / "data" / "words.csv").write_text("said\nfrom deep inside\n", "utf-8")
    written(tmp_path / "flow" / "tools" / "inner.json", inner, (["read", 0], ["say", 0]), name="inner")

    @knext.node("First", knext.NodeType.OTHER, "i.png", "/", id="FirstTool")
    @knext.input_table("Tools", "")
    @knext.output_table("Message", "")
    class FirstTool:
        """Executes the first tool of a table."""

        def configure(self, ctx: Any, schema: Any) -> Any:
            return knext.Schema.from_columns([knext.Column(knext.string(), "said")])

        def execute(self, ctx: Any, table: knext.Table) -> Any:
            tool = table.to_pyarrow().column("Tool")[0].as_py()
            said, _, _ = ctx._execute_tool(tool, {}, [], {})
            return knext.Table.from_pyarrow(pa.table({"said": [said]}))

    registry = REGISTRY.extended_by(FirstTool)
    path = written(
        tmp_path / "flow" / "outer.json",
        {"tools": ("WorkflowToTool", {"workflows": "tools/*.json"}), "first": "FirstTool", "say": "ToolMessageOutput"},
        (["tools", 0], ["first", 0]),
        (["first", 0], ["say", 0]),
    )
    assert packed(path) == {DOCUMENT_NAME, "tools/inner.json", "data/words.csv"}
    tool = workflow_to_tool(path, registry=registry, filestore=filestore)
    (tmp_path / "flow" / "data" / "words.csv").unlink()
    (tmp_path / "flow" / "tools" / "inner.json").unlink()
    assert execute(tool, registry=registry)[0] == "from deep inside"


def test_a_workflow_that_is_a_tool_of_itself_is_packed_once(tmp_path: Path):
    path = written(tmp_path / "loop.json", {"tools": ("WorkflowToTool", {"workflows": "loop.json"})})
    assert packed(path) == {DOCUMENT_NAME, "loop.json"}


def test_absolute_paths_and_paths_to_nothing_stay_as_they_are(tmp_path: Path):
    (tmp_path / "here.csv").write_text("a\n1\n", "utf-8")
    settings = [str(tmp_path / "here.csv"), "not-yet.csv"]
    nodes = {f"r{number}": ("CSVReader", {"path": path}) for number, path in enumerate(settings)}
    path = written(tmp_path / "flow" / "flow.json", nodes)
    with zipfile.ZipFile(io.BytesIO(pack(path, REGISTRY))) as package:
        document = json.loads(package.read(DOCUMENT_NAME))
    assert [node["settings"]["path"] for node in document["nodes"]] == settings


def test_a_package_unpacks_to_the_same_workflow(tmp_path: Path):
    path = written(tmp_path / "flow.json", *RANK)
    (tmp_path / "unpacked").mkdir()
    assert unpack(pack(path, REGISTRY), tmp_path / "unpacked") == load_workflow(path)


# --- runs as callers make them ---


def test_callers_give_tables_and_parameters_by_name(tmp_path: Path):
    flow = load_workflow(written(tmp_path / "flow.json", *RANK))
    result = run(flow, registry=REGISTRY, inputs={"orders": ORDERS}, parameters={"top_n": 1}, out=tmp_path / "out")
    assert (result.message, rows(result.workflow_outputs["ranking"])) == ("Ana leads", [{"name": "Ana", "n": 9}])
    assert (tmp_path / "out" / "ranking.csv").read_text("utf-8") == "name,n\nAna,9\n"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"inputs": {"order": ORDERS}}, "the workflow has no input 'order'; did you mean 'orders'?"),
        ({"parameters": {"topn": 1}}, "the workflow has no parameter 'topn'; did you mean 'top_n'?"),
    ],
)
def test_unknown_names_of_callers_are_refused(given: dict[str, Any], message: str, tmp_path: Path):
    flow = load_workflow(written(tmp_path / "flow.json", *RANK))
    with pytest.raises(ConfigurationError) as error:
        run(flow, registry=REGISTRY, **given)
    assert str(error.value) == message


def test_a_workflow_folder_that_cannot_be_written_is_enough(tmp_path: Path):
    folder = tmp_path / "flow"
    flow = load_workflow(written(folder / "flow.json", *RANK))
    before = {path: path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]}
    run(flow, registry=REGISTRY, base_dir=folder, inputs={"orders": ORDERS})
    assert {path: path.stat().st_mtime_ns for path in [folder, *folder.rglob("*")]} == before
