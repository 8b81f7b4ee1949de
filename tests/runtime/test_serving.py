"""Tool rows as a toolset: workflows with tables of clients, cancelled, side by side, and failing."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knime.types.tool import MCPTool, Tool, ToolPort
from knime_ext.errors import InvalidArguments, ToolFailed, UnknownTool
from knime_ext.mcp.progress import Progress, showing_progress
from knime_ext.runtime import knext
from knime_ext.runtime.document import save_workflow
from knime_ext.runtime.filestore import FileStore
from knime_ext.runtime.registry import NodeRegistry
from knime_ext.runtime.served_tables import ServedTables
from knime_ext.runtime.serving import WORKFLOWS_AT_ONCE, TableToolset, table_toolset
from knime_ext.runtime.workflow_tools import workflow_to_tool
from knime_ext.tools import ToolResult
from tests.runtime.small_nodes import NODES, calling, numbers, workflow

REGISTRY = NodeRegistry.load().extended_by(*NODES)
SPEC = json.dumps({"columns": [{"name": "n", "type": "Number (Long Integer)"}, {"name": "word", "type": "String"}]})
PORT = ToolPort("orders", "All orders.", "Table", SPEC)
COPY: tuple[Any, ...] = (
    {
        "in": ("WorkflowInput", {"parameter_name": "rows"}),
        "add": ("Add", {"amount": 1}),
        "out": ("WorkflowOutput", {"parameter_name": "more", "description": "One more"}),
    },
    (["in", 0], ["add", 0]),
    (["add", 0], ["out", 0]),
)


@contextmanager
def toolset(
    folder: Path, *graphs: Sequence[Any], registry: NodeRegistry = REGISTRY, tables: ServedTables | None = None
) -> Generator[TableToolset]:
    """The workflows of these graphs, all called "flow"."""
    store = FileStore(folder=folder / "store")
    tools: list[Tool] = []
    for number, (nodes, *connections) in enumerate(graphs):
        path = folder / str(number) / "flow.json"
        path.parent.mkdir()
        save_workflow(workflow(nodes, *connections, name="flow"), path)
        tools.append(workflow_to_tool(path, registry=registry, filestore=store))
    with table_toolset(tools, tables, providers={}, registry=registry, filestore=store) as made:
        yield made


def waiting(started: Callable[[], None], ended: Callable[[], None]) -> tuple[NodeRegistry, list[Any]]:
    """A workflow that runs until it is cancelled."""

    def wait(ctx: Any) -> None:
        started()
        pause = threading.Event()
        while not ctx.is_canceled():
            pause.wait(0.005)
        ended()

    return REGISTRY.extended_by(calling(wait)), [{"call": "Call"}]


def test_tables_of_one_call_are_the_inputs_of_the_next(tmp_path: Path) -> None:
    async def scenario(tools: TableToolset) -> None:
        first = await tools.call("flow", {"data_inputs": {"rows": [{"n": 1}, {"n": 5}]}})
        [table] = structured(first)["tables"]
        assert (table["name"], table["row_count"], table["rows"]) == ("more", 2, [{"n": 2}, {"n": 6}])
        second = await tools.call("flow", {"data_inputs": {"rows": table["handle"]}})
        assert structured(second)["tables"][0]["rows"] == [{"n": 3}, {"n": 7}]
        assert table["handle"] in first.text and '{"n": 6}' in first.text

    with toolset(tmp_path, COPY) as tools:
        asyncio.run(scenario(tools))


def structured(result: ToolResult) -> Any:
    assert not result.is_error
    return result.structured


def test_the_caller_is_told_how_far_a_workflow_is(tmp_path: Path) -> None:
    talking: tuple[Any, ...] = (
        {"count": "Count", "talk": "Talk", "out": ("WorkflowOutput", {"parameter_name": "n"})},
        (["count", 0], ["talk", 0]),
        (["talk", 0], ["out", 0]),
    )
    told: list[Progress] = []

    with toolset(tmp_path, talking) as tools, showing_progress(told.append):
        asyncio.run(tools.call("flow", {}))
    assert [(progress.done, progress.total) for progress in told] == [(0, 3), (1, 3), (1.5, 3), (2, 3), (3, 3)]
    assert {progress.message for progress in told} == {""}, "what goes on inside is not told"


def test_a_caller_that_gives_up_stops_the_workflow(tmp_path: Path) -> None:
    started, ended = threading.Event(), threading.Event()
    registry, graph = waiting(started.set, ended.set)

    async def scenario(tools: TableToolset) -> None:
        call = asyncio.create_task(tools.call("flow", {}))
        assert await asyncio.to_thread(started.wait, 20)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert ended.is_set(), "the workflow has ended before its caller went on"

    with toolset(tmp_path, graph, registry=registry) as tools:
        asyncio.run(scenario(tools))


def test_only_so_many_workflows_run_at_a_time(tmp_path: Path) -> None:
    running = threading.Semaphore(0)
    registry, graph = waiting(running.release, lambda: None)

    async def scenario(tools: TableToolset) -> None:
        calls = [asyncio.create_task(tools.call("flow", {})) for _ in range(WORKFLOWS_AT_ONCE + 3)]
        for _ in range(WORKFLOWS_AT_ONCE):
            assert await asyncio.to_thread(running.acquire, timeout=20)
        assert not running.acquire(blocking=False)
        calls[0].cancel()
        assert await asyncio.to_thread(running.acquire, timeout=20), "the next one begins when one has ended"
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    with toolset(tmp_path, graph, registry=registry) as tools:
        asyncio.run(scenario(tools))


def test_a_workflow_that_fails_says_why(tmp_path: Path) -> None:
    failing: list[Any] = [{"fail": ("Fail", {"how": "explained"})}]

    async def scenario(tools: TableToolset) -> None:
        with pytest.raises(ToolFailed, match="the server is away; start it"):
            await tools.call("flow", {})
        with pytest.raises(InvalidArguments, match="'extra'"):
            await tools.call("flow", {"extra": 1})
        with pytest.raises(UnknownTool, match="Did you mean 'flow'"):
            await tools.call("flows", {})

    with toolset(tmp_path, failing) as tools:
        asyncio.run(scenario(tools))


def test_tools_of_one_name_get_names_of_their_own_and_say_where_they_are_from(tmp_path: Path) -> None:
    rows: list[Tool] = [
        MCPTool("send mail", "Sends.", {"type": "object"}, server_uri="https://a.example/mcp?key=s3cret"),
        MCPTool("send mail", "Sends.", {"type": "object"}, server_uri="https://b.example/mcp"),
        MCPTool("other", "Does.", {"type": "object"}, server_uri="https://b.example/mcp"),
    ]
    with table_toolset(rows, providers={}, registry=REGISTRY, filestore=FileStore(folder=tmp_path)) as tools:
        listed = asyncio.run(tools.list_definitions())
    assert [tool.name for tool in listed] == ["send_mail", "send_mail_2", "other"]
    assert [tool.description for tool in listed] == [
        "Sends.\n\nOrigin: server a.example.",
        "Sends.\n\nOrigin: server b.example.",
        "Does.",
    ]


# --- tables of clients ---


def sent(rows: Any, port: ToolPort = PORT) -> dict[str, list[Any]]:
    data = ServedTables().table(rows, port).to_pyarrow()
    return {name: data.column(name).to_pylist() for name in data.column_names[1:]}


def test_rows_become_a_table_with_the_columns_of_the_port() -> None:
    assert sent([{"n": 1, "more": True}, {"word": "x", "n": None}]) == {
        "n": [1, None],
        "word": [None, "x"],
        "more": [True, None],
    }
    empty = ServedTables().table([], PORT)
    assert [(column.name, str(column.ktype)) for column in empty.schema] == [
        ("n", "Number (Long Integer)"),
        ("word", "String"),
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"n": 1}, {"n": "two"}], "column 'n' of 'orders' mixes"),
        ([{"n": 10**30}], "column 'n'"),
        ([{"<RowID>": 1}], "make no table"),
        ("table-1", "no table 'table-1'"),
    ],
)
def test_rows_that_make_no_table_are_explained(rows: Any, said: str) -> None:
    with pytest.raises(InvalidArguments, match=said):
        sent(rows)
    with pytest.raises(InvalidArguments, match="at least one row"):
        sent([], ToolPort("any", "", "Table", ""))


def test_cells_are_told_as_json() -> None:
    table = knext.Table.from_pyarrow(
        pa.table({"x": [1.5, float("nan"), None], "l": [[1, 2], None, []], "t": ["a" * 3_000, "", None]})
    )
    told = ServedTables(first_rows=3).described(PORT, table)["rows"]
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert [row["x"] for row in told] == [1.5, None, None]
    assert [row["l"] for row in told] == ["[1, 2]", None, "[]"]
    assert [row["t"] for row in told] == ["a" * 2_000 + "…", "", None]
    assert ServedTables(first_rows=0).described(PORT, table)["rows"] == []


def test_old_results_give_way_and_named_tables_stay() -> None:
    tables = ServedTables({"orders": numbers([1])})
    handles = [tables.keep(numbers([number])) for number in range(300)]
    assert len(set(handles)) == 300
    tables.table("orders", PORT)
    assert tables.table(handles[-1], PORT).to_pyarrow().column("n").to_pylist() == [299]
    with pytest.raises(InvalidArguments, match="any more") as caught:
        tables.table(handles[0], PORT)
    assert "'orders'" in str(caught.value) and handles[-1] not in str(caught.value)


scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()


@given(st.lists(st.dictionaries(st.sampled_from(["n", "word", "x"]), scalars, max_size=3), max_size=4))
def test_any_rows_are_a_table_or_an_explanation(rows: list[dict[str, Any]]) -> None:
    try:
        table = ServedTables().table(rows, PORT)
    except InvalidArguments:
        return
    assert table.num_rows == len(rows)
