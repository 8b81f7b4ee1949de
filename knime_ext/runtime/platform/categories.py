"""Where the platform's nodes stand in the node repository: the categories of KNIME itself."""

from __future__ import annotations

__all__ = ["AGENTS", "COLUMN", "CONFIGURATION", "IO_OTHER", "IO_READ", "IO_WRITE", "ROW", "TABLE", "WORKFLOW_IO"]

IO_READ = "/io/read"
IO_WRITE = "/io/write"
IO_OTHER = "/io/other"
ROW = "/manipulator/row"
COLUMN = "/manipulator/column"
TABLE = "/manipulator/table"
CONFIGURATION = "/flowabstraction/configuration"
WORKFLOW_IO = "/flowabstraction/workflow"
AGENTS = "/labs/kai/agents"
