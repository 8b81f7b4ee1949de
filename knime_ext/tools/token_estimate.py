"""How much of a model's context the definition of a tool takes, near enough to decide by. No I/O.

Every vendor counts tokens in another way, and most only on their side. What all of them see is the JSON of name,
description and argument schema, and for that text four ASCII characters are about one token.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, cast

from knime_ext.tools.definition import ToolDefinition

__all__ = ["estimated_tokens", "tokens_in"]

_ASCII_CHARS_PER_TOKEN = 4
_OTHER_BYTES_PER_TOKEN = 3
"""Beyond ASCII the bytes count: a Chinese character has three and is about one token, a Cyrillic letter has two."""

_FRAME_TOKENS = 8
"""What a vendor writes around each definition."""

_SCHEMAS = ("parameters", "inputSchema", "input_schema", "parameter_schema")


def estimated_tokens(definition: ToolDefinition | Mapping[str, Any]) -> int:
    """About how many tokens a tool's definition takes in a request to a chat model.

    Args:
        definition: A definition; or a mapping with `name`, `description` and the argument schema under
            `parameters`, `inputSchema`, `input_schema` or `parameter_schema`, also inside the `function` of the
            OpenAI form.

    Returns:
        The tokens, at least 1; the same for equal definitions on every machine.
    """
    return tokens_in(json.dumps(_seen_by_model(definition), ensure_ascii=False, separators=(",", ":"), default=str))


def tokens_in(text: str) -> int:
    """The same for the JSON text of a definition, written without spaces: name, description, parameters."""
    total = len(text.encode(errors="replace"))
    ascii_chars = sum(map(str.isascii, text)) if not text.isascii() else total
    return _FRAME_TOKENS + math.ceil(
        ascii_chars / _ASCII_CHARS_PER_TOKEN + (total - ascii_chars) / _OTHER_BYTES_PER_TOKEN
    )


def _seen_by_model(definition: ToolDefinition | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(definition, ToolDefinition):
        parts: Mapping[str, Any] = {
            "name": definition.name,
            "description": definition.description,
            "parameters": definition.parameters,
        }
    else:
        inner = definition.get("function")
        parts = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else definition
    schema: Any = next((parts[key] for key in _SCHEMAS if parts.get(key) is not None), None)
    return {"name": parts.get("name", ""), "description": parts.get("description") or "", "parameters": schema or {}}
