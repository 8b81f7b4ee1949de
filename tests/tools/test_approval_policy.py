"""Rules say which calls go out, which need a person's word and which never do."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from knime_ext.errors import ApprovalRequired, ConfigurationError, UnknownTool
from knime_ext.testing import RecordingToolset
from knime_ext.tools import ApprovalPolicy, Decision, ToolDefinition

READ_ONLY = {"readOnlyHint": True}
HARMLESS = {"destructiveHint": False}
DESTRUCTIVE = {"destructiveHint": True}
RULES = {"get_*": "allow", "delete_*": "deny", "*_all": "ask", "exact": "allow"}


@pytest.mark.parametrize(
    ("name", "hints", "decision"),
    [
        ("get_user", {}, "allow"),
        ("delete_user", READ_ONLY, "deny"),
        ("get_all", READ_ONLY, "ask"),
        ("delete_all", {}, "deny"),
        ("get_user", DESTRUCTIVE, "ask"),
        ("exact", DESTRUCTIVE, "allow"),
        ("list_users", READ_ONLY, "allow"),
        ("list_users", {}, "ask"),
        ("list_users", HARMLESS, "ask"),
        ("list_users", {"readOnlyHint": True, "destructiveHint": True}, "ask"),
        ("list_users", {"readOnlyHint": "true"}, "ask"),
    ],
)
def test_the_strictest_rule_decides_and_hints_only_tighten(name: str, hints: dict[str, Any], decision: str):
    policy = ApprovalPolicy(rules=RULES)
    assert policy.judge(ToolDefinition(name=name, annotations=hints)).decision == decision


@pytest.mark.parametrize("hints", [{}, READ_ONLY, HARMLESS, DESTRUCTIVE])
@pytest.mark.parametrize("rule", list(Decision))
def test_no_hint_makes_a_rule_laxer(rule: Decision, hints: dict[str, Any]):
    strictness = [Decision.ALLOW, Decision.ASK, Decision.DENY]
    verdict = ApprovalPolicy(rules={"*": rule}).judge(ToolDefinition(name="x", annotations=hints))
    assert strictness.index(verdict.decision) >= strictness.index(rule)


def test_rules_fit_the_servers_own_name_under_any_prefix():
    policy = ApprovalPolicy(rules={"drop": "deny"}, otherwise="allow")
    assert policy.judge(ToolDefinition(name="crm_drop", wire_name="drop")).decision is Decision.DENY


def test_what_is_not_read_only_is_never_treated_laxer_than_what_is():
    policy = ApprovalPolicy(read_only="ask", otherwise="allow")
    assert policy.judge(ToolDefinition(name="x")).decision is Decision.ASK


def test_a_decision_that_is_none_is_refused():
    with pytest.raises(ConfigurationError, match="rule 'x' of the approval policy is 'perhaps'"):
        ApprovalPolicy(rules={"x": "perhaps"})


TOOLS = {name: name for name in ("get_user", "delete_user", "change_user")}


def test_denied_tools_are_neither_offered_nor_called():
    tools = RecordingToolset(TOOLS)
    governed = tools.governed_by(ApprovalPolicy(rules=RULES))
    assert [tool.name for tool in asyncio.run(governed.list_definitions())] == ["get_user", "change_user"]
    with pytest.raises(UnknownTool):
        asyncio.run(governed.call("delete_user", {}))
    assert asyncio.run(governed.call("get_user", {})).text == "get_user"
    assert [name for name, _ in tools.calls] == ["get_user"]


@pytest.mark.parametrize("answer", [True, False, None])
def test_a_person_is_asked_about_the_call_where_the_policy_says_so(answer: bool | None):
    asked: list[tuple[str, Mapping[str, Any]]] = []

    async def ask(tool: ToolDefinition, arguments: Mapping[str, Any]) -> bool:
        asked.append((tool.name, arguments))
        return bool(answer)

    tools = RecordingToolset(TOOLS)
    governed = tools.governed_by(ApprovalPolicy(rules=RULES), None if answer is None else ask)
    if answer:
        assert asyncio.run(governed.call("change_user", {"id": 1})).text == "change_user"
    else:
        with pytest.raises(ApprovalRequired, match="nobody can be asked" if answer is None else "was not approved"):
            asyncio.run(governed.call("change_user", {"id": 1}))
        assert tools.calls == []
    assert asked == ([] if answer is None else [("change_user", {"id": 1})])
