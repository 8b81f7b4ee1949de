"""Tool Caller: one call per row, with real servers and workflows, and without any model."""

import asyncio
import base64
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import knime.extension as knext
import pyarrow as pa
import pytest

from knime.types.tool import MCPTool, Tool, ToolPort, WorkflowTool
from knime_ext.extension import ToolCaller
from knime_ext.mcp import MCPToolCaller, server_from_uri, tools_from_listing
from knime_ext.nodes.cells import tool_table
from knime_ext.runtime import load_workflow, run_workflow
from knime_ext.runtime.document import Workflow
from knime_ext.runtime.knext.contexts import ConfigurationContext, ExecutionContext, NodeHost
from knime_ext.runtime.knext.settings import set_parameters
from knime_ext.tools import ToolResult
from tests.nodes.agent_bench import table
from tests.servers.legacy import JSON, LegacyServer, serving
from tests.servers.process import HERE, running

FORECAST: JSON = {
    "name": "forecast",
    "title": "Weather forecast",
    "inputSchema": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "unit": {"type": "string", "enum": ["C"]},
            "exact": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["city", "unit"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "degrees": {"type": "number"},
            "days": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "rain": {"type": "boolean"},
            "hours": {"type": "array", "items": {"type": "number"}},
        },
    },
}
PICTURE: JSON = {"name": "picture", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
PNG = b"\x89PNG\r\n\x1a\n"


class Weather:
    """What the server of these tests does, and the calls that it has seen."""

    def __init__(self) -> None:
        self.calls: list[JSON] = []
        self.at_once = 0
        self.most_at_once = 0
        self.hold: asyncio.Event | None = None
        self.holding = threading.Event()

    async def __call__(self, params: JSON) -> JSON:
        arguments: JSON = params["arguments"]
        self.calls.append(arguments)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if params["name"] == "picture":
                return _pictures(arguments["n"])
            return await self._forecast(arguments)
        finally:
            self.at_once -= 1

    async def _forecast(self, arguments: JSON) -> JSON:
        city = arguments["city"]
        if city == "Forever" and not self.holding.is_set():  # the first time
            self.holding.set()
            await asyncio.Event().wait()
        if city == "Nowhere":
            return {"content": [{"type": "text", "text": "there is no such city"}], "isError": True}
        await asyncio.sleep(0)
        days = arguments.get("days")
        structured = {"city": city, "degrees": len(city) + 0.5, "days": days, "rain": "a" in city, "hours": [1, 2]}
        if city == "Garbage":
            structured["degrees"] = "hot"
        return {"content": [{"type": "text", "text": f"Fine in {city}"}], "structuredContent": structured}


def _pictures(count: int) -> JSON:
    data = base64.b64encode(PNG).decode()
    pictures = [{"type": "image", "mimeType": "image/png", "data": data}] * count
    file = {"type": "resource", "resource": {"uri": "x:y", "mimeType": "text/csv", "blob": data}}
    return {"content": [{"type": "text", "text": "Look."}, *pictures, file]}


@pytest.fixture
def weather() -> Weather:
    return Weather()


@pytest.fixture
def server(weather: Weather) -> Generator[LegacyServer]:
    with serving(LegacyServer(tools=[FORECAST, PICTURE], on_call=weather)) as running_server:
        yield running_server


def listed(url: str) -> list[Tool]:
    with MCPToolCaller({}) as caller:
        return [*tools_from_listing(caller.list_tools([server_from_uri(url)])[0])]


@pytest.fixture
def forecast(server: LegacyServer) -> Tool:
    return listed(server.url)[0]


class KnimeLike(ExecutionContext):
    """A context as KNIME gives it: it runs workflows and knows no MCP servers."""

    def __init__(self, host: NodeHost, temp: Path) -> None:
        super().__init__(host)
        self.temp = temp
        self.ran: list[tuple[str, JSON]] = []

    def get_workflow_temp_dir(self) -> str:
        return str(self.temp)

    def _execute_tool(self, tool: Any, parameters: JSON, inputs: list[Any], execution_hints: dict[str, str]) -> Any:
        self.ran.append((tool.name, parameters))
        if parameters.get("who") == "nobody":
            raise RuntimeError("there is nobody")
        return f"Hello, {parameters.get('who')}!", [], []


class Caller:
    """The node with its surroundings."""

    def __init__(self, temp: Path) -> None:
        self.temp = temp
        self.warnings: list[str] = []
        self.progress: list[tuple[float, str | None]] = []
        self.canceled = threading.Event()
        self.context = KnimeLike(
            NodeHost(
                warn=self.warnings.append,
                report_progress=lambda fraction, message: self.progress.append((fraction, message)),
                is_canceled=self.canceled.is_set,
            ),
            temp,
        )

    def call(self, tools: Sequence[Tool | None], data: knext.Table, **settings: Any) -> pa.Table:
        node = ToolCaller()
        set_parameters(node, settings)
        offered = tool_table(tools)
        promised = node.configure(ConfigurationContext(), offered.schema, data.schema)
        results = node.execute(self.context, offered, data)
        assert promised is None or results.schema == promised
        return results.to_pyarrow()

    def refusal(self, tools: Sequence[Tool | None], data: knext.Table, **settings: Any) -> str:
        with pytest.raises(knext.InvalidParametersError) as caught:
            self.call(tools, data, **settings)
        return str(caught.value)


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    return Caller(tmp_path)


def cells(arrow: pa.Table) -> dict[str, list[Any]]:
    return {name: arrow.column(name).to_pylist() for name in arrow.column_names if name != "<RowID>"}


def test_each_row_is_a_call_and_structured_results_are_typed_columns(
    caller: Caller, forecast: Tool, weather: Weather
) -> None:
    data = table(city=["Ulm", "Jena"], days=[1, None], note=["x", "y"])
    results = caller.call([forecast], data)
    assert cells(results) == {
        "city": ["Ulm", "Jena"],
        "days": [1, None],
        "note": ["x", "y"],
        "Result": ["Fine in Ulm", "Fine in Jena"],
        "city (#1)": ["Ulm", "Jena"],
        "degrees": [3.5, 4.5],
        "days (#1)": [1, None],
        "rain": [False, True],
        "hours": ["[1, 2]", "[1, 2]"],
        "Error": [None, None],
    }
    assert [results.schema.field(name).type for name in ("degrees", "days (#1)", "rain")] == [
        pa.float64(),
        pa.int64(),
        pa.bool_(),
    ]
    sent = sorted(weather.calls, key=lambda call: call["city"], reverse=True)
    assert sent == [{"city": "Ulm", "days": 1, "unit": "C"}, {"city": "Jena", "unit": "C"}]
    assert caller.progress[-1] == (1.0, caller.progress[-1][1])
    assert (caller.progress[-1][1] or "").startswith("2 of 2 rows")


def test_cells_become_what_the_tool_takes(caller: Caller, forecast: Tool, weather: Weather) -> None:
    data = table(when=[date(2026, 11, 22)], many=["3"], sure=["True"], words=[["a", "b"]])
    mapping = [
        {"argument": "city", "column": "when"},
        {"argument": "days", "column": "many"},
        {"argument": "exact", "column": "sure"},
        {"argument": "tags", "column": "words"},
    ]
    caller.call([forecast], data, arguments=mapping)
    caller.call([forecast], table(city=["Ulm"]), arguments=[{"argument": "tags", "constant": '["x"]'}])
    assert weather.calls == [
        {"city": "2026-11-22", "days": 3, "exact": True, "tags": ["a", "b"], "unit": "C"},
        {"city": "Ulm", "tags": ["x"], "unit": "C"},
    ]


def test_failing_rows_have_their_error_and_the_others_go_on(caller: Caller, forecast: Tool, weather: Weather) -> None:
    data = table(city=["Ulm", "Nowhere", None, "Garbage"], days=["1", "2", "3", "x"])
    result = cells(caller.call([forecast], data))
    assert result["Result"] == ["Fine in Ulm", None, None, None]
    assert result["Error"] == [
        None,
        "there is no such city",
        "the arguments of 'Weather forecast' do not fit: the arguments must have 'city'",
        "the arguments of 'Weather forecast' do not fit: 'days' must be of type integer, not \"x\"",
    ]
    assert caller.warnings == ["3 of 4 calls failed; the error column says why."]
    assert len(weather.calls) == 2


def test_values_that_are_not_what_the_output_schema_says_are_missing(caller: Caller, forecast: Tool) -> None:
    result = cells(caller.call([forecast], table(city=["Garbage", "Ulm"])))
    assert result["degrees"] == [None, 3.5]
    [odd, fine] = result["Error"]
    assert odd == "the result is not what the tool's output schema says: 'degrees' is no number but \"hot\""
    assert fine is None
    assert result["Result"] == ["Fine in Garbage", "Fine in Ulm"]


def test_the_node_can_fail_at_the_first_failing_row(caller: Caller, forecast: Tool) -> None:
    data = knext.Table.from_pyarrow(pa.table({"<RowID>": ["a", "b"], "city": ["Ulm", "Nowhere"]}))
    failing = {"error_handling": "FAIL"}
    assert caller.refusal([forecast], data, errors=failing) == "Row 'b' failed: there is no such city"


def test_media_become_binary_columns(caller: Caller, server: LegacyServer) -> None:
    picture = listed(server.url)[1]
    result = cells(caller.call([picture], table(n=[2, 0])))
    assert result["Media 1"] == [PNG, PNG]
    assert result["Media type 1"] == ["image/png", "text/csv"]
    assert result["Media 2"] == [PNG, None]
    assert result["Media type 3"] == ["text/csv", None]


def test_the_columns_can_always_be_the_same(caller: Caller, forecast: Tool, server: LegacyServer) -> None:
    picture = listed(server.url)[1]
    fixed: dict[str, Any] = {"results": "FIXED", "result_column_name": "Said"}
    result = cells(caller.call([forecast], table(city=["Ulm"]), **fixed))
    assert list(result) == ["city", "Said", "Structured result", "Media", "Media type", "Error"]
    assert json.loads(result["Structured result"][0])["degrees"] == 3.5
    assert cells(caller.call([picture], table(n=[1]), **fixed))["Media"] == [PNG]


def test_a_column_names_the_tool_of_each_row(caller: Caller, server: LegacyServer) -> None:
    workflow = WorkflowTool("greet", "", {"who": {"type": "string", "default": "you"}}, 0, [], [], "v1:a")
    tools = [*listed(server.url), None, workflow]
    data = table(
        tool=["Weather forecast", "picture", "greet", "greet", None, "gone"],
        city=["Ulm", None, None, None, None, None],
        n=[None, 1, None, None, None, None],
        who=[None, None, "Ada", None, None, None],
    )
    result = cells(caller.call(tools, data, tool_choice="COLUMN", tool_name_column="tool"))
    seen = "Look.\n[image: image/png, 9 bytes]\n[resource x:y: text/csv]"
    assert result["Result"] == ["Fine in Ulm", seen, "Hello, Ada!", "Hello, you!", None, None]
    assert result["degrees"] == [3.5, None, None, None, None, None]
    assert result["Error"][4] == "the column 'tool' names no tool here"
    assert result["Error"][5] == (
        "the tools table has no tool 'gone'; it has 'Weather forecast', 'picture', 'greet', 'forecast'"
    )


def test_a_workflow_that_fails_fails_its_row(caller: Caller) -> None:
    workflow = WorkflowTool("greet", "", {"who": {"type": "string"}}, 0, [], [], "v1:a")
    result = cells(caller.call([workflow], table(who=["nobody", "Ada"])))
    assert result["Result"] == [None, "Hello, Ada!"]
    assert result["Error"] == ["there is nobody", None]


def test_what_cannot_be_called_is_said_before_anything_is_called(
    caller: Caller, forecast: Tool, weather: Weather
) -> None:
    data = table(town=["Ulm"])
    ports = [ToolPort("orders", "", "Table", "")]
    eats = WorkflowTool("rank", "", {}, 0, ports, [], "v1:a")
    assert caller.refusal([forecast], data) == (
        "tool 'Weather forecast' requires the argument 'city', and no column has that name; map a column or a constant "
        "to it in the dialog"
    )
    assert "has no argument 'cty'" in caller.refusal([forecast], data, arguments=[{"argument": "cty"}])
    assert "workflow 'rank' takes tables ('orders'), which a row cannot give" in caller.refusal([eats], data)
    assert "has 2 tools; enter the name" in caller.refusal([forecast, eats], data)
    assert "no tool 'gone'" in caller.refusal([forecast], data, tool_name="gone")
    assert "2 tools are called 'Weather forecast'" in caller.refusal(
        [forecast, forecast], data, tool_name="Weather forecast"
    )
    assert weather.calls == []


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"arguments": [{"argument": " "}]}, "Entry 1 of the arguments has no name of an argument"),
        ({"arguments": [{"argument": "a"}, {"argument": "a"}]}, "Entry 2 of the arguments names 'a' again"),
        ({"arguments": [{"argument": "a", "column": "gone"}]}, "Column 'gone' for the argument 'a' does not exist"),
        ({"tool_choice": "COLUMN"}, "The data table has no column of texts"),
        ({"tool_column": "gone"}, "Column 'gone' of the tools table does not exist"),
        ({"result_column_name": " "}, "The result column has no name"),
        ({"errors": {"error_column_name": ""}}, "The error column has no name"),
    ],
)
def test_settings_that_cannot_work_are_refused_without_a_server(
    caller: Caller, settings: dict[str, Any], reason: str
) -> None:
    tool = MCPTool("echo", "", {"type": "object"}, "http://localhost:1/mcp")
    assert reason in caller.refusal([tool], table(n=[1]), **settings)


