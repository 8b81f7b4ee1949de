"""Ports as KNIME counts them: 0 is the port of flow variables, then come the ports of a node's groups one by one.

Ours are counted by declaration: a group is one port with slots, an optional port is there whether connected or not. In
KNIME a group has as many ports as somebody added, and an optional port that nobody added does not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from knime_ext.runtime.document import VARIABLES
from knime_ext.runtime.knime_workflow.config import Config, text

__all__ = [
    "FLOW_VARIABLES",
    "TABLE",
    "OurPort",
    "PortGroup",
    "creation_config",
    "port_counts",
    "port_number",
    "port_of",
]

TABLE = "org.knime.core.node.BufferedDataTable"
FLOW_VARIABLES = "org.knime.core.node.port.flowvariable.FlowVariablePortObject"

OurPort: TypeAlias = int | Literal["variables"] | None
"""Number of a declared port of ours; None for a port that only KNIME's node has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortGroup:
    """Some ports of a KNIME node that belong together.

    Attributes:
        ours: The port of ours that they are.
        key: Name of the group in the node's settings; None if KNIME keeps nothing about it there.
        least: How many ports there always are.
        grows: Whether ports can be added.
        exchangeable: Whether KNIME keeps the type of the one port.
        object_class: Type of the ports.
    """

    ours: OurPort
    key: str | None = None
    least: int = 1
    grows: bool = False
    exchangeable: bool = False
    object_class: str = TABLE

    def count(self, used: int) -> int:
        """How many ports the group has for that many connections."""
        return max(self.least, used) if self.grows else self.least


def port_counts(groups: Sequence[PortGroup], creation: Config | None) -> list[int]:
    """How many ports each group of a stored node has.

    Args:
        groups: The groups of inputs or of outputs.
        creation: What the node's settings keep about groups; None if they keep nothing.
    """
    counts: list[int] = []
    for group in groups:
        kept = creation.get(group.key) if creation is not None and group.key is not None else None
        added = sum(1 for _ in kept.configs()) if isinstance(kept, Config) and group.grows else 0
        counts.append(group.least + added)
    return counts


def creation_config(groups: Iterable[tuple[PortGroup, int]]) -> Config:
    """What a node's settings keep about groups of ports.

    Args:
        groups: All groups of the node with the number of their ports.
    """
    config = Config()
    for group, count in groups:
        if group.key is None:
            continue
        kept = config[group.key] = Config()
        if group.exchangeable:
            kept["object_class"] = text(group.object_class)
        for number in range(count - group.least):
            kept[f"port_{number}"] = Config(object_class=text(group.object_class))
    return config


def _numbered(groups: Sequence[PortGroup], counts: Sequence[int]) -> Iterator[tuple[int, OurPort, int]]:
    """KNIME's number, our port and the slot of every port but that of flow variables."""
    number = 1
    for group, count in zip(groups, counts, strict=True):
        for slot in range(count):
            yield number, group.ours, slot
            number += 1


def port_number(groups: Sequence[PortGroup], counts: Sequence[int], ours: OurPort, slot: int) -> int:
    """KNIME's number of a port of ours.

    Raises:
        KeyError: The node has no such port.
    """
    for number, port, at in _numbered(groups, counts):
        if (port, at) == (ours, slot):
            return number
    if ours == VARIABLES:
        return 0
    raise KeyError(ours)


def port_of(groups: Sequence[PortGroup], counts: Sequence[int], number: int) -> tuple[OurPort, int]:
    """Our port and slot of KNIME's port.

    Raises:
        KeyError: The node has no such port.
    """
    if number == 0:
        return VARIABLES, 0
    for each, port, slot in _numbered(groups, counts):
        if each == number:
            return port, slot
    raise KeyError(number)
