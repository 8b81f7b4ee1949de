"""Columns of tools in KNIME's own Python code: the byte in their struct, both kinds in one column, the older type."""

import json
from pathlib import Path
from typing import Any

import pytest

from knime_ext import extension
from tests.knime_parity.conftest import Program

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.xdist_group("knime parity")  # what the programs found is used by all


@pytest.fixture(scope="module", params=["knime-first", "ours-first"])
def answers(in_knime: Program, request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the program found, with either `knime.types.tool` first on the path."""
    return in_knime("examine_types.py", request.param)


def test_the_golden_description_of_the_api_is_the_one_of_this_checkout(in_knime: Program) -> None:
    golden = json.loads((ROOT / "tests" / "golden" / "knime_api.json").read_text(encoding="utf-8"))
    assert in_knime("api_description.py") == golden


def test_knime_cannot_read_a_byte_in_a_struct_until_it_is_taught(answers: dict[str, Any]) -> None:
    assert answers["byte before"].startswith("TypeError")
    assert answers["byte after"] == "struct<Number (Byte), String>"


def test_what_knime_knows_is_not_taught_again(answers: dict[str, Any]) -> None:
    assert answers["taught again"] is False


def test_the_extension_loads_and_knime_has_nothing_to_complain_about(answers: dict[str, Any]) -> None:
    assert answers["nodes"] == sorted(extension.__all__)
    assert answers["problems"] == []
    assert answers["storage problems"] == []
    assert answers["unknown"] == []


def test_loading_the_extension_in_knime_loads_nothing_heavy(answers: dict[str, Any]) -> None:
    assert answers["heavy"] == []


def test_the_nodes_use_our_value_types(answers: dict[str, Any]) -> None:
    assert Path(answers["file"]) == ROOT / "types" / "knime" / "types" / "tool.py"


@pytest.mark.parametrize("column", ["mixed", "missing first", "older"])
def test_tools_pass_every_stage_of_a_column(answers: dict[str, Any], column: str) -> None:
    assert len(answers[column]) == 12
    assert {stage: detail for stage, detail in answers[column].items() if detail} == {}


@pytest.mark.parametrize("column", ["typed", "only missing"])
def test_a_typed_column_takes_tools_in_any_order(answers: dict[str, Any], column: str) -> None:
    assert all(answers[column])


def test_knimes_own_nodes_find_their_older_columns(answers: dict[str, Any]) -> None:
    assert answers["older columns"]["type"] == answers["older columns"]["expected"]
    assert answers["older columns"]["found"]


def test_a_process_without_the_extension_reads_tools_too(in_knime: Program) -> None:
    answers = in_knime("examine_script.py")
    assert answers == {"knime's first": True, "type": "Tool", "cells": ["MCPTool", "NoneType"], "is ours": True}


def test_without_the_java_side_the_nodes_say_what_to_install(in_knime: Program) -> None:
    tools = "KNIME has no column type for tools here; install the Java part of this extension, which brings it along."
    messages = "KNIME has no column type for messages here; install KNIME's AI extension, which brings it along."
    assert in_knime("examine_bare.py") == {"MCPToolProvider": tools, "ConvertTools": tools, "AgentPrompter": messages}
