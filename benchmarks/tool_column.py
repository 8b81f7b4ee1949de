"""Decodes and encodes a column of 100,000 mixed tools with 50 distinct schemas. Run with `make benchmark`."""

from __future__ import annotations

import time
from collections.abc import Callable

from knime.types.tool import MCPTool, Tool, ToolPort, WorkflowTool
from knime_ext.tools import decode_tools, encode_tools

ROWS, SCHEMAS, RUNS = 100_000, 50, 5


def _schema(number: int) -> dict[str, object]:
    fields = {f"field_{number}_{i}": {"type": "string", "description": "Some words about it. " * 3} for i in range(8)}
    return {"type": "object", "properties": fields, "required": list(fields)}


def _tool(row: int, schema: dict[str, object]) -> Tool:
    if row % 2:
        return MCPTool(f"tool_{row}", "Does a thing.", schema, "https://example.org/mcp", f"tool_{row}")
    ports = [ToolPort("in", "A table.", "Table", "")]
    return WorkflowTool(f"flow_{row}", "Does a thing.", schema, 0, ports, [], f"v1:{row}")


def _best(work: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Prints the best of five runs, in seconds."""
    schemas = [_schema(number) for number in range(SCHEMAS)]
    tools = [_tool(row, schemas[row % SCHEMAS]) for row in range(ROWS)]
    column = encode_tools(tools)
    print(f"{ROWS} rows, {SCHEMAS} schemas, {column.nbytes / 1e6:.0f} MB")
    print(f"decode {_best(lambda: decode_tools(column)):.2f} s")
    print(f"encode {_best(lambda: encode_tools(tools)):.2f} s")


if __name__ == "__main__":
    main()
