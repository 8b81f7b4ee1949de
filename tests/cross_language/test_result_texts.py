"""A result reads the same whichever language made the call; the Java tests read the same golden file."""

import json
from pathlib import Path
from typing import Any

import pytest

from knime_ext.tools import ToolResult

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent.parent / "golden" / "tool_result_texts.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_text_of_a_result_is_the_golden_one(case: dict[str, Any]) -> None:
    result = case["result"]
    made = ToolResult(
        content=result["content"],
        structured=result.get("structuredContent"),
        is_error=result.get("isError", False),
    )
    assert made.text == case["text"]
