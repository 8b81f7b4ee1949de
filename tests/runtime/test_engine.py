import asyncio
import gc
import json
import threading
import traceback
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knime_ext.errors import ConfigurationError, Cycle, NodeFailed, PortMismatch, WorkflowError
from knime_ext.runtime import events as ev
from knime_ext.runtime import knext
from knime_ext.runtime.document import Workflow
from knime_ext.runtime.result import RunFailed
from tests.runtime.small_nodes import REGISTRY, calling, numbers, run, values, wait_for, wait_until, workflow

CHAIN = workflow({"add": ("Add", {"amount": 5}), "count": "Count"}, (["count", 0], ["add", 0]))


def test_tables_flow_from_node_to_node():
    result = run(CHAIN)
    assert result.state == "succeeded"
    assert values(result.table("count")) == [0, 1, 2]
    assert values(result.table("add")) == [5, 6, 7]
    assert result.nodes["add"].state == "succeeded"
    assert result.nodes["add"].tables == (ev.PortSize(port=0, rows=3, columns=1),)


def test_tables_stay_readable_when_the_result_is_gone():
    table = run(CHAIN).table("add")
    gc.collect()
    assert values(table) == [5, 6, 7]


def test_the_temporary_folder_goes_with_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = run(CHAIN)
    assert [path.name for path in tmp_path.glob("*/nodes/*/*")]
    assert result.state == "succeeded"
    del result
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_group_gets_its_tables_in_the_order_of_the_connections():
    flow = workflow(
        {"two": ("Count", {"rows": 2}), "one": ("Count", {"rows": 1}), "stack": "Stack"},
        (["two", 0], ["stack", 0]),
        (["one", 0], ["stack", 0]),
    )
    assert values(run(flow).table("stack")) == [0, 1, 0]


def test_an_output_group_gives_as_many_tables_as_are_connected():
    flow = workflow(
        {"count": "Count", "split": "Split", "add": "Add"},
        (["count", 0], ["split", 0]),
        (["split", 0, 1], ["add", 0]),
    )
    result = run(flow)
    assert values(result.table("add")) == [2]
    assert [values(table) for table in result.outputs["split", 0]] == [[0], [1]]
    assert values(result.table("split", 0, slot=1)) == [1]


def test_port_objects_and_absent_optional_inputs_arrive():
    flow = workflow({"say": "Say", "hear": "Hear", "deaf": "Hear"}, (["say", 0], ["hear", 0]))
    result = run(flow)
    assert values(result.table("hear")) == [5]
    assert values(result.table("deaf")) == [None]


def test_independent_branches_run_at_the_same_time():
    both_inside = threading.Barrier(2, timeout=30)
    registry = REGISTRY.extended_by(calling(lambda ctx: both_inside.wait()))
    assert run(workflow({"a": "Call", "b": "Call"}), registry=registry).state == "succeeded"


def test_a_branch_goes_on_while_another_one_is_slow():
    fast_is_done = threading.Event()

    def watch(event: ev.Event) -> None:
        if isinstance(event, ev.NodeFinished) and event.node == "after_fast":
            fast_is_done.set()

    registry = REGISTRY.extended_by(calling(lambda ctx: wait_for(fast_is_done)))
    flow = workflow({"slow": "Call", "fast": "Count", "after_fast": "Add"}, (["fast", 0], ["after_fast", 0]))
    assert run(flow, registry=registry, events=watch).state == "succeeded"


def test_a_node_is_told_the_real_columns_when_they_were_not_known_before():
    flow = workflow(
        {"count": "Count", "late": ("Late", {"column": "m"}), "add": "Add"},
        (["count", 0], ["late", 0]),
        (["late", 0], ["add", 0]),
    )
    with pytest.raises(NodeFailed, match="node 'add' failed: there is no column 'n'; connect a table of numbers"):
        run(flow)
    assert values(run(flow, settings={"late.column": "n"}).table("add")) == [1, 2, 3]