def test_a_call_that_takes_too_long_fails_its_row(caller: Caller, forecast: Tool) -> None:
    result = cells(caller.call([forecast], table(city=["Forever", "Ulm"]), limits={"seconds_per_call": 0.5}))
    assert result["Error"] == ["tool 'Weather forecast' took longer than 0.5 s and was stopped", None]


def test_not_more_calls_go_on_at_a_time_than_allowed(caller: Caller, forecast: Tool, weather: Weather) -> None:
    caller.call([forecast], table(city=["Ulm"] * 20), limits={"concurrency": 3})
    assert len(weather.calls) == 20
    assert weather.most_at_once <= 3


def test_canceling_stops_at_once_and_finished_rows_are_not_called_again(
    caller: Caller, forecast: Tool, weather: Weather
) -> None:
    data = table(city=["Ulm", "Jena", "Forever", "Bonn"])
    settings = {"limits": {"concurrency": 1}}
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.append(caller.refusal([forecast], data, **settings)))
    thread.start()
    assert weather.holding.wait(20)
    caller.canceled.set()
    thread.join(10)
    assert said == ["the run was cancelled; finished rows are kept, run it again to go on."]
    again = Caller(caller.temp)
    result = cells(again.call([forecast], data, **settings))
    assert result["Result"] == ["Fine in Ulm", "Fine in Jena", "Fine in Forever", "Fine in Bonn"]
    assert [call["city"] for call in weather.calls] == ["Ulm", "Jena", "Forever", "Forever", "Bonn"]
    assert list(caller.temp.glob("rows-*")) == []


