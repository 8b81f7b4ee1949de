"""The live thing behind tool rows: lists definitions and calls them."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from knime_ext.errors import UnknownTool
from knime_ext.tools.definition import ToolDefinition
from knime_ext.tools.result import ToolResult

if TYPE_CHECKING:
    from knime_ext.tools.approval import ApprovalToolset, Approve
    from knime_ext.tools.approval_policy import ApprovalPolicy, GovernedToolset
    from knime_ext.tools.budget import BudgetToolset
    from knime_ext.tools.filtered import FilteredToolset
    from knime_ext.tools.long_results import ResultShelf, ShelvedToolset
    from knime_ext.tools.prefixed import PrefixedToolset
    from knime_ext.tools.renamed import RenamedToolset
    from knime_ext.tools.searched import SearchedToolset
    from knime_ext.tools.validated import ValidatedToolset

__all__ = ["Toolset", "find_definition", "unknown_tool"]

_MAX_NAMES = 20


class Toolset(ABC):
    """Two methods make a toolset; policies wrap it (`toolset.filtered(...).prefixed(...)`)."""

    @abstractmethod
    async def list_definitions(self) -> Sequence[ToolDefinition]:
        """The tools that can be called now, names unique."""

    @abstractmethod
    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls one tool.

        Args:
            name: Name of a definition of this toolset.
            arguments: JSON object that fits the definition's schema.

        Returns:
            The result. A failure of the tool itself is a result with `is_error`, not an exception.

        Raises:
            UnknownTool: There is no tool of that name.
            MCPError: The server or the way to it failed.
        """

    def filtered(self, keep: Callable[[ToolDefinition], bool]) -> FilteredToolset:
        """Only the tools for which `keep` is true."""
        from knime_ext.tools.filtered import FilteredToolset

        return FilteredToolset(self, keep)

    def prefixed(self, prefix: str) -> PrefixedToolset:
        """Every name behind `prefix` and an underscore."""
        from knime_ext.tools.prefixed import PrefixedToolset

        return PrefixedToolset(self, prefix)

    def renamed(self, names: Mapping[str, str]) -> RenamedToolset:
        """Some tools under other names; `names` maps new name to old name."""
        from knime_ext.tools.renamed import RenamedToolset

        return RenamedToolset(self, names)

    def validated(self) -> ValidatedToolset:
        """Arguments are checked against the schema before the call."""
        from knime_ext.tools.validated import ValidatedToolset

        return ValidatedToolset(self)

    def approved_by(self, approve: Approve) -> ApprovalToolset:
        """Each call goes out only if `approve` allows it."""
        from knime_ext.tools.approval import ApprovalToolset

        return ApprovalToolset(self, approve)

    def governed_by(self, policy: ApprovalPolicy, ask: Approve | None = None) -> GovernedToolset:
        """Calls are allowed, asked about or denied as the policy says; denied tools are not offered."""
        from knime_ext.tools.approval_policy import GovernedToolset

        return GovernedToolset(self, policy, ask)

    def shelved(self, shelf: ResultShelf, limit: int | None = None) -> ShelvedToolset:
        """Long results go to the shelf; the model gets the beginning and the tool `read_more`."""
        from knime_ext.tools.long_results import MAX_RESULT_CHARS, ShelvedToolset

        return ShelvedToolset(self, shelf, MAX_RESULT_CHARS if limit is None else limit)

    def searched(self, above: int) -> SearchedToolset:
        """If the definitions have more than `above` estimated tokens, a search stands in for them."""
        from knime_ext.tools.searched import SearchedToolset

        return SearchedToolset(self, above)

    def budgeted(self, max_calls: int) -> BudgetToolset:
        """At most `max_calls` calls in all."""
        from knime_ext.tools.budget import BudgetToolset

        return BudgetToolset(self, max_calls)


def find_definition(definitions: Sequence[ToolDefinition], name: str) -> ToolDefinition:
    """The definition of that name.

    Raises:
        UnknownTool: There is none; the message names the nearest and those that there are.
    """
    for definition in definitions:
        if definition.name == name:
            return definition
    raise unknown_tool(name, [definition.name for definition in definitions])


def unknown_tool(name: str, known: Sequence[str]) -> UnknownTool:
    """The error for a call of a tool that is not there, written for the model that made it."""
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    shown = ", ".join(known[:_MAX_NAMES]) + (", …" if len(known) > _MAX_NAMES else "")
    return UnknownTool(f"there is no tool {name!r}.{hint} The tools are: {shown or 'none'}.")
