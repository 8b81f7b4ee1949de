from typing import Any

import pytest

from knime_ext.tools import ToolResult


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "text", "text": "hello"}, "hello"),
        ({"type": "image", "mimeType": "image/png", "data": "AAAA"}, "[image: image/png, 3 bytes]"),
        ({"type": "audio", "mimeType": "audio/wav", "data": "AAAAAAAA"}, "[audio: audio/wav, 6 bytes]"),
        ({"type": "resource", "resource": {"uri": "a:b", "text": "inside"}}, "inside"),
        ({"type": "resource", "resource": {"uri": "a:b", "blob": "AA"}}, "[resource a:b: binary]"),
        ({"type": "resource", "resource": "no object"}, "[resource ?: binary]"),
        ({"type": "resource_link", "uri": "a:b", "name": "notes"}, "[link to notes: a:b]"),
        ({"type": "hologram", "data": 1}, '[hologram: {"type": "hologram", "data": 1}]'),
    ],
)
def test_the_model_gets_text_for_every_kind_of_block(block: dict[str, Any], text: str) -> None:
    result = ToolResult(content=[block])
    assert result.text == text
    assert result.content == [block]


def test_a_result_that_is_only_structured_is_given_to_the_model_as_json() -> None:
    assert ToolResult(structured={"temperature": 7}).text == '{"temperature": 7}'


def test_a_structured_value_is_not_repeated_where_a_text_carries_it() -> None:
    assert ToolResult(content=[{"type": "text", "text": "7 degrees"}], structured={"t": 7}).text == "7 degrees"


def test_an_empty_result_still_says_something() -> None:
    assert ToolResult().text == "Done; no output."
    assert ToolResult(is_error=True).text == "The tool failed and gave no reason."