def test_other_data_is_another_run(caller: Caller, forecast: Tool, weather: Weather) -> None:
    for city in ("Ulm", "Jena"):
        assert caller.refusal([forecast], table(city=[city, "Nowhere"]), errors={"error_handling": "FAIL"})
    caller.call([forecast], table(city=["Ulm", "Bonn"]))
    assert sorted(call["city"] for call in weather.calls if call["city"] != "Nowhere") == ["Bonn", "Jena", "Ulm", "Ulm"]


def test_a_server_that_dies_in_the_middle_fails_its_rows_and_no_others(
    caller: Caller, forecast: Tool, weather: Weather
) -> None:
    command = [sys.executable, str(HERE / "mcpserver.py"), "streamable-http"]
    with running(command, r"ready (\d+)") as (_, ready):
        toolbox = listed(f"http://127.0.0.1:{ready[1]}/mcp")
        names = ["greet", "forecast", "die", "greet", "forecast", "greet"]
        data = table(tool=names, name=["Ada"] * 6, city=["Ulm"] * 6)
        result = cells(
            caller.call(
                [forecast, *toolbox], data, tool_choice="COLUMN", tool_name_column="tool", limits={"concurrency": 1}
            )
        )
    assert result["Result"] == ["Hello, Ada.", "Fine in Ulm", None, None, "Fine in Ulm", None]
    assert [error is None for error in result["Error"]] == [True, True, False, False, True, False]


