"""Parameters of the MCP Tool Provider."""

from __future__ import annotations

import knime.extension as knext

from knime_ext.nodes.changed_tools import ChangedTools
from knime_ext.nodes.server_address import check_address

__all__ = ["NamePrefix", "OtherServer", "TimeLimits", "ToolChoice"]

_ADDRESS = (
    "Name of a registered provider (see `knime-mcp config mcp`), or the address of a server, such as "
    "`https://example.com/mcp`."
)


class NamePrefix(knext.EnumParameterOptions):
    """What stands before the names of tools."""

    NONE = ("None", "Tools keep the names that their servers give them.")
    SERVER = (
        "Name of the server",
        "The provider's name, or the host of the address, such as `docs_search` for the tool *search* of *docs*.",
    )
    CUSTOM = ("Own text", "A text of your own.")


@knext.parameter_group(label="Another server")
class OtherServer:
    """A server whose tools are listed as well."""

    server = knext.StringParameter("Server", _ADDRESS, "", validator=check_address)


@knext.parameter_group(label="Choice of tools")
class ToolChoice:
    """Which tools are written, and under which names."""

    include = knext.StringParameter(
        "Only these tools",
        "Names of tools as their servers call them, separated by commas; `*` and `?` stand for any text and any "
        "character, such as `search_*, read_file`. Empty for all tools.",
        "",
    )
    exclude = knext.StringParameter(
        "Not these tools", "Names in the same form; they are left out in any case, such as `*_delete`.", ""
    )
    prefix = knext.EnumParameter(
        "Text before the names",
        "Tells tools of equal names apart. The calls reach the servers under the servers' own names.",
        NamePrefix.NONE.name,
        NamePrefix,
        is_advanced=True,
    )
    prefix_text = knext.StringParameter(
        "Own text before the names", "It is joined to each name by an underscore.", "", is_advanced=True
    ).rule(knext.OneOf(prefix, ["CUSTOM"]), knext.Effect.SHOW)
    pins = knext.MultilineStringParameter(
        "Pinned tools",
        "Copy the column *Pin* of the second output here to hold the tools at what they are now: one line per tool, "
        "its name and its fingerprint. Other tools are left out then. Empty to take the tools as they come.",
        "",
        number_of_lines=4,
        is_advanced=True,
    )
    changed_pins = knext.EnumParameter(
        "If a pinned tool has changed",
        "What happens if the server now describes a pinned tool in another way, or has it no more.",
        ChangedTools.FAIL.name,
        ChangedTools,
        is_advanced=True,
    )


@knext.parameter_group(label="Time limits", is_advanced=True)
class TimeLimits:
    """How long to wait for each server."""

    connect = knext.DoubleParameter(
        "Connect (seconds)", "Longest time for reaching the server and greeting it.", 10.0, min_value=0.1
    )
    listing = knext.DoubleParameter(
        "List (seconds)", "Longest time for receiving the whole list of tools.", 30.0, min_value=0.1
    )
