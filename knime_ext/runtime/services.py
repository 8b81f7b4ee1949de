"""What a run offers to all of its nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knime_ext.runtime.filestore import FileStore
from knime_ext.runtime.knext.contexts import Credential
from knime_ext.runtime.mcp_calls import MCPCalls
from knime_ext.runtime.registry import NodeRegistry

if TYPE_CHECKING:
    from knime_ext.runtime.knext.table import Table
    from knime_ext.runtime.person import Person

__all__ = ["Services"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that nodes reach through their context; the runs of workflow tools inherit it.

    Attributes:
        registry: The nodes that can be used.
        filestore: Where the content of workflow tools lies.
        base_dir: The workflow's folder; relative paths start there.
        temp_dir: Folder for temporary files of the run.
        mcp: The way to MCP servers.
        is_canceled: Whether the run is to end.
        credentials: Credentials by name.
        inputs: Tables for Workflow Input nodes, by their names.
        parameters: Values for Configuration nodes, by parameter name.
        person: Who is asked during the run; None if nobody sits in front of it.
        kept: Folder for what nodes keep beside their outputs; None for a run that keeps nothing.
        depth: 0 for a run that a person started, 1 for a workflow tool in it, and so on.
    """

    registry: NodeRegistry
    filestore: FileStore
    base_dir: Path
    temp_dir: Path
    mcp: MCPCalls
    is_canceled: Callable[[], bool]
    credentials: Mapping[str, Credential] = field(default_factory=dict[str, Credential], repr=False)
    inputs: Mapping[str, Table] = field(default_factory=dict[str, "Table"])
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    person: Person | None = None
    kept: Path | None = None
    depth: int = 0

    def node_folder(self, node: str) -> Path:
        """Folder for what a node keeps beside its outputs; a temporary one if the run keeps nothing."""
        return (self.kept or self.temp_dir) / "nodes" / node

    def resolve_path(self, text: str) -> Path:
        """A path as the user wrote it, relative to the workflow's folder."""
        return (self.base_dir / Path(text).expanduser()).absolute()
