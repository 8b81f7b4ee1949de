"""The table of servers: one row for each server that was asked, whatever became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import knime.extension as knext
import pyarrow as pa

from knime_ext.nodes.tool_selection import pin_text

if TYPE_CHECKING:
    from knime.types.tool import MCPTool
    from knime_ext.nodes.server_listing import Answer

__all__ = ["server_schema", "server_table"]


def server_schema() -> knext.Schema:
    """The columns of the table."""
    text, whole = knext.string(), knext.int64()
    columns = {
        "Server": text,
        "State": text,
        "Era": text,
        "Capabilities": text,
        "Tools": whole,
        "Malformed tools": whole,
        "Time (seconds)": knext.double(),
        "Error": text,
        "Pin": text,
    }
    return knext.Schema.from_columns([knext.Column(ktype, name) for name, ktype in columns.items()])


def server_table(answers: Sequence[Answer], written: Mapping[int, Sequence[MCPTool]]) -> knext.Table:
    """One row per server.

    Args:
        answers: What the servers said.
        written: The tools of each that went into the table of tools, by its position.
    """
    listings = [answer.listing for answer in answers]
    columns = {
        "Server": pa.array([answer.named for answer in answers], pa.utf8()),
        "State": pa.array([_state(answer) for answer in answers], pa.utf8()),
        "Era": pa.array([listing.era for listing in listings], pa.utf8()),
        "Capabilities": pa.array([", ".join(listing.capabilities) or None for listing in listings], pa.utf8()),
        "Tools": pa.array([len(written[place]) for place in range(len(answers))], pa.int64()),
        "Malformed tools": pa.array([len(listing.problems) for listing in listings], pa.int64()),
        "Time (seconds)": pa.array([listing.seconds for listing in listings], pa.float64()),
        "Error": pa.array([listing.error for listing in listings], pa.utf8()),
        "Pin": pa.array([pin_text(written[place]) or None for place in range(len(answers))], pa.utf8()),
    }
    return knext.Table.from_pyarrow(pa.table(columns))


def _state(answer: Answer) -> str:
    if answer.listing.error is None:
        return "connected"
    return "incomplete" if answer.listing.definitions else "failed"
