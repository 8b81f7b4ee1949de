from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from knime.types.tool import MCPTool
from knime_ext.errors import ConfigurationError
from knime_ext.runtime.platform.sql_sandbox import run_query
from knime_ext.runtime.platform.tool_columns import tool_table

SALES = pa.table({"city": ["Łódź", "東京", "Łódź", None], "n": pa.array([1, 2, 3, None], pa.int32())})


def test_the_first_table_is_input_and_table1_and_the_others_are_numbered(output: Callable[..., pa.Table]) -> None:
    query = "SELECT a.city, b.x FROM input a JOIN table1 c USING (n) JOIN table2 b ON b.x = a.n + 1 ORDER BY ALL"
    table = output("SQLQuery", {"query": query}, SALES, pa.table({"x": [2, 3]}), ports=[0, 0])
    assert table.to_pylist() == [
        {"<RowID>": "Row0", "city": "Łódź", "x": 2},
        {"<RowID>": "Row1", "city": "東京", "x": 3},
    ]


def test_results_have_the_types_of_knime_columns(output: Callable[..., pa.Table]) -> None:
    query = """
        SELECT sum(n) AS total, avg(n) AS mean, count(*) AS rows, 1.5 AS decimal, max(city) AS city,
               bool_or(n > 1) AS any, CAST(1 AS UTINYINT) AS small, CAST(1 AS FLOAT) AS single,
               DATE '2026-01-31' AS day, list(n) AS list, NULL AS nothing
        FROM input
    """
    table = output("SQLQuery", {"query": query}, SALES)
    assert {field.name: field.type for field in table.schema if field.name != "list"} == {
        "<RowID>": pa.string(),
        "total": pa.int64(),
        "mean": pa.float64(),
        "rows": pa.int64(),
        "decimal": pa.float64(),
        "city": pa.string(),
        "any": pa.bool_(),
        "small": pa.int32(),
        "single": pa.float64(),
        "day": pa.date32(),
        "nothing": table.schema.field("nothing").type,
    }
    assert table.column("list").to_pylist() == [[1, 2, 3, None]]
    assert table.column("total").to_pylist() == [6]


def test_flow_variables_are_values_in_the_query(output: Callable[..., pa.Table], failure: Callable[..., str]) -> None:
    query = "SELECT city FROM input WHERE city = $city LIMIT $top_n"
    variables = {"city": "Łódź' OR 1=1 --", "top_n": 1}
    assert output("SQLQuery", {"query": query}, SALES, variables=variables).num_rows == 0
    assert output("SQLQuery", {"query": query}, SALES, variables={**variables, "city": "Łódź"}).num_rows == 1
    message = failure("SQLQuery", {"query": query}, SALES, variables={"city": "x", "top": 1})
    assert "the query uses $top_n, but there is no flow variable 'top_n'; did you mean 'top'?" in message


def test_empty_tables_and_queries_without_tables_work(output: Callable[..., pa.Table]) -> None:
    assert (
        output("SQLQuery", {"query": "SELECT count(*) AS c FROM input"}, SALES.slice(0, 0)).column("c")[0].as_py() == 0
    )
    assert output("SQLQuery", {"query": "SELECT 42 AS answer"}).column("answer").to_pylist() == [42]


