"""Which calls go out, which need a person's word and which never do: rules by pattern. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from knime_ext.errors import ApprovalRequired, ConfigurationError
from knime_ext.tools.approval import Approve
from knime_ext.tools.definition import ToolDefinition
from knime_ext.tools.result import ToolResult
from knime_ext.tools.selection import matches_any
from knime_ext.tools.toolset import Toolset
from knime_ext.tools.wrapper import WrapperToolset

__all__ = ["ApprovalPolicy", "Decision", "GovernedToolset", "Verdict", "permit"]


class Decision(StrEnum):
    """What happens to a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


_STRICTNESS = {Decision.ALLOW: 0, Decision.ASK: 1, Decision.DENY: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A decision and why.

    Attributes:
        decision: What happens to the call.
        reason: The rule or the hint that decided, for people and for the model.
    """

    decision: Decision
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalPolicy:
    """Rules by pattern; of several that fit, the strictest decides.

    What a server says about its own tools can make the decision stricter, never laxer: `allow` by a glob becomes `ask`
    for a tool that the server marks as destructive. Only `allow` for the exact name is left as it is. A tool without
    hints counts as destructive.

    Attributes:
        rules: Name or glob to `"allow"`, `"ask"` or `"deny"`.
        read_only: For tools that no rule fits and that the server marks as read-only.
        otherwise: For all others that no rule fits; never laxer than `read_only`.

    Raises:
        ConfigurationError: A decision is none of the three.
    """

    rules: Mapping[str, Decision | str] = field(default_factory=dict[str, "Decision | str"])
    read_only: Decision | str = Decision.ALLOW
    otherwise: Decision | str = Decision.ASK

    def __post_init__(self) -> None:
        rules = {pattern: _decision(given, f"rule {pattern!r}") for pattern, given in self.rules.items()}
        read_only = _decision(self.read_only, "'read_only'")
        object.__setattr__(self, "rules", rules)
        object.__setattr__(self, "read_only", read_only)
        object.__setattr__(self, "otherwise", max(read_only, _decision(self.otherwise, "'otherwise'"), key=_strictness))

    def judge(self, tool: ToolDefinition) -> Verdict:
        """The decision on calls of a tool."""
        names = {tool.name, tool.wire_name or tool.name}
        fitting = [pattern for pattern in self.rules if any(matches_any(name, [pattern]) for name in names)]
        if not fitting:
            return self._unruled(tool)
        strictest = max(fitting, key=lambda pattern: _strictness(self.rules[pattern]))
        decision = Decision(self.rules[strictest])
        if decision is Decision.ALLOW and _is_marked_destructive(tool) and not names & set(fitting):
            return Verdict(
                decision=Decision.ASK, reason=f"rule {strictest!r} allows it, but its server calls it destructive"
            )
        return Verdict(decision=decision, reason=f"rule {strictest!r}")

    def _unruled(self, tool: ToolDefinition) -> Verdict:
        if _is_marked_read_only(tool):
            return Verdict(decision=Decision(self.read_only), reason="no rule fits; its server calls it read-only")
        return Verdict(decision=Decision(self.otherwise), reason="no rule fits; it may change something")


def _decision(given: Decision | str, where: str) -> Decision:
    try:
        return Decision(given)
    except ValueError:
        raise ConfigurationError(
            f"{where} of the approval policy is {given!r}; write 'allow', 'ask' or 'deny'"
        ) from None


def _strictness(decision: Decision | str) -> int:
    return _STRICTNESS[Decision(decision)]


def _is_marked_destructive(tool: ToolDefinition) -> bool:
    return tool.annotations.get("destructiveHint") is True and not _is_marked_read_only(tool)


def _is_marked_read_only(tool: ToolDefinition) -> bool:
    hints = tool.annotations
    return hints.get("readOnlyHint") is True and hints.get("destructiveHint") is not True


async def permit(
    verdict: Verdict, tool: ToolDefinition, arguments: Mapping[str, Any], ask: Approve | None = None
) -> None:
    """Lets one call go out, or raises; a person is asked if the verdict says so.

    Args:
        verdict: The decision on the tool.
        tool: The tool.
        arguments: Those of the call.
        ask: Asks a person; None if nobody can be asked.

    Raises:
        ApprovalRequired: The tool is denied, the person said no, or nobody can be asked.
    """
    if verdict.decision is Decision.ALLOW:
        return
    if verdict.decision is Decision.DENY:
        raise ApprovalRequired(f"calls of {tool.name!r} are not allowed ({verdict.reason}); do without it")
    if ask is None:
        raise ApprovalRequired(
            f"the call of {tool.name!r} needs a person's approval ({verdict.reason}) and nobody can be asked here; "
            "do without it"
        )
    if not await ask(tool, arguments):
        raise ApprovalRequired(f"the call of {tool.name!r} was not approved; do without it or ask the user")


class GovernedToolset(WrapperToolset):
    """Offers and calls tools as a policy says.

    Args:
        wrapped: The tools.
        policy: The rules.
        ask: Asks a person about one call; None if nobody can be asked.
    """

    def __init__(self, wrapped: Toolset, policy: ApprovalPolicy, ask: Approve | None = None) -> None:
        super().__init__(wrapped)
        self._policy = policy
        self._ask = ask

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        """The tools that are not denied."""
        definitions = await self.wrapped.list_definitions()
        return [tool for tool in definitions if self._policy.judge(tool).decision is not Decision.DENY]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls the tool if the policy, or the person who is asked, allows it.

        Raises:
            UnknownTool: There is no such tool, or it is denied.
            ApprovalRequired: The person said no, or nobody can be asked.
        """
        definition = await self.definition(name)
        await permit(self._policy.judge(definition), definition, arguments, self._ask)
        return await self.wrapped.call(name, arguments)
