"""About how many tokens a definition takes."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from knime_ext.tools import ToolDefinition
from knime_ext.tools.token_estimate import estimated_tokens

SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "description": "Name of the city."}}}


def test_the_same_tool_counts_the_same_in_every_form() -> None:
    """A definition, an MCP tool's JSON and the OpenAI form describe the same thing."""
    definition = ToolDefinition(name="weather", description="Tells the weather.", parameters=SCHEMA)
    plain = {"name": "weather", "description": "Tells the weather.", "inputSchema": SCHEMA}
    openai = {"type": "function", "function": {**plain, "parameters": SCHEMA}}
    counts = {estimated_tokens(form) for form in (definition, plain, openai)}
    assert len(counts) == 1


def test_an_english_definition_takes_about_a_token_per_four_characters() -> None:
    """The estimate stays near the length of the JSON by four."""
    definition = ToolDefinition(name="weather", description="Tells the weather. " * 50, parameters=SCHEMA)
    shown = json.dumps({"name": "weather", "description": definition.description, "parameters": SCHEMA})
    assert abs(estimated_tokens(definition) - len(shown) / 4) < 20


def test_a_chinese_character_takes_about_one_token() -> None:
    """Scripts beyond ASCII are not underestimated."""
    short, long = (ToolDefinition(name="t", description="天" * count) for count in (10, 310))
    assert estimated_tokens(long) - estimated_tokens(short) == 300


@given(st.text(), st.text())
def test_more_text_never_counts_less(text: str, more: str) -> None:
    """Any text is counted, lone surrogates included."""
    before = estimated_tokens(ToolDefinition(name="t", description=text))
    assert 1 <= before <= estimated_tokens(ToolDefinition(name="t", description=text + more))
