"""A small MCP server for the orders-agent example: currency conversion, shipping costs, days between two dates.

Run it with `python server.py`. It prints one line, `listening on http://127.0.0.1:8000/sse`, when it is ready.
`--port 0` takes a free port; `--transport` chooses between HTTP+SSE (the default), streamable HTTP and stdio.
"""

from __future__ import annotations

import argparse
import math
import socket
from datetime import date
from typing import Annotated, Literal

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

Currency = Literal["USD", "EUR", "GBP", "JPY", "CHF", "INR", "BRL"]

RATES_DATE = date(2026, 10, 1)
UNITS_PER_USD: dict[Currency, float] = {
    "USD": 1.0,
    "EUR": 0.86,
    "GBP": 0.745,
    "JPY": 149.2,
    "CHF": 0.805,
    "INR": 88.4,
    "BRL": 5.35,
}
"""Reference rates of the day above; a real server would ask a bank."""

SHIPPING_ZONES: dict[str, tuple[float, float, int]] = {
    "Europe": (9.5, 2.4, 4),
    "North America": (14.0, 4.1, 6),
    "South America": (19.0, 6.3, 10),
    "Asia": (17.5, 5.6, 9),
    "Africa": (21.0, 6.9, 12),
    "Oceania": (23.0, 7.4, 13),
}
"""Base price in EUR, price per kilogram in EUR, and days under way, by region."""

READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

server = MCPServer(
    "orders-helper",
    version="1.0.0",
    log_level="WARNING",
    instructions="Converts amounts between currencies, estimates shipping costs and counts days.",
)


class Conversion(BaseModel):
    """An amount in another currency."""

    amount: float = Field(description="The converted amount, rounded")
    currency: Currency = Field(description="Currency of the converted amount")
    rate: float = Field(description="Units of the new currency for one unit of the old one")
    rates_date: str = Field(description="Day of the exchange rates, as YYYY-MM-DD")


class ShippingEstimate(BaseModel):
    """What a parcel costs and how long it takes."""

    price_eur: float
    days: int
    region: str


class Days(BaseModel):
    """The time between two days."""

    days: int = Field(description="Negative if the end lies before the start")
    weeks: float


@server.tool(title="Convert currency", annotations=READ_ONLY)
def convert_currency(
    amount: Annotated[float, Field(description="The amount of money to convert")],
    from_currency: Annotated[Currency, Field(description="Currency of the amount, as an ISO 4217 code")],
    to_currency: Annotated[Currency, Field(description="Currency to convert into, as an ISO 4217 code")],
    decimals: Annotated[int, Field(ge=0, le=6, description="Digits after the point")] = 2,
) -> Conversion:
    """Converts an amount of money from one currency to another at the reference exchange rate."""
    if not math.isfinite(amount):
        raise ValueError("the amount must be a finite number")
    rate = UNITS_PER_USD[to_currency] / UNITS_PER_USD[from_currency]
    return Conversion(
        amount=round(amount * rate, decimals),
        currency=to_currency,
        rate=round(rate, 6),
        rates_date=RATES_DATE.isoformat(),
    )


@server.tool(title="Estimate shipping", annotations=READ_ONLY)
def shipping_estimate(
    region: Annotated[
        Literal["Europe", "North America", "South America", "Asia", "Africa", "Oceania"],
        Field(description="Where the parcel goes"),
    ],
    weight_kg: Annotated[float, Field(gt=0, le=70, description="Weight of the parcel in kilograms")],
    express: Annotated[bool, Field(description="Twice the price for half the time")] = False,
) -> ShippingEstimate:
    """Estimates price (EUR) and delivery time (days) of a parcel by region and weight."""
    base, per_kg, days = SHIPPING_ZONES[region]
    factor = 2 if express else 1
    return ShippingEstimate(
        price_eur=round((base + per_kg * weight_kg) * factor, 2), days=math.ceil(days / factor), region=region
    )


@server.tool(title="Days between", annotations=READ_ONLY)
def days_between(
    start: Annotated[date, Field(description="First day, as YYYY-MM-DD")],
    end: Annotated[date, Field(description="Last day, as YYYY-MM-DD")],
) -> Days:
    """Counts the days from one calendar date to another."""
    days = (end - start).days
    return Days(days=days, weeks=round(days / 7, 2))


def serve_http(transport: str, port: int) -> None:
    """Serves on the loopback interface until the process is told to stop.

    The socket is opened first: whoever reads the line that this prints can connect, whatever the port.
    """
    app, path = (server.sse_app(), "/sse") if transport == "sse" else (server.streamable_http_app(), "/mcp")
    try:
        listener = socket.create_server(("127.0.0.1", port))
    except OSError:
        raise SystemExit(
            f"cannot listen on port {port}, it is in use or not allowed; choose another with --port"
        ) from None
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}{path}", flush=True)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])


def main() -> None:
    """Reads the command line and serves."""
    parser = argparse.ArgumentParser(description="MCP server of the orders-agent example.")
    parser.add_argument("--transport", choices=["sse", "streamable-http", "stdio"], default="sse")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free port")
    arguments = parser.parse_args()
    if arguments.transport == "stdio":
        server.run("stdio")
    else:
        serve_http(arguments.transport, arguments.port)


if __name__ == "__main__":
    main()
