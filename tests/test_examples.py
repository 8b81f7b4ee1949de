"""The example workflows run as their pages say, and what they say comes from the data."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, cast

import pyarrow as pa
import pytest

from knime.types.tool import MCPTool, Tool, WorkflowTool
from knime_ext.runtime import RunResult, load_workflow, run_workflow
from knime_ext.runtime.registry import NodeRegistry

EXAMPLES = Path(__file__).parent.parent / "examples"
WORKFLOWS = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.json"))


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the examples, so that what they write does not stay, and a file store of its own."""
    monkeypatch.setenv("KNIME_MCP_HOME", str(tmp_path / "home"))
    return Path(shutil.copytree(EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("out", "__pycache__")))


@contextmanager
def serving(script: Path, *arguments: str) -> Generator[str]:
    """Runs an example server as its page says; gives the address that it prints."""
    command = [sys.executable, str(script), "--port", "0", *arguments]
    environment = {**os.environ, "PYTHONWARNINGS": "default"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", env=environment) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()
            process.wait(timeout=20)


def _address(process: subprocess.Popen[str]) -> str:
    lines: SimpleQueue[str] = SimpleQueue()
    assert process.stdout is not None
    output = process.stdout
    threading.Thread(target=lambda: lines.put(output.readline()), daemon=True).start()
    try:
        line = lines.get(timeout=60)
    except Empty:
        pytest.fail("the server did not say its address within a minute")
    found = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+/\w+)\n", line)
    assert found, f"unexpected first line {line!r}"
    return found[1]


@pytest.fixture(scope="module")
def orders_server() -> Generator[str]:
    """Address of the orders-agent's server, which serves all tests of this file."""
    with serving(EXAMPLES / "orders-agent" / "server.py") as address:
        yield address


def run(path: Path, **more: Any) -> RunResult:
    return run_workflow(load_workflow(path), base_dir=path.parent, **more)


def rows(result: RunResult, output: str) -> list[dict[str, Any]]:
    return result.workflow_outputs[output].to_pyarrow().to_pylist()


def texts(result: RunResult, output: str = "conversation") -> list[str]:
    """The texts of a conversation, in order."""
    messages = result.workflow_outputs[output].to_pyarrow().column("Conversation").to_pylist()
    return [message.text for message in messages]


def calls(result: RunResult, output: str = "conversation") -> list[tuple[str, dict[str, Any]]]:
    """Name and arguments of every tool call of a conversation, in order."""
    messages = result.workflow_outputs[output].to_pyarrow().column("Conversation").to_pylist()
    return [(call.tool_name, call.arguments) for message in messages for call in message.tool_calls or ()]


# What every example must be


@pytest.mark.parametrize("path", WORKFLOWS)
def test_every_example_says_what_it_does_and_uses_known_nodes_and_settings(path: str) -> None:
    workflow = load_workflow(EXAMPLES / path)
    registry = NodeRegistry.load()
    assert len(workflow.description) > 30
    for node in workflow.nodes:
        assert node.position is not None, f"{node.id} has no place on the canvas"
        known = {parameter["key"] for parameter in _parameters(registry, node.factory)}
        assert set(node.settings) <= known


def _parameters(registry: NodeRegistry, factory: str) -> list[dict[str, Any]]:
    from knime_ext.runtime.knext.settings import describe

    return describe(registry.declaration(factory).create())


def test_every_file_that_a_page_names_is_there() -> None:
    for page in EXAMPLES.rglob("README.md"):
        folder = page.parent
        for name in re.findall(r"`((?:examples/)?[\w./-]+\.(?:json|csv|py))`", page.read_text("utf-8")):
            if "out/" in name:
                continue
            place = EXAMPLES.parent / name if name.startswith("examples/") else folder / name
            assert place.is_file(), f"{page.relative_to(EXAMPLES)} names {name!r}"


# csv-report


