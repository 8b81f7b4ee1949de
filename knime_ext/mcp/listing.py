"""What a server offers, as a value: the good tools, the bad ones with a reason, or why there are none."""

from __future__ import annotations

from dataclasses import dataclass

from knime_ext.mcp.servers import Server
from knime_ext.tools import ToolDefinition

__all__ = ["Listing", "ServerInfo", "ToolProblem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolProblem:
    """A tool that a server lists but that cannot be used.

    Attributes:
        name: Its name, or its place in the list (`"#3"`) if it has none.
        reason: What is wrong with it.
    """

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """What a server says about itself. Display only: it may claim anything."""

    name: str
    version: str = ""
    title: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The tools of one server at one moment; failures are data.

    Attributes:
        server: The server that was asked.
        definitions: The usable tools, in the server's order, names unique.
        problems: Tools that the server lists but that cannot be used.
        error: Why the list is empty or incomplete, None if it is complete.
        seconds: How long it took, connecting included.
        era: The protocol revision that was agreed on, such as "2026-07-28"; None if nobody answered.
        server_info: Name and version that the server gives itself, if it does.
        capabilities: What else the server says it can do, such as "tools" and "prompts".
    """

    server: Server
    definitions: tuple[ToolDefinition, ...] = ()
    problems: tuple[ToolProblem, ...] = ()
    error: str | None = None
    seconds: float = 0.0
    era: str | None = None
    server_info: ServerInfo | None = None
    capabilities: tuple[str, ...] = ()
