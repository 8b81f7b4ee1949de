"""Nothing of a result is lost, and there is always a text."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from knime_ext.mcp.results import result_from_wire

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
BLOCKS: list[dict[str, Any]] = [
    {"type": "text", "text": "hello", "annotations": {"audience": ["user"]}},
    {"type": "image", "data": "AAAA", "mimeType": "image/png", "_meta": {"a": 1}},
    {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
    {"type": "resource", "resource": {"uri": "file:///a", "text": "content"}},
    {"type": "resource_link", "uri": "file:///b", "name": "b", "unknown": True},
    {"type": "hologram", "data": 7},
]


def test_every_block_is_kept_as_it_came_and_the_text_mentions_each():
    result = result_from_wire({"content": BLOCKS})
    assert list(result.content) == BLOCKS
    assert result.text.splitlines() == [
        "hello",
        "[image: image/png, 3 bytes]",
        "[audio: audio/wav, 3 bytes]",
        "content",
        "[link to b: file:///b]",
        '[hologram: {"type": "hologram", "data": 7}]',
    ]


def test_a_structured_value_without_blocks_becomes_the_text():
    result = result_from_wire({"structuredContent": {"total": 3}})
    assert (result.text, result.structured) == ('{"total": 3}', {"total": 3})


def test_a_failure_is_marked_and_has_a_text_even_if_the_server_gives_none():
    result = result_from_wire({"content": [], "isError": True})
    assert result.is_error
    assert result.text == "The tool failed and gave no reason."


@given(content=json_values, structured=json_values, is_error=json_values)
def test_no_answer_however_odd_is_refused(content: Any, structured: Any, is_error: Any):
    result = result_from_wire({"content": content, "structuredContent": structured, "isError": is_error})
    assert result.structured == structured
    assert result.text
    if isinstance(content, list):
        assert len(result.content) == len(content)  # pyright: ignore[reportUnknownArgumentType]
