"""Asks before a call goes out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from knime_ext.errors import ApprovalRequired
from knime_ext.tools.definition import ToolDefinition
from knime_ext.tools.result import ToolResult
from knime_ext.tools.toolset import Toolset
from knime_ext.tools.wrapper import WrapperToolset

__all__ = ["ApprovalToolset", "Approve"]

Approve = Callable[[ToolDefinition, Mapping[str, Any]], Awaitable[bool]]
"""Decides on one call: the tool's definition and the arguments in, True to let it go out."""


class ApprovalToolset(WrapperToolset):
    """Lets a call go out only if it is approved."""

    def __init__(self, wrapped: Toolset, approve: Approve) -> None:
        super().__init__(wrapped)
        self._approve = approve

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls the tool if the call is approved.

        Raises:
            ApprovalRequired: It is not.
        """
        if not await self._approve(await self.definition(name), arguments):
            raise ApprovalRequired(f"the call of {name!r} was not approved; do without it or ask the user")
        return await self.wrapped.call(name, arguments)