def test_events_tell_the_whole_story_in_order():
    seen: list[ev.Event] = []
    flow = workflow({"count": "Count", "talk": "Talk"}, (["count", 0], ["talk", 0]))
    run(flow, events=seen.append)
    story = [(type(event).__name__, getattr(event, "node", None)) for event in seen]
    assert story == [
        ("NodeWarning", "talk"),
        ("RunStarted", None),
        ("NodeStarted", "count"),
        ("NodeFinished", "count"),
        ("NodeStarted", "talk"),
        ("NodeProgress", "talk"),
        ("NodeWarning", "talk"),
        ("NodeFinished", "talk"),
        ("RunFinished", None),
    ]
    assert seen[1] == ev.RunStarted(nodes=("count", "talk"))
    assert seen[5] == ev.NodeProgress(node="talk", fraction=0.5, message="half way")
    assert [event.message for event in seen if isinstance(event, ev.NodeWarning)] == ["be careful", "really"]


def test_a_listener_that_fails_does_not_disturb_the_run(caplog: pytest.LogCaptureFixture):
    def broken(event: ev.Event) -> None:
        raise RuntimeError("broken listener")

    assert run(CHAIN, events=broken).state == "succeeded"
    assert "broken listener" in caplog.text


# --- failures ---


FORK = workflow(
    {"fail": "Fail", "after": "Add", "far": "Add", "count": "Count", "beside": "Add"},
    (["fail", 0], ["after", 0]),
    (["after", 0], ["far", 0]),
    (["count", 0], ["beside", 0]),
)


def failure(flow: Workflow, **options: Any) -> RunFailed:
    with pytest.raises(RunFailed) as error:
        run(flow, **options)
    return error.value


def test_a_failed_node_skips_those_after_it_and_the_others_finish():
    seen: list[ev.Event] = []
    error = failure(FORK, events=seen.append)
    assert str(error) == "node 'fail' failed: the server is away; start it"
    assert error.node == "fail"
    states = {node: outcome.state for node, outcome in error.result.nodes.items()}
    assert states == {
        "fail": "failed",
        "after": "skipped",
        "far": "skipped",
        "count": "succeeded",
        "beside": "succeeded",
    }
    assert error.result.nodes["far"].message == "node 'fail' failed"
    assert values(error.result.table("beside")) == [1, 2, 3]
    with pytest.raises(WorkflowError, match="node 'far' has no tables, it is skipped: node 'fail' failed"):
        error.result.table("far")
    assert [event.because for event in seen if isinstance(event, ev.NodeSkipped)] == ["node 'fail' failed"] * 2
    assert seen[-1] == ev.RunFinished(state="failed", seconds=error.result.seconds)


def test_all_failed_nodes_are_named():
    error = failure(workflow({"a": "Fail", "b": "Fail"}))
    assert str(error) == "node 'a' failed: the server is away; start it (also failed: 'b')"


def test_an_unexpected_error_names_its_type_and_keeps_its_traceback():
    error = failure(workflow({"bad": ("Fail", {"how": "bug"})}))
    assert str(error) == "node 'bad' failed: KeyError: 'missing'"
    assert isinstance(error.__cause__, KeyError)
    assert error.__cause__.__traceback__ is not None


def test_a_missing_file_names_its_path():
    error = failure(workflow({"bad": ("Fail", {"how": "file"})}))
    assert str(error) == (
        "node 'bad' failed: FileNotFoundError: No such file or directory '/there/is/no/such/file'; "
        "check that it exists and may be used"
    )


@pytest.mark.parametrize("raised", [SystemExit(3), asyncio.CancelledError(), RecursionError("too deep")])
def test_a_node_can_fail_in_any_way_without_ending_the_run(raised: BaseException):
    def work(ctx: Any) -> None:
        raise raised

    registry = REGISTRY.extended_by(calling(work))
    error = failure(
        workflow({"bad": "Call", "count": "Count", "add": "Add"}, (["count", 0], ["add", 0])), registry=registry
    )
    assert error.reason.startswith(type(raised).__name__)
    assert error.result.nodes["add"].state == "succeeded"


