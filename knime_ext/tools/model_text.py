r"""Text on its way to a chat model: what a person would not see is taken out. No I/O.

Names, descriptions and results come from servers that nobody vouches for. Characters that show nothing can carry
instructions that no reviewer notices, and those that turn the direction of writing make a reviewer read something
else than the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from knime_ext.tools.definition import ToolDefinition

__all__ = ["definition_for_model", "schema_for_model", "text_for_model"]

_TERMINAL_CODE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)")
_NEW_LINE = re.compile("\r\n?|[\v\f\x85\u2028\u2029]")
_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0e-\x1f\x7f-\x9f"  # control characters but tab and new line
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers, marks of direction
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # zero width, embeddings, overrides, isolates, byte order mark
    "\u3164\uffa0\ufff0-\ufffb"  # fillers, interlinear annotation
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # formats of shorthand and music
    "\U000e0000-\U000e0fff"  # tags and the supplement of variation selectors
    "]+"
)
_VARIATIONS = re.compile("([\ufe00-\ufe0f])[\ufe00-\ufe0f]+")
_SURROGATE = re.compile("[\ud800-\udfff]")

_PROSE = frozenset({"title", "description", "$comment"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LITERAL = frozenset({"const", "enum", "default", "examples", "required", "dependentRequired"})


def text_for_model(text: str) -> str:
    r"""The text without control characters, zero-width characters and marks that reorder text.

    Tabs stay, every kind of line end becomes `\n`, lone surrogates, which nothing can encode, become U+FFFD.

    Args:
        text: Any text.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _INVISIBLE.sub("", _NEW_LINE.sub("\n", _TERMINAL_CODE.sub("", text)))
    return _SURROGATE.sub("\ufffd", _VARIATIONS.sub(r"\1", text))


def schema_for_model(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with its titles, descriptions and comments cleaned; what calls depend on stays as it is.

    Args:
        schema: JSON Schema of a tool's arguments.
    """
    return {keyword: _cleaned(keyword, value) for keyword, value in schema.items()}


def _cleaned(keyword: str, value: Any) -> Any:
    if keyword in _PROSE:
        return text_for_model(value) if isinstance(value, str) else value
    if keyword in _LITERAL:
        return value
    if isinstance(value, Mapping):
        parts = cast("Mapping[str, Any]", value)
        if keyword in _NAMED:
            # Below stand names of arguments, which may well be "title" or "default".
            return {name: _cleaned("", part) for name, part in parts.items()}
        return schema_for_model(parts)
    if isinstance(value, list):
        return [_cleaned("", part) for part in cast("list[Any]", value)]
    return value


def definition_for_model(definition: ToolDefinition) -> ToolDefinition:
    """The definition with its prose cleaned: description and what the schema explains."""
    return replace(
        definition,
        description=text_for_model(definition.description),
        parameters=schema_for_model(definition.parameters),
    )
