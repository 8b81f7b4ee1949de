"""What is known about a node that KNIME has itself: factory, plugin, ports and rows of settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from knime_ext.runtime.knime_workflow.config import Config
from knime_ext.runtime.knime_workflow.knime_ports import PortGroup
from knime_ext.runtime.knime_workflow.rows import Row

__all__ = ["Bundle", "PlatformNode"]


@dataclass(frozen=True, slots=True)
class Bundle:
    """The plugin that a node comes from."""

    symbolic_name: str
    name: str
    vendor: str = "KNIME AG, Zurich, Switzerland"
    version: str = "5.5.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformNode:
    """A node that KNIME has itself.

    Attributes:
        factory: Class of its factory.
        name: Its name in KNIME.
        bundle: Where it comes from.
        inputs: Its inputs.
        outputs: Its outputs.
        rows: Its settings.
        layouts: Settings of other versions or nodes: an entry that only they have, and their rows.
        locations: Settings that are paths of files, which KNIME keeps as locations.
        other_factories: Classes of factories whose nodes have the same ports and are read as this node, too.
    """

    factory: str
    name: str
    bundle: Bundle
    inputs: Sequence[PortGroup] = ()
    outputs: Sequence[PortGroup] = ()
    rows: Sequence[Row] = ()
    layouts: Mapping[str, Sequence[Row]] = field(default_factory=dict[str, Sequence[Row]])
    locations: Sequence[str] = ()
    other_factories: Sequence[str] = ()

    def rows_for(self, model: Config) -> Sequence[Row]:
        """The rows that fit stored settings."""
        return next((rows for mark, rows in self.layouts.items() if model.find(mark) is not None), self.rows)