def test_tools_pass_through_when_selected_whole(output: Callable[..., pa.Table], failure: Callable[..., str]) -> None:
    tools = [
        MCPTool(name, "", {"type": "object"}, server_uri=f"http://127.0.0.1:{port}/sse")
        for port, name in enumerate(["search", "añadir", "search"], 1)
    ]
    arrow = tool_table(tools).to_pyarrow()
    ranks = pa.table({"rank": [1, 2]})
    query = "SELECT rank, Tool AS chosen FROM table1 JOIN table2 ON true WHERE Tool.\"1\" = 'añadir' ORDER BY rank DESC"
    table = output("SQLQuery", {"query": query}, arrow, ranks, ports=[0, 0])
    assert table.schema.field("chosen").type == arrow.schema.field("Tool").type
    assert table.column("chosen").to_pylist() == [tools[1], tools[1]]
    union = output("SQLQuery", {"query": "SELECT * FROM table1 UNION SELECT * FROM table2"}, arrow, arrow, ports=[0, 0])
    assert sorted(tool.server_uri for tool in union.column("Tool").to_pylist()) == [tool.server_uri for tool in tools]
    message = failure("SQLQuery", {"query": "SELECT {'tool': Tool} AS wrapped FROM input"}, arrow)
    assert "result column 'wrapped' is a structure: select a column of tools whole" in message


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "the query has 0 statements: write exactly one SELECT"),
        ("SELECT 1; SELECT 2", "the query has 2 statements"),
        ("SELEC 1", 'the query fails: syntax error at or near "SELEC"'),
        ("SELECT nope FROM input", 'the query fails: Referenced column "nope" not found'),
        ("SELECT * FROM table2", "table2 does not exist"),
        ("SELECT city, city FROM input", "two columns named 'city': rename one with AS"),
        ("SELECT CAST(city AS INT) AS n FROM input", "Could not convert string"),
        ("SELECT 10::HUGEINT * 9223372036854775807 AS h FROM input", "'h' has a value beyond 64 bits"),
        ("SELECT 'x'::BLOB AS b", "result column 'b' has type binary, which no KNIME column can hold"),
        ("DROP VIEW input", "the query is a DROP statement: only SELECT is possible"),
        ("PRAGMA version", "only SELECT is possible"),
        ("SET memory_limit = '1GB'", "only SELECT is possible"),
        ("CREATE TABLE t AS SELECT 1", "only SELECT is possible"),
    ],
)
def test_a_query_that_cannot_run_is_explained_in_one_line(
    failure: Callable[..., str], query: str, message: str
) -> None:
    text = failure("SQLQuery", {"query": query}, SALES)
    assert message in text
    assert "\n" not in text


def test_a_wrong_column_is_found_before_anything_executes(
    run_node: Callable[..., Any], failure: Callable[..., str]
) -> None:
    assert "node 'node' failed: the query fails" in failure("SQLQuery", {"query": "SELECT nope FROM input"}, SALES)


def test_column_names_of_any_kind_reach_the_query_and_those_equal_but_for_case_are_told_apart(
    output: Callable[..., pa.Table],
) -> None:
    tools = tool_table([MCPTool("t", "", {}, server_uri="http://127.0.0.1:1/sse")]).to_pyarrow()
    table = tools.append_column("tool", pa.array([1])).append_column('größe "m²"', pa.array([2]))
    result = output("SQLQuery", {"query": "SELECT * FROM input"}, table)
    assert result.column_names == ["<RowID>", "Tool", "tool_1", 'größe "m²"']
    assert result.column("Tool")[0].as_py().name == "t"


def test_a_table_without_columns_cannot_be_queried(failure: Callable[..., str]) -> None:
    message = failure("SQLQuery", {"query": "SELECT 1 AS x"}, SALES, pa.table({"<RowID>": ["r"]}), ports=[0, 0])
    assert "input table 2 has no columns to query" in message


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM read_blob('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM read_json_auto('http://127.0.0.1:9/x.json')",
        "SELECT * FROM sqlite_scan('{file}', 't')",
        "SELECT getenv('HOME')",
        "COPY (SELECT 1) TO '{folder}/stolen.csv'",
        "ATTACH '{folder}/stolen.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
    ],
)
def test_nothing_outside_of_the_tables_is_within_reach(failure: Callable[..., str], tmp_path: Path, query: str) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("password\nhunter2\n", "utf-8")
    message = failure("SQLQuery", {"query": query.format(file=secret, folder=tmp_path)}, SALES)
    assert "hunter2" not in message
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]


def test_python_variables_are_not_tables() -> None:
    secret = pa.table({"password": ["hunter2"]})
    with pytest.raises(ConfigurationError, match="secret does not exist"):
        run_query([], "SELECT * FROM secret")
    assert secret.num_rows == 1


def test_a_long_query_stops_when_the_run_is_canceled() -> None:
    canceled = threading.Event()
    timer = threading.Timer(0.3, canceled.set)
    timer.start()
    started = time.perf_counter()
    with pytest.raises(ConfigurationError, match="the query was canceled"):
        run_query(
            [],
            "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE a.range % 7 = b.range % 11",
            canceled=canceled.is_set,
        )
    timer.join()
    assert time.perf_counter() - started < 30
    assert not [thread for thread in threading.enumerate() if thread.name == "sql-query-cancel"]


def test_a_hundred_thousand_rows_are_grouped_quickly(output: Callable[..., pa.Table]) -> None:
    table = pa.table({"g": [f"g{number % 100}" for number in range(100_000)], "v": range(100_000)})
    started = time.perf_counter()
    grouped = output("SQLQuery", {"query": "SELECT g, sum(v) AS s FROM input GROUP BY g"}, table)
    assert grouped.num_rows == 100
    assert sum(grouped.column("s").to_pylist()) == sum(range(100_000))
    assert time.perf_counter() - started < 5
