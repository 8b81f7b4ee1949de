"""Every error of this project, split by who has to act.

    KnimeExtError
      ConfigurationError            the person who set it up
        DamagedCell                   a table cell that is no tool value
        JournalInUse                  another run writes the same journal
        OtherRun                      a journal of other inputs or settings
      ToolError                     the chat model, which may try again
        UnknownTool
        InvalidArguments
        ToolFailed
        ApprovalRequired              a person, who may allow the call
      MCPError                      the operator of the server or of the network
        MCPConnectionError
        MCPSessionLost
        MCPTimeout
        MCPAuthError
        EgressDenied
        MCPToolChanged                the person, who may still trust it
        MCPToolNotFoundError
        MCPToolExecutionError
      AgentError                    the person who set up the agent
        LimitReached
        RowFailed
        RowsCancelled
      WorkflowError                 the person who drew the workflow
        Cycle
        PortMismatch
        NodeFailed

Messages quote names with `!r`, end with the repair and never hold a secret. Foreign errors are translated
at the border of a room, in one context manager of that room.
"""

from __future__ import annotations

__all__ = [
    "AgentError",
    "ApprovalRequired",
    "ConfigurationError",
    "Cycle",
    "DamagedCell",
    "EgressDenied",
    "InvalidArguments",
    "JournalInUse",
    "KnimeExtError",
    "LimitReached",
    "MCPAuthError",
    "MCPConnectionError",
    "MCPError",
    "MCPSessionLost",
    "MCPTimeout",
    "MCPToolChanged",
    "MCPToolExecutionError",
    "MCPToolNotFoundError",
    "NodeFailed",
    "OtherRun",
    "PortMismatch",
    "RowFailed",
    "RowsCancelled",
    "ToolError",
    "ToolFailed",
    "UnknownTool",
    "WorkflowError",
]


class KnimeExtError(Exception):
    """Any failure that this project explains in one sentence."""


class ConfigurationError(KnimeExtError):
    """Something was set up in a way that cannot work; the message says where and how to repair it."""


class DamagedCell(ConfigurationError):
    """A cell of a tool column cannot be read.

    Attributes:
        row: Zero-based position in the column.
        field: Name of the struct field at fault, such as ``"parameter_schema"``.
        reason: What is wrong with it.
    """

    def __init__(self, row: int, field: str, reason: str) -> None:
        super().__init__(f"row {row}, field {field!r}: {reason}")
        self.row = row
        self.field = field
        self.reason = reason


class JournalInUse(ConfigurationError):
    """Another run writes this journal at the moment."""


class OtherRun(ConfigurationError):
    """The journal belongs to a run with other inputs or settings."""


class ToolError(KnimeExtError):
    """A tool call that did not succeed; the message is written for the model that made it."""


class UnknownTool(ToolError):
    """The model called a tool that it was not offered."""


class InvalidArguments(ToolError):
    """The arguments of a call do not fit the tool's schema; nothing was called."""


class ToolFailed(ToolError):
    """The tool ran and reported a failure of its own."""


class ApprovalRequired(ToolError):
    """The call needs a person's approval and has none; nothing was called."""


class MCPError(KnimeExtError):
    """An MCP server, or the way to it, failed."""


class MCPConnectionError(MCPError):
    """The server cannot be reached or does not speak MCP."""


class MCPSessionLost(MCPError):
    """The session ended and could not be renewed, or it is unknown whether a call took effect."""


class MCPTimeout(MCPError):
    """The server did not answer within the time limit."""


class MCPAuthError(MCPError):
    """The server refused the credentials."""


class EgressDenied(MCPError):
    """The egress policy does not let requests go there."""


class MCPToolChanged(MCPError):
    """The server describes a tool in another way than when it was listed; nothing was called."""


class MCPToolNotFoundError(MCPError):
    """The server has no tool of that name."""


class MCPToolExecutionError(MCPError):
    """A tool of an MCP server failed.

    Attributes:
        tool: Name of the tool.
        message: What the server said.
    """

    def __init__(self, tool: str, message: str) -> None:
        super().__init__(f"tool {tool!r} failed: {message}")
        self.tool = tool
        self.message = message


class AgentError(KnimeExtError):
    """An agent run could not be finished."""


class LimitReached(AgentError):
    """A budget of the run (turns, calls or seconds) is used up."""


class RowFailed(AgentError):
    """A row failed and the run was to stop at the first one that does.

    Attributes:
        number: Position of the row in the input, from 0.
        reason: Why it failed.
    """

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"row {number + 1} failed: {reason}")
        self.number = number
        self.reason = reason


class RowsCancelled(AgentError):
    """A run over many rows was stopped from outside; the rows that were finished are in its journal."""


class WorkflowError(KnimeExtError):
    """A workflow document cannot be run as it is."""


class Cycle(WorkflowError):
    """The connections of a workflow form a circle."""


class PortMismatch(WorkflowError):
    """A connection joins two ports that do not fit."""


class NodeFailed(WorkflowError):
    """A node of a workflow failed.

    Attributes:
        node: Identifier of the node in its workflow.
        reason: The node's own message.
    """

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(f"node {node!r} failed: {reason}")
        self.node = node
        self.reason = reason