class OwnServers(KnimeLike):
    """A context as the embedded runtime gives it: it calls servers itself."""

    async def _acall_mcp_tool(self, tool: MCPTool, parameters: JSON) -> ToolResult:
        await asyncio.sleep(0)
        return ToolResult(structured={"result": parameters["n"] * 2})

    def _execute_mcp_tool(self, tool: MCPTool, parameters: JSON) -> str:
        raise AssertionError("the other way is richer")


def test_ten_thousand_rows_are_called_in_order(caller: Caller) -> None:
    whole = {"type": "object", "properties": {"n": {"type": "integer"}}}
    output = {"type": "object", "properties": {"result": {"type": "integer"}}}
    double = MCPTool("double", "", whole, "https://example.org/mcp", output_schema=output)
    caller.context = OwnServers(NodeHost(), caller.temp)
    result = cells(caller.call([double], table(n=list(range(10_000)))))
    assert result["result"] == [2 * number for number in range(10_000)]


def test_no_rows_give_no_calls_and_all_columns(caller: Caller, forecast: Tool) -> None:
    empty = knext.Table.from_pyarrow(pa.table({"city": pa.array([], pa.utf8())}))
    result = caller.call([forecast], empty)
    assert result.num_rows == 0
    assert "degrees" in result.column_names


