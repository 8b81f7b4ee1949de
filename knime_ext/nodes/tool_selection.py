"""Which of the listed tools are written into rows, and under which names. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from knime_ext.errors import ConfigurationError

if TYPE_CHECKING:
    from knime.types.tool import MCPTool

__all__ = ["Pins", "matches_any", "patterns_in", "pin_text", "prefixed"]

_PIN_CHARS = 32
"""128 bits of the fingerprint: more than enough to notice a change, short enough to read."""


def patterns_in(text: str) -> list[str]:
    """The patterns in a text, which commas or line ends separate."""
    return [pattern.strip() for pattern in re.split(r"[,\n]", text) if pattern.strip()]


def matches_any(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name fits a pattern; capitals matter, as they do for servers."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def prefixed(tool: MCPTool, prefix: str) -> MCPTool:
    """The tool under a longer name; calls still go out under the server's own."""
    return replace(tool, name=f"{prefix}_{tool.name}") if prefix else tool


def pin_text(tools: Iterable[MCPTool]) -> str:
    """What holds tools at what they are, one line each."""
    return "\n".join(f"{tool.tool_name} {_pin(tool)}" for tool in tools)


def _pin(tool: MCPTool) -> str:
    return (tool.fingerprint or "")[:_PIN_CHARS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """Tools as they were when a person looked at them.

    Attributes:
        known: Name of each tool on its server and the fingerprints that are all right.
    """

    known: dict[str, frozenset[str]]

    @classmethod
    def parse(cls, text: str) -> Pins:
        """Reads pins.

        Raises:
            ConfigurationError: A line is no pin.
        """
        known: dict[str, frozenset[str]] = {}
        for number, line in enumerate(text.splitlines(), start=1):
            name, _, digest = line.strip().rpartition(" ")
            if line.strip() and (not name or not re.fullmatch(f"[0-9a-f]{{{_PIN_CHARS}}}", digest)):
                raise ConfigurationError(
                    f"line {number} of the pinned tools is no pin: {line.strip()!r}; copy the column 'Pin' of the "
                    "second output, one line per tool"
                )
            if name:
                known[name.strip()] = known.get(name.strip(), frozenset()) | {digest}
        return cls(known=known)

    def sort(self, tools: Sequence[MCPTool]) -> tuple[list[MCPTool], list[str]]:
        """The tools that are pinned, changed ones included, and what is not as it was."""
        if not self.known:
            return list(tools), []
        pinned = [tool for tool in tools if tool.tool_name in self.known]
        changed = [
            f"tool {tool.tool_name!r} of {tool.server_uri!r} has changed"
            for tool in pinned
            if _pin(tool) not in self.known[tool.tool_name]
        ]
        there = {tool.tool_name for tool in pinned}
        return pinned, changed + [f"tool {name!r} is gone" for name in self.known if name not in there]
