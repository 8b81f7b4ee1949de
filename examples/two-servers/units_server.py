"""The second MCP server of the two-servers example: units of length and temperature, and working days.

It is run like `server.py` of the orders-agent example. Its tool `days_between` has the same name as one of that server
and does something else: rows tell them apart by their server.
"""

from __future__ import annotations

import argparse
import socket
from datetime import date, timedelta
from typing import Annotated, Literal

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

Length = Literal["meters", "kilometers", "miles", "feet", "inches"]
Temperature = Literal["celsius", "fahrenheit", "kelvin"]

METERS: dict[Length, float] = {
    "meters": 1.0,
    "kilometers": 1000.0,
    "miles": 1609.344,
    "feet": 0.3048,
    "inches": 0.0254,
}
"""Meters in one unit; the values are exact by definition."""

READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

server = MCPServer(
    "units", version="1.0.0", log_level="WARNING", instructions="Converts units and counts working days."
)


class Measure(BaseModel):
    """A value with its unit."""

    value: float
    unit: str


class WorkingDays(BaseModel):
    """How many days people work."""

    working_days: int


@server.tool(title="Convert length", annotations=READ_ONLY)
def convert_length(
    value: Annotated[float, Field(description="The length to convert")],
    from_unit: Annotated[Length, Field(description="Unit of the length")],
    to_unit: Annotated[Length, Field(description="Unit to convert into")],
) -> Measure:
    """Converts a length or distance from one unit to another."""
    return Measure(value=round(value * METERS[from_unit] / METERS[to_unit], 6), unit=to_unit)


@server.tool(title="Convert temperature", annotations=READ_ONLY)
def convert_temperature(
    value: Annotated[float, Field(description="The temperature to convert")],
    from_unit: Annotated[Temperature, Field(description="Unit of the temperature")],
    to_unit: Annotated[Temperature, Field(description="Unit to convert into")],
) -> Measure:
    """Converts a temperature from one unit to another."""
    kelvin = {"celsius": value + 273.15, "fahrenheit": (value + 459.67) * 5 / 9, "kelvin": value}[from_unit]
    if kelvin < 0:
        raise ValueError(f"{value} {from_unit} is below absolute zero")
    converted = {"celsius": kelvin - 273.15, "fahrenheit": kelvin * 9 / 5 - 459.67, "kelvin": kelvin}[to_unit]
    return Measure(value=round(converted, 6), unit=to_unit)


@server.tool(annotations=READ_ONLY)
def days_between(
    start: Annotated[date, Field(description="First day, as YYYY-MM-DD")],
    end: Annotated[date, Field(description="Last day, as YYYY-MM-DD; does not count itself")],
) -> WorkingDays:
    """Counts the working days (Monday to Friday) from one date to another."""
    if end < start:
        raise ValueError("the last day lies before the first")
    weeks, rest = divmod((end - start).days, 7)
    partial = sum((start + timedelta(days=day)).weekday() < 5 for day in range(rest))
    return WorkingDays(working_days=weeks * 5 + partial)


def main() -> None:
    """Serves on the loopback interface until the process is told to stop."""
    parser = argparse.ArgumentParser(description="Second MCP server of the two-servers example.")
    parser.add_argument("--transport", choices=["sse", "streamable-http", "stdio"], default="streamable-http")
    parser.add_argument("--port", type=int, default=8001, help="0 takes a free port")
    arguments = parser.parse_args()
    if arguments.transport == "stdio":
        server.run("stdio")
        return
    app, path = (server.sse_app(), "/sse") if arguments.transport == "sse" else (server.streamable_http_app(), "/mcp")
    try:
        listener = socket.create_server(("127.0.0.1", arguments.port))
    except OSError:
        message = f"cannot listen on port {arguments.port}, it is in use or not allowed; choose another with --port"
        raise SystemExit(message) from None
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}{path}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)).run(sockets=[listener])


if __name__ == "__main__":
    main()
