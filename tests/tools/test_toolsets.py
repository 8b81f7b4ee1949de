import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from knime_ext.errors import ApprovalRequired, ConfigurationError, InvalidArguments, ToolFailed, UnknownTool
from knime_ext.tools import CombinedToolset, ToolDefinition, ToolResult, Toolset

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


class Echo(Toolset):
    """Answers with its own label, the name and the arguments; keeps the calls."""

    def __init__(self, label: str, *names: str) -> None:
        self.label = label
        self.names = names
        self.calls: list[tuple[str, Mapping[str, Any]]] = []

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        return [ToolDefinition(name=name, parameters=SCHEMA, origin=self.label) for name in self.names]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        self.calls.append((name, arguments))
        return ToolResult.of_text(f"{self.label}:{name}")


def _names(toolset: Toolset) -> list[str]:
    return [tool.name for tool in asyncio.run(_list(toolset))]


async def _list(toolset: Toolset) -> Sequence[ToolDefinition]:
    return await toolset.list_definitions()


def _call(toolset: Toolset, name: str, **arguments: Any) -> str:
    async def call() -> str:
        return (await toolset.call(name, arguments)).text

    return asyncio.run(call())


def test_a_filtered_tool_can_neither_be_seen_nor_called() -> None:
    echo = Echo("a", "keep", "drop")
    toolset = echo.filtered(lambda tool: tool.name == "keep")
    assert _names(toolset) == ["keep"]
    assert _call(toolset, "keep") == "a:keep"
    with pytest.raises(UnknownTool, match="The tools are: keep"):
        _call(toolset, "drop")
    assert echo.calls == [("keep", {})]


def test_a_prefix_is_added_and_taken_off_again() -> None:
    toolset = Echo("a", "x").prefixed("left")
    assert _names(toolset) == ["left_x"]
    assert _call(toolset, "left_x") == "a:x"
    with pytest.raises(UnknownTool, match="Did you mean 'left_x'"):
        _call(toolset, "leftx")


def test_a_renamed_tool_answers_to_its_new_name_only() -> None:
    toolset = Echo("a", "x", "y").renamed({"z": "x"})
    assert _names(toolset) == ["z", "y"]
    assert _call(toolset, "z") == "a:x"
    with pytest.raises(UnknownTool):
        _call(toolset, "x")


def test_two_names_can_be_swapped() -> None:
    toolset = Echo("a", "x", "y").renamed({"x": "y", "y": "x"})
    assert (_call(toolset, "x"), _call(toolset, "y")) == ("a:y", "a:x")


def test_a_new_name_must_be_free_and_stand_for_one_tool() -> None:
    with pytest.raises(ConfigurationError, match="'y' is another tool's name"):
        _names(Echo("a", "x", "y").renamed({"y": "x"}))
    with pytest.raises(ConfigurationError, match="two new names"):
        Echo("a", "x").renamed({"y": "x", "z": "x"})


def test_arguments_that_do_not_fit_never_reach_the_tool() -> None:
    echo = Echo("a", "x")
    with pytest.raises(InvalidArguments, match="must have 'n'"):
        _call(echo.validated(), "x")
    assert echo.calls == []
    assert _call(echo.validated(), "x", n=1) == "a:x"


def test_a_call_goes_out_only_if_it_is_approved() -> None:
    async def approve(tool: ToolDefinition, arguments: Mapping[str, Any]) -> bool:
        return arguments["n"] < 10

    echo = Echo("a", "x")
    toolset = echo.approved_by(approve)
    assert _call(toolset, "x", n=1) == "a:x"
    with pytest.raises(ApprovalRequired, match="'x' was not approved"):
        _call(toolset, "x", n=10)
    assert len(echo.calls) == 1


def test_parallel_calls_cannot_overdraw_the_budget() -> None:
    toolset = Echo("a", "x").budgeted(2)

    async def three() -> list[ToolResult | BaseException]:
        return await asyncio.gather(*(toolset.call("x", {}) for _ in range(3)), return_exceptions=True)

    results = asyncio.run(three())
    assert [isinstance(result, ToolFailed) for result in results] == [False, False, True]
    assert toolset.calls == 2


def test_equal_names_of_several_toolsets_stay_distinct_and_reach_the_right_one() -> None:
    toolset = CombinedToolset([Echo("a", "x", "x.y"), Echo("b", "x"), Echo("c", "x_2")])
    assert _names(toolset) == ["x", "x_y", "x_3", "x_2"]
    assert [_call(toolset, name) for name in _names(toolset)] == ["a:x", "a:x.y", "b:x", "c:x_2"]
    with pytest.raises(UnknownTool):
        _call(toolset, "y")


def test_a_combined_toolset_routes_calls_before_anybody_listed_it() -> None:
    assert _call(CombinedToolset([Echo("a", "x")]), "x") == "a:x"


def test_policies_compose() -> None:
    toolset = CombinedToolset([Echo("a", "x").prefixed("one").validated(), Echo("b", "y").budgeted(1)])
    assert _call(toolset, "one_x", n=1) == "a:x"
    assert _call(toolset, "y") == "b:y"