def test_a_node_that_cannot_even_be_made_is_named(tmp_path: Path):
    made: list[object] = []

    @knext.node("Shy", knext.NodeType.OTHER, "i.png", "/")
    class Shy:
        """Can be made once, when it is declared."""

        def __init__(self) -> None:
            if made:
                raise RuntimeError("no more")
            made.append(self)

        def configure(self, ctx: Any) -> None: ...

        def execute(self, ctx: Any) -> None: ...

    assert refused(workflow({"shy": "Shy"}), tmp_path, registry=REGISTRY.extended_by(Shy)) == (
        "node 'shy' failed: RuntimeError: no more"
    )


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("few", "its execute returned 0 values for 1 outputs; this is a mistake in the node, report it to its author"),
        ("type", "output port 'Numbers': a table port needs a knext.Table or knext.BatchOutputTable, not str"),
    ],
)
def test_wrong_outputs_are_explained(how: str, reason: str):
    assert failure(workflow({"bad": ("Fail", {"how": how})})).reason == reason


# --- bad input: nothing executes, nothing is written ---


def refused(flow: Workflow, tmp_path: Path, **options: Any) -> str:
    """The message of a run that must leave no trace."""
    out = tmp_path / "out"
    seen: list[ev.Event] = []
    with pytest.raises((ConfigurationError, WorkflowError)) as error:
        run(flow, out=out, events=seen.append, **options)
    assert not out.exists(), "a refused run must not write"
    assert not any(isinstance(event, ev.NodeStarted) for event in seen), "a refused run must not execute"
    return str(error.value)


def test_a_circle_is_refused(tmp_path: Path):
    flow = workflow({"a": "Add", "b": "Add"}, (["a", 0], ["b", 0]), (["b", 0], ["a", 0]))
    assert refused(flow, tmp_path) == "the connections form a circle: 'a' -> 'b' -> 'a'; remove one of them"
    with pytest.raises(Cycle):
        run(flow)


def test_an_unknown_node_is_refused(tmp_path: Path):
    assert refused(workflow({"a": "Cuont"}), tmp_path) == (
        "node 'a' (nodes[0]) has the unknown factory 'Cuont'; did you mean 'Count'?"
    )


def test_a_wrong_port_type_is_refused(tmp_path: Path):
    flow = workflow({"say": "Say", "add": "Add"}, (["say", 0], ["add", 0]))
    assert refused(flow, tmp_path) == (
        "connections[0] does not fit: output port 0 'Word' of node 'say' (Say) gives 'Word', "
        "input port 0 'Numbers' of node 'add' (Add) takes 'Table'; connect ports of one type"
    )
    with pytest.raises(PortMismatch):
        run(flow)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"rosw": 1},
            "settings of node 'count' (Count): there is no parameter 'rosw'; did you mean 'rows'?",
        ),
        (
            {"rows": -1},
            "settings of node 'count' (Count): parameter 'rows': -1 is smaller than the minimum 0",
        ),
        (
            {"details": {"step": "x"}},
            "settings of node 'count' (Count): parameter 'details.step': 'x' is of type str, "
            "but must be a whole number",
        ),
        (
            {"details": {"stpe": 1}},
            "settings of node 'count' (Count): there is no parameter 'stpe' in the group 'details'; "
            "did you mean 'step'?",
        ),
    ],
)
def test_a_wrong_setting_is_refused(settings: dict[str, Any], sentence: str, tmp_path: Path):
    assert refused(workflow({"count": ("Count", settings)}), tmp_path) == sentence


def test_a_node_that_cannot_be_configured_stops_the_run_before_anything_executes(tmp_path: Path):
    flow = workflow({"count": "Count", "bad": ("Fail", {"how": "configure", "text": "no column; choose one"})})
    assert refused(flow, tmp_path) == "node 'bad' failed: no column; choose one"


