"""Checks arguments before a call goes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from knime_ext.tools.result import ToolResult
from knime_ext.tools.schemas import check_arguments
from knime_ext.tools.wrapper import WrapperToolset

__all__ = ["ValidatedToolset"]


class ValidatedToolset(WrapperToolset):
    """Calls a tool only with arguments that fit its schema."""

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls the tool if the arguments fit.

        Raises:
            InvalidArguments: They do not; the message says what to change.
        """
        definition = await self.definition(name)
        check_arguments(definition.parameters, arguments, name)
        return await self.wrapped.call(name, arguments)