def test_the_report_sums_up_what_the_files_say(examples: Path) -> None:
    folder = examples / "csv-report"
    result = run(folder / "workflow.json")
    report = {row["shop"]: row for row in rows(result, "report")}
    assert list(report) == ["S01", "S02", "S03", "S04", "S05", "S07", "S06"]
    assert report["S03"] == {
        "<RowID>": "Row2",
        "shop": "S03",
        "pieces": 79,
        "sales_eur": 856.4,
        "best_item": "Fountain pen",
        "city": "大阪",
        "country": "Japan",
        "opened": report["S03"]["opened"],
    }
    assert (report["S07"]["city"], report["S07"]["sales_eur"]) == (None, 41.4)
    assert (report["S06"]["city"], report["S06"]["sales_eur"]) == ("Reykjavík", None)
    assert report["S01"]["pieces"] == 14 + 5 + 8
    lines = (folder / "out" / "report.csv").read_text("utf-8").splitlines()
    assert lines[0] == '"shop","pieces","sales_eur","best_item","city","country","opened"'
    assert lines[3] == '"S03",79,856.4,"Fountain pen","大阪","Japan",2018-11-23'


def test_the_report_can_be_made_again_over_the_old_one(examples: Path) -> None:
    path = examples / "csv-report" / "workflow.json"
    run(path)
    sales = path.parent / "sales.csv"
    sales.write_text(
        sales.read_text("utf-8").replace("2026-05-06;S03;Notebook A5;31", "2026-05-06;S03;Notebook A5;41"), "utf-8"
    )
    assert rows(run(path), "report")[2]["pieces"] == 89
    assert '"S03",89' in (path.parent / "out" / "report.csv").read_text("utf-8")


# orders-agent: the workflow tools


def orders(folder: Path) -> Any:
    from knime_ext.runtime.knext.table import Table
    from knime_ext.runtime.platform.csv_reading import CSVFormat, read_csv

    return Table.from_pyarrow(read_csv(folder / "orders.csv", CSVFormat()))


def test_a_workflow_tool_runs_on_its_own_with_its_sample(examples: Path) -> None:
    result = run(examples / "orders-agent" / "tools" / "customer_revenue.json")
    assert result.message == "Example & Co. has the highest revenue: 1373.00 USD (2 customers ranked)"


@pytest.mark.parametrize(
    ("tool", "parameters", "message", "output", "size"),
    [
        (
            "customer_revenue",
            {},
            "Northwind Traders has the highest revenue: 18342.50 USD (8 customers ranked)",
            "ranking",
            8,
        ),
        (
            "customer_revenue",
            {"top_n": 3},
            "Northwind Traders has the highest revenue: 18342.50 USD (8 customers ranked)",
            "ranking",
            3,
        ),
        (
            "orders_by_country",
            {},
            "Germany is the country with the highest revenue: 21191.50 USD in 9 orders (7 countries counted)",
            "countries",
            7,
        ),
        ("orders_by_country", {"minimum_orders": 99}, "No country has that many orders", "countries", 0),
        (
            "product_sales",
            {},
            "Coffee beans 1 kg is the best-selling product: 850 pieces worth 21165.00 USD (7 products compared)",
            "products",
            7,
        ),
        (
            "product_sales",
            {"by_value": True},
            "Espresso machine is the best-selling product: 24 pieces worth 29976.00 USD (7 products compared)",
            "products",
            7,
        ),
    ],
)
def test_a_workflow_tool_computes_table_and_message_from_the_orders(
    examples: Path, tool: str, parameters: dict[str, Any], message: str, output: str, size: int
) -> None:
    folder = examples / "orders-agent"
    result = run(folder / "tools" / f"{tool}.json", inputs={"orders": orders(folder)}, parameters=parameters)
    assert result.message == message
    assert len(rows(result, output)) == size


def test_changed_orders_change_the_message(examples: Path) -> None:
    folder = examples / "orders-agent"
    with (folder / "orders.csv").open("a", encoding="utf-8") as file:
        file.write("株式会社さくら,Espresso machine,5,1249.00,Japan,2026-07-01\n")
    result = run(folder / "tools" / "customer_revenue.json", inputs={"orders": orders(folder)})
    assert result.message == "株式会社さくら has the highest revenue: 18996.00 USD (8 customers ranked)"


def test_no_orders_give_a_sentence_and_an_empty_ranking(examples: Path) -> None:
    folder = examples / "orders-agent"
    result = run(folder / "tools" / "customer_revenue.json", inputs={"orders": orders(folder)[:, :0].get()})
    assert result.message == "There are no orders with a customer, so there is no ranking"
    assert rows(result, "ranking") == []


