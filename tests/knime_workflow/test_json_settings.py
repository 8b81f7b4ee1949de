"""Settings of Python nodes as KNIME stores them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from knime_ext.runtime.knime_workflow.config import Config, Entry, integer, text
from knime_ext.runtime.knime_workflow.json_settings import from_config, to_config

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "choice": {"oneOf": [{"const": "A"}, {"const": "B"}]},
        "count": {"type": "integer", "format": "int32"},
        "share": {"type": "number", "format": "double"},
        "on": {"type": "boolean"},
        "names": {"type": "array", "items": {"type": "string"}},
        "numbers": {"type": "array", "items": {"type": "integer", "format": "int32"}},
        "group": {"type": "object", "properties": {"inner": {"type": "string"}}},
        "pairs": {
            "type": "array",
            "items": {"type": "object", "properties": {"left": {"type": "string"}, "n": {"type": "integer"}}},
        },
    },
}
INTS = st.integers(-(2**31), 2**31 - 1)
TREES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "text": st.none() | st.text(),
        "choice": st.sampled_from(["A", "B"]),
        "count": INTS,
        "share": st.floats(allow_nan=False),
        "on": st.booleans(),
        "names": st.none() | st.lists(st.text(), max_size=3),
        "numbers": st.lists(INTS, max_size=3),
        "group": st.fixed_dictionaries({"inner": st.text()}),
        "pairs": st.none() | st.lists(st.fixed_dictionaries({"left": st.text(), "n": INTS}), max_size=3),
    }
)


@given(TREES)
def test_settings_of_every_kind_come_back(tree: dict[str, Any]) -> None:
    assert from_config(to_config(tree, SCHEMA)) == tree


def test_objects_and_empty_arrays_are_marked_as_knime_marks_them() -> None:
    config = to_config({"names": [], "pairs": [{"left": "a", "n": 1}], "numbers": [7]}, SCHEMA)

    assert config["json-type_Internals"] == text("OBJECT")
    assert config["names"] == Config(
        {
            "json-type_Internals": text("STRING_ARRAY"),
            "array-size": integer(0),
            "null_Internals": Entry("xboolean", "false"),
        }
    )
    assert config["numbers"] == Config({"array-size": integer(1), "0": integer(7)})
    assert config["pairs"] == Config(
        {"0": Config({"left": text("a"), "n": integer(1), "json-type_Internals": text("OBJECT")})}
    )
    assert config.below("group") == Config({"inner": text(None), "json-type_Internals": text("OBJECT")})


def test_what_knime_adds_for_itself_is_no_setting() -> None:
    config = to_config({"text": "a"}, SCHEMA)
    config["extension_version_Internals"] = text("0.1.0")

    assert "extension_version_Internals" not in from_config(config)