def test_a_workflow_document_lists_chooses_and_calls(server: LegacyServer, tmp_path: Path) -> None:
    warm = {"column": "degrees", "operator": "GT", "value": "4"}
    document = Workflow.model_validate(
        {
            "format": 1,
            "name": "call",
            "nodes": [
                {"id": "in", "factory": "WorkflowInput", "settings": {"parameter_name": "cities"}},
                {"id": "list", "factory": "MCPToolProvider", "settings": {"server_url": server.url}},
                {"id": "call", "factory": "ToolCaller", "settings": {"tool_name": "forecast"}},
                {"id": "filter", "factory": "RowFilter", "settings": {"criteria": [warm]}},
            ],
            "connections": [
                {"from": ["list", 0], "to": ["call", 0]},
                {"from": ["in", 0], "to": ["call", 1]},
                {"from": ["call", 0], "to": ["filter", 0]},
            ],
        }
    )
    cities = table(city=["Ulm", "Jena"])
    result = run_workflow(document, base_dir=tmp_path, inputs={"cities": cities}, out=tmp_path / "out")
    assert result.table("filter", 0).to_pyarrow().column("Result").to_pylist() == ["Fine in Jena"]
    assert not (tmp_path / "out" / "journals").exists()


def test_a_killed_run_goes_on_where_it_stopped(weather: Weather, server: LegacyServer, tmp_path: Path) -> None:
    cities = [*(f"city {number}" for number in range(30)), "Forever", "last"]
    rows = {
        "columns": [{"name": "city", "type": "STRING"}],
        "rows": json.dumps([[city] for city in cities]),
    }
    call = {"tool_name": "forecast", "limits": {"concurrency": 4}}
    document: JSON = {
        "format": 1,
        "name": "call",
        "nodes": [
            {"id": "rows", "factory": "TableCreator", "settings": rows},
            {"id": "list", "factory": "MCPToolProvider", "settings": {"server_url": server.url}},
            {"id": "call", "factory": "ToolCaller", "settings": call},
            {"id": "out", "factory": "WorkflowOutput", "settings": {"parameter_name": "results"}},
        ],
        "connections": [
            {"from": ["list", 0], "to": ["call", 0]},
            {"from": ["rows", 0], "to": ["call", 1]},
            {"from": ["call", 0], "to": ["out", 0]},
        ],
    }
    path, out = tmp_path / "call.json", tmp_path / "out"
    path.write_text(json.dumps(document), encoding="utf-8")
    program = [sys.executable, "-c", "from knime_ext.cli.app import main; main()", "run", str(path), "--out", str(out)]
    with subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            assert weather.holding.wait(60)
            assert wait_until(lambda: len(weather.calls) == 32 and weather.at_once == 1)
        finally:
            process.kill()
    assert (out / "journals" / "call.sqlite").is_file()
    result = run_workflow(load_workflow(path), base_dir=tmp_path, out=out).workflow_outputs["results"].to_pyarrow()
    assert result.column("Result").to_pylist() == [f"Fine in {city}" for city in cities]
    # Those whose answer was on its way when the program died may be called once more, the others not.
    counts = Counter(call["city"] for call in weather.calls)
    assert counts["Forever"] == 2
    assert sum(counts.values()) <= 32 + 4
    assert not (out / "journals").exists()


def wait_until(holds: Callable[[], bool], seconds: float = 20) -> bool:
    """Whether something comes true in time."""
    deadline, tick = time.monotonic() + seconds, threading.Event()
    while not holds() and time.monotonic() < deadline:
        tick.wait(0.02)
    return holds()
