"""What stands before each call of a tool row: the decision of an approval policy, and a person's word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from knime_ext.agent.dispatch import Dispatch, Reply
from knime_ext.bridge import shared_bridge
from knime_ext.tools import Decision, ToolDefinition
from knime_ext.tools.approval import Approve
from knime_ext.tools.approval_policy import Verdict, permit

__all__ = ["GatedDispatch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedDispatch:
    """Lets calls of a tool go out as a verdict says.

    Attributes:
        wrapped: Where calls go.
        tool: What the person who is asked gets to see.
        verdict: The policy's decision.
        approve: Asks a person; None if nobody can be asked.
    """

    wrapped: Dispatch
    tool: ToolDefinition
    verdict: Verdict
    approve: Approve | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, as the model gets it."""
        return self.wrapped.schema

    @property
    def description(self) -> str:
        """Description, as the model gets it."""
        return self.wrapped.description

    def call(self, arguments: Mapping[str, Any]) -> Reply:
        """Asks if it must, then calls the tool, blocking.

        Raises:
            ApprovalRequired: The call must not go out.
        """
        if self.verdict.decision is not Decision.ALLOW:
            with shared_bridge() as bridge:
                bridge.run(permit(self.verdict, self.tool, arguments, self.approve))
        return self.wrapped.call(arguments)

    async def acall(self, arguments: Mapping[str, Any]) -> Reply:
        """Asks if it must, then calls the tool.

        Raises:
            ApprovalRequired: The call must not go out.
        """
        await permit(self.verdict, self.tool, arguments, self.approve)
        return await self.wrapped.acall(arguments)