# orders-agent: the MCP server


@pytest.mark.parametrize("transport", ["sse", "streamable-http"])
def test_the_orders_server_lists_and_calls_its_tools(examples: Path, transport: str) -> None:
    with serving(examples / "orders-agent" / "server.py", "--transport", transport) as address:
        tools = listed(address)
        assert [tool.tool_name for tool in tools] == ["convert_currency", "shipping_estimate", "days_between"]
        schema = tools[0].parameter_schema
        assert schema["properties"]["to_currency"]["enum"][:2] == ["USD", "EUR"]
        assert schema["required"] == ["amount", "from_currency", "to_currency"]
        assert called(tools[0], amount=100, from_currency="USD", to_currency="EUR") == {
            "amount": 86.0,
            "currency": "EUR",
            "rate": 0.86,
            "rates_date": "2026-10-01",
        }
        assert called(tools[0], amount=1, from_currency="EUR", to_currency="JPY", decimals=0)["amount"] == 173
        assert called(tools[1], region="Asia", weight_kg=2.5, express=True) == {
            "price_eur": 63.0,
            "days": 5,
            "region": "Asia",
        }
        assert called(tools[2], start="2026-02-01", end="2026-03-01")["days"] == 28


def test_the_orders_server_serves_over_stdio_too(examples: Path) -> None:
    from knime_ext.mcp import MCPToolCaller, StdioServer, tools_from_listing

    script = str(examples / "orders-agent" / "server.py")
    server = StdioServer(name="orders", command=sys.executable, args=(script, "--transport", "stdio"))
    with MCPToolCaller(providers={"orders": server}) as caller:
        days = tools_from_listing(caller.list_tools([server])[0])[2]
        assert days.server_uri == "stdio:orders"
        assert json.loads(caller.text(days, {"start": "2026-01-01", "end": "2026-01-08"}))["days"] == 7


@pytest.mark.parametrize("script", ["orders-agent/server.py", "two-servers/units_server.py"])
def test_a_port_that_is_taken_is_explained_in_one_line(script: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, str(EXAMPLES / script), "--port", port]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr == f"cannot listen on port {port}, it is in use or not allowed; choose another with --port\n"


def listed(address: str) -> list[MCPTool]:
    from knime_ext.mcp import MCPToolCaller, URLServer, tools_from_listing

    with MCPToolCaller() as caller:
        return tools_from_listing(caller.list_tools([URLServer(address)])[0])


def called(tool: MCPTool, **arguments: Any) -> dict[str, Any]:
    from knime_ext.mcp import MCPToolCaller

    with MCPToolCaller() as caller:
        return cast("dict[str, Any]", json.loads(caller.text(tool, arguments)))


# payments-in-euros


def test_payments_are_converted_by_the_narrowed_tool(examples: Path) -> None:
    with serving(examples / "orders-agent" / "server.py") as address:
        path = examples / "payments-in-euros" / "workflow.json"
        result = run(path, settings={"provider.server_url": address})
    by_invoice = {row["invoice"]: row for row in rows(result, "payments")}
    assert {name: row["EUR amount"] for name, row in by_invoice.items()} == {
        "R-1001": 215.0,
        "R-1002": 1385.23,
        "R-1003": 89.9,
        "R-1004": 2363.27,
        "R-1005": None,
        "R-1006": None,
    }
    assert "'from_currency' must be one of" in by_invoice["R-1005"]["Error"]
    assert "must have 'amount'" in by_invoice["R-1006"]["Error"]
    [tool] = result.table("narrowed", 0).to_pyarrow().column("name").to_pylist()
    assert tool == "to_euros"


# orders-agent: the whole