def test_a_refused_run_leaves_the_files_of_an_earlier_run_alone(tmp_path: Path):
    run(CHAIN, out=tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(WorkflowError):
        run(workflow({"bad": ("Fail", {"how": "configure"})}), out=tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_an_empty_workflow_runs():
    assert run(workflow({})).state == "succeeded"


# --- flow variables ---


def test_a_flow_variable_controls_a_parameter():
    flow = workflow(
        {
            "publish": ("Publish", {"value": 100}),
            "count": "Count",
            "add": {"factory": "Add", "flow_variables": {"amount": "amount"}},
        },
        (["count", 0], ["add", 0]),
        (["publish", "variables"], ["add", "variables"]),
    )
    assert values(run(flow).table("add")) == [100, 101, 102]
    assert values(run(flow, settings={"add.amount": 1}).table("add")) == [1, 2, 3], "an override wins"


def test_flow_variables_travel_with_the_tables_and_the_first_wins():
    flow = workflow(
        {
            "ten": ("Publish", {"value": 10}),
            "twenty": ("Publish", {"value": 20}),
            "count": "Count",
            "first": "Add",
            "second": {"factory": "Add", "flow_variables": {"amount": "amount"}},
        },
        (["ten", "variables"], ["first", "variables"]),
        (["twenty", "variables"], ["first", "variables"]),
        (["count", 0], ["first", 0]),
        (["first", 0], ["second", 0]),
    )
    assert values(run(flow).table("second")) == [11, 12, 13]


def test_a_controlling_variable_that_does_not_arrive_is_named(tmp_path: Path):
    flow = workflow(
        {
            "publish": "Publish",
            "count": {"factory": "Count", "flow_variables": {"details.step": "amuont"}},
        },
        (["publish", "variables"], ["count", "variables"]),
    )
    assert refused(flow, tmp_path) == (
        "settings of node 'count' (Count): parameter 'details.step' is controlled by the flow variable 'amuont', "
        "which does not arrive; did you mean 'amount'?"
    )


# --- cancel ---


def test_cancel_stops_running_nodes_and_starts_no_others(tmp_path: Path):
    cancel = threading.Event()
    count_is_done = threading.Event()

    def wait_to_be_stopped(ctx: Any) -> None:
        wait_for(count_is_done)
        cancel.set()
        wait_until(ctx.is_canceled)
        raise RuntimeError("stopped")

    def watch(event: ev.Event) -> None:
        if isinstance(event, ev.NodeFinished):
            count_is_done.set()

    registry = REGISTRY.extended_by(calling(wait_to_be_stopped))
    flow = workflow({"count": "Count", "wait": "Call", "after": "Add"}, (["wait", 0], ["after", 0]))
    result = run(flow, registry=registry, cancel=cancel, out=tmp_path, events=watch)
    assert result.state == "canceled"
    assert {node: outcome.state for node, outcome in result.nodes.items()} == {
        "count": "succeeded",
        "wait": "canceled",
        "after": "skipped",
    }
    assert result.nodes["after"].message == "the run was canceled"
    assert json.loads((tmp_path / "run.json").read_text("utf-8"))["state"] == "canceled"


def test_outputs_of_a_node_that_ends_after_the_cancel_are_dropped():
    cancel = threading.Event()
    registry = REGISTRY.extended_by(calling(lambda ctx: cancel.set()))
    result = run(workflow({"late": "Call"}), registry=registry, cancel=cancel)
    assert result.state == "canceled"
    assert result.nodes["late"].state == "canceled"
    assert result.outputs == {}


def test_a_run_that_is_canceled_before_it_starts_executes_nothing():
    cancel = threading.Event()
    cancel.set()
    result = run(CHAIN, cancel=cancel)
    assert result.state == "canceled"
    assert {outcome.state for outcome in result.nodes.values()} == {"skipped"}


def test_an_interrupt_of_the_callers_thread_stops_the_nodes(tmp_path: Path):
    told: list[bool] = []

    def wait_to_be_stopped(ctx: Any) -> None:
        wait_until(ctx.is_canceled)
        told.append(True)

    def interrupt(event: ev.Event) -> None:
        if isinstance(event, ev.NodeStarted):
            import _thread

            _thread.interrupt_main()

    registry = REGISTRY.extended_by(calling(wait_to_be_stopped))
    with pytest.raises(KeyboardInterrupt):
        run(workflow({"wait": "Call"}), registry=registry, events=interrupt, out=tmp_path)
    assert told == [True]
    assert json.loads((tmp_path / "run.json").read_text("utf-8"))["state"] == "canceled"
    assert not (tmp_path / ".knime-mcp.lock").exists()


def test_no_thread_is_left_behind():
    before = threading.active_count()
    run(CHAIN)
    failure(FORK)
    assert threading.active_count() == before


# --- secrets ---


def test_a_password_appears_in_no_message_and_no_file(tmp_path: Path):
    credential = knext.Credential("me", "correct-horse", "db")
    seen: list[ev.Event] = []
    flow = workflow({"bad": ("Fail", {"how": "secret", "text": "correct-horse"})})
    error = failure(flow, credentials={"db": credential}, out=tmp_path, events=seen.append)
    assert str(error) == "node 'bad' failed: ValueError: login with *** refused"
    assert "correct-horse" not in repr(seen) + repr(error.result) + "".join(traceback.format_exception(error))
    assert "correct-horse" not in (tmp_path / "run.json").read_text("utf-8")


def test_a_password_in_a_refusal_is_hidden_too(tmp_path: Path):
    credential = knext.Credential("me", "correct-horse", "db")
    flow = workflow({"bad": ("Fail", {"how": "configure", "text": "login with correct-horse refused; ask again"})})
    with pytest.raises(NodeFailed) as error:
        run(flow, credentials={"db": credential})
    assert str(error.value) == "node 'bad' failed: login with *** refused; ask again"
    assert "correct-horse" not in "".join(traceback.format_exception(error.value))


# --- any graph ---


edges = st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda edge: edge[0] < edge[1]), max_size=14)


