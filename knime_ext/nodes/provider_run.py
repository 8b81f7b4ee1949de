"""One run of the MCP Tool Provider: servers are asked, tools chosen, rows written. Imported when the node executes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import knime.extension as knext

from knime.types.tool import MCPTool
from knime_ext.mcp import Timeouts
from knime_ext.nodes.cells import tool_table
from knime_ext.nodes.changed_tools import ChangedTools
from knime_ext.nodes.provider_settings import NamePrefix, TimeLimits, ToolChoice
from knime_ext.nodes.server_listing import Answer, ask_servers, share_with_other_processes, warning_about
from knime_ext.nodes.server_table import server_table
from knime_ext.nodes.tool_selection import Pins, matches_any, patterns_in, prefixed

__all__ = ["list_tools"]

_CHANGED = "Pinned tools are not what they were"


def list_tools(ctx: knext.ExecutionContext, servers: Sequence[str], choice: ToolChoice, limits: TimeLimits) -> Any:
    """Asks the servers and gives what the node returns: the table of tools and that of servers.

    Raises:
        knext.InvalidParametersError: Pinned tools have changed and must not.
        KnimeExtError: No server could be listed.
    """
    timeouts = Timeouts(connect=limits.connect, list=limits.listing)
    answers = ask_servers(servers, getattr(ctx, "_mcp_providers", None), timeouts, ctx.is_canceled)
    pinned, changes = Pins.parse(choice.pins).sort([tool for answer in answers for tool in answer.tools])
    if changes and choice.changed_pins == ChangedTools.FAIL.name:
        raise knext.InvalidParametersError(
            f"{_CHANGED}: {'; '.join(changes)}. See whether you still trust them and pin them again, or accept changed "
            "tools in the dialog."
        )
    written = _written(answers, pinned, choice)
    if not hasattr(ctx, "_execute_mcp_tool"):
        share_with_other_processes(answers)
    warn_of_pins = changes and choice.changed_pins == ChangedTools.WARN.name
    warnings = [warning_about(answers), f"{_CHANGED}: {'; '.join(changes)}." if warn_of_pins else None]
    if any(warnings):
        ctx.set_warning(" ".join(filter(None, warnings)))
    return tool_table([tool for tools in written.values() for tool in tools]), server_table(answers, written)


def _written(answers: Sequence[Answer], pinned: Sequence[MCPTool], choice: ToolChoice) -> Mapping[int, list[MCPTool]]:
    """The tools that become rows, under their names there, by the position of their server."""
    include, exclude = patterns_in(choice.include) or ["*"], patterns_in(choice.exclude)
    kept = {id(tool) for tool in pinned}

    def is_wanted(tool: MCPTool) -> bool:
        fits = matches_any(tool.tool_name, include) and not matches_any(tool.tool_name, exclude)
        return id(tool) in kept and fits

    return {
        place: [prefixed(tool, _prefix(answer, choice)) for tool in answer.tools if is_wanted(tool)]
        for place, answer in enumerate(answers)
    }


def _prefix(answer: Answer, choice: ToolChoice) -> str:
    if choice.prefix == NamePrefix.SERVER.name:
        return answer.short_name
    return choice.prefix_text.strip() if choice.prefix == NamePrefix.CUSTOM.name else ""