def test_the_agent_answers_with_a_workflow_and_a_tool_of_the_server(
    examples: Path, tmp_path: Path, orders_server: str
) -> None:
    path = examples / "orders-agent" / "workflow.json"
    result = run(path, settings={"provider.server_url": orders_server}, out=tmp_path / "out")
    (first, revenue), (second, conversion) = calls(result)
    assert (first, revenue["data_inputs"]) == ("customer_revenue", {"orders": 0})
    assert second in ("Convert currency", "convert_currency")
    assert (conversion["amount"], conversion["to_currency"]) == (18342.5, "EUR")
    answer = texts(result)[-1]
    assert "Northwind Traders" in answer
    assert "15774.55" in answer.replace(",", "")
    ranking = rows(result, "result")
    assert [row["customer"] for row in ranking[:2]] == ["Northwind Traders", "Müller & Söhne"]
    assert len(ranking) == 8
    for name in ("conversation.arrow", "conversation.csv", "result.arrow", "result.csv", "agent.html", "run.json"):
        assert (tmp_path / "out" / name).stat().st_size > 0


def test_other_orders_give_another_answer(examples: Path, orders_server: str) -> None:
    folder = examples / "orders-agent"
    with (folder / "orders.csv").open("a", encoding="utf-8") as file:
        file.write("Café Lumière,Espresso machine,10,1249.00,France,2026-07-01\n")
    result = run(folder / "workflow.json", settings={"provider.server_url": orders_server})
    assert calls(result)[1][1]["amount"] == 26906.0
    assert "Café Lumière" in texts(result)[-1]
    assert "23139.16" in texts(result)[-1].replace(",", "")


@pytest.mark.parametrize(
    ("question", "tools", "answer"),
    [
        ("Which country has the highest revenue in the orders?", ["orders_by_country"], "21191.50"),
        ("Which product sells best in the orders?", ["product_sales"], "Coffee beans 1 kg"),
        ("How many days are between 2026-01-01 and 2026-03-01?", ["Days between"], "59"),
    ],
)
def test_other_questions_are_answered_by_other_tools(
    examples: Path, orders_server: str, question: str, tools: list[str], answer: str
) -> None:
    settings = {"provider.server_url": orders_server, "agent.user_message": question}
    result = run(examples / "orders-agent" / "workflow.json", settings=settings)
    assert [name for name, _ in calls(result)] == tools
    assert answer in texts(result)[-1]


def test_without_the_server_the_run_fails_and_names_its_address(examples: Path) -> None:
    from knime_ext.errors import NodeFailed

    address = "http://127.0.0.1:9/sse"
    with pytest.raises(NodeFailed, match="127.0.0.1:9") as caught:
        run(examples / "orders-agent" / "workflow.json", settings={"provider.server_url": address})
    assert caught.value.node == "provider"


def test_the_agents_tools_are_of_both_kinds_in_one_column(examples: Path, orders_server: str) -> None:
    path = examples / "orders-agent" / "workflow.json"
    result = run(path, settings={"provider.server_url": orders_server})
    table: pa.Table = result.table("tools").to_pyarrow()
    tools: list[Tool] = table.column("Tool").to_pylist()
    assert table.column_names == ["<RowID>", "Tool"]
    assert [type(tool) for tool in tools] == [MCPTool] * 3 + [WorkflowTool] * 3


# two-servers


def test_tools_of_two_servers_are_filtered_by_name_and_the_agent_calls_the_right_one(
    examples: Path, orders_server: str
) -> None:
    folder, money = examples / "two-servers", orders_server
    with serving(folder / "units_server.py") as units:
        result = run(folder / "workflow.json", settings={"money.server_url": money, "units.server_url": units})
        everything: list[MCPTool] = result.workflow_outputs["all-tools"].to_pyarrow().column("Tool").to_pylist()
        days = [tool for tool in everything if tool.tool_name == "days_between"]
        spans = [called(tool, start="2026-02-02", end="2026-02-09") for tool in days]
    assert [tool.server_uri for tool in everything] == [money] * 3 + [units] * 3
    assert spans == [{"days": 7, "weeks": 1.0}, {"working_days": 5}]
    offered: list[Tool] = result.table("converters").to_pyarrow().column("Tool").to_pylist()
    assert [tool.name for tool in offered] == ["Convert currency", "Convert length", "Convert temperature"]
    ((name, arguments),) = calls(result)
    assert name in ("Convert length", "convert_length")
    assert arguments == {"value": 26.2, "from_unit": "miles", "to_unit": "kilometers"}
    assert "42.164813" in texts(result)[-1]