@settings(max_examples=15)
@given(edges=edges)
def test_every_node_of_any_graph_gets_what_those_before_it_gave(edges: set[tuple[int, int]]):
    nodes: dict[str, Any] = {f"n{n}": "Stack" for n in range(8)} | {f"c{n}": ("Count", {"rows": 1}) for n in range(8)}
    flow = workflow(
        nodes,
        *(([f"c{n}", 0], [f"n{n}", 0]) for n in range(8)),
        *(([f"n{a}", 0], [f"n{b}", 0]) for a, b in sorted(edges)),
    )
    result = run(flow)
    rows = [1] * 8
    for n in range(8):
        rows[n] += sum(rows[a] for a, b in edges if b == n)
    assert [result.table(f"n{n}").num_rows for n in range(8)] == rows


# --- size ---


def test_a_table_of_a_hundred_thousand_rows_passes_a_chain_of_nodes():
    flow = workflow(
        {"count": ("Count", {"rows": 100_000}), "a": "Add", "b": "Add"}, (["count", 0], ["a", 0]), (["a", 0], ["b", 0])
    )
    table = run(flow).table("b")
    assert table.num_rows == 100_000
    assert values(table)[-1] == 100_001


def test_the_next_node_maps_the_table_instead_of_loading_it():
    grown: list[int] = []

    def make(ctx: Any) -> knext.Table:
        return numbers(range(500_000))

    @knext.node("Watch", knext.NodeType.OTHER, "i.png", "/")
    @knext.input_table("Numbers", "")
    class Watch:
        """Measures Arrow's memory while it holds its input."""

        def configure(self, ctx: Any, schema: Any) -> None: ...

        def execute(self, ctx: Any, table: knext.Table) -> None:
            assert table.to_pyarrow().column("n")[-1].as_py() == 499_999
            grown.append(pa.total_allocated_bytes())

    registry = REGISTRY.extended_by(calling(make), Watch)
    before = pa.total_allocated_bytes()
    run(workflow({"make": "Call", "watch": "Watch"}, (["make", 0], ["watch", 0])), registry=registry)
    assert grown[0] - before < 1_000_000, "the table has 4 MB of numbers"
