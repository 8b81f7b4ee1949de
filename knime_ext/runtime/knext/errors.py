"""The two errors that nodes raise on purpose."""

from __future__ import annotations

from knime_ext.errors import ConfigurationError

__all__ = ["InvalidParametersError", "WorkflowExecutionError"]


class InvalidParametersError(ConfigurationError):
    """The node's settings do not fit its inputs or each other; people see the message without a traceback."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class WorkflowExecutionError(RuntimeError):
    """A workflow that the node ran has failed."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
