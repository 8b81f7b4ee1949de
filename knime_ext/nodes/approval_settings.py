"""The choice of which tool calls of an agent go out, for every node with an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import knime.extension as knext

from knime_ext.nodes.tool_selection import patterns_in

if TYPE_CHECKING:
    from knime_ext.tools import ApprovalPolicy

__all__ = ["Approval", "ApprovalSettings", "OtherTools"]


class Approval(knext.EnumParameterOptions):
    """Which calls go out."""

    ALL = ("All tools", "Every call goes out.")
    READ_ONLY = (
        "Tools that only read",
        "Only tools that their server marks as read-only are offered to the model. Workflows, which say nothing about "
        "that, are not.",
    )
    RULES = ("By rules", "Names and patterns say what is allowed, asked about and denied.")


class OtherTools(knext.EnumParameterOptions):
    """What happens to calls of tools that no rule names."""

    ALLOW = ("Allow", "The calls go out.")
    ASK_UNLESS_READ_ONLY = (
        "Ask, unless they only read",
        "Calls of tools that their server marks as read-only go out; about others a person is asked.",
    )
    ASK = ("Ask", "A person is asked.")
    DENY = ("Deny", "The model is not told of these tools.")


_RULES_ONLY = ["RULES"]


@knext.parameter_group(label="Approval", is_advanced=True)
class ApprovalSettings:
    """Which tool calls go out, which need a person's word and which never do."""

    mode = knext.EnumParameter(
        "Which calls go out",
        "What the model may do without asking anybody. What a server says about its own tools can make a decision "
        "stricter, never laxer.",
        Approval.ALL.name,
        Approval,
        style=knext.EnumParameter.Style.DROPDOWN,
    )
    allow = knext.StringParameter(
        "Allow",
        "Names of tools, separated by commas; `*` and `?` stand for any text and any character, such as "
        "`search_*, read_file`. A tool that its server marks as destructive is only allowed by its exact name. Of "
        "several rules that fit, the strictest decides.",
        "",
    ).rule(knext.OneOf(mode, _RULES_ONLY), knext.Effect.SHOW)
    ask = knext.StringParameter(
        "Ask",
        "Names in the same form; a person is asked before each call. Nobody sits in front of a node in KNIME: there, "
        "and wherever else nobody can be asked, the call is refused and the model is told why. `knime-mcp run` asks at "
        "the terminal.",
        "",
    ).rule(knext.OneOf(mode, _RULES_ONLY), knext.Effect.SHOW)
    deny = knext.StringParameter(
        "Deny", "Names in the same form; the model is not told of these tools, such as `*_delete`.", ""
    ).rule(knext.OneOf(mode, _RULES_ONLY), knext.Effect.SHOW)
    others = knext.EnumParameter(
        "Other tools",
        "What happens to calls of tools that no rule names.",
        OtherTools.ASK_UNLESS_READ_ONLY.name,
        OtherTools,
        style=knext.EnumParameter.Style.DROPDOWN,
    ).rule(knext.OneOf(mode, _RULES_ONLY), knext.Effect.SHOW)

    def policy(self) -> ApprovalPolicy | None:
        """The policy that these settings mean; None if every call goes out."""
        from knime_ext.tools import ApprovalPolicy

        if self.mode == Approval.ALL.name:
            return None
        if self.mode == Approval.READ_ONLY.name:
            return ApprovalPolicy(otherwise="deny")
        lists = {"allow": self.allow, "ask": self.ask, "deny": self.deny}  # the same pattern twice: the strictest
        rules = {pattern: decision for decision, text in lists.items() for pattern in patterns_in(text)}
        if self.others == OtherTools.ASK_UNLESS_READ_ONLY.name:
            return ApprovalPolicy(rules=rules)
        return ApprovalPolicy(rules=rules, read_only=self.others.lower(), otherwise=self.others.lower())
