"""What a tool call gave back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from knime_ext.tools.definition import JSON
from knime_ext.tools.model_text import text_for_model

__all__ = ["ToolResult"]


def _resource_line(given: Any) -> str:
    # Servers send what they like: something that is no object has neither text nor address.
    resource: Mapping[str, Any] = cast("Any", given) if isinstance(given, Mapping) else {}
    if isinstance(resource.get("text"), str):
        return resource["text"]
    kind = resource.get("mimeType") or "binary"
    return f"[resource {resource.get('uri', '?')}: {kind}]"


def _block_line(block: Mapping[str, Any]) -> str:
    """One content block as text; what has no text is named, so that the model knows it is there."""
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "image" | "audio" as kind:
            size = len(str(block.get("data", ""))) * 3 // 4
            return f"[{kind}: {block.get('mimeType', 'unknown type')}, {size} bytes]"
        case "resource":
            return _resource_line(block.get("resource"))
        case "resource_link":
            return f"[link to {block.get('name') or 'a resource'}: {block.get('uri', '?')}]"
        case kind:
            return f"[{kind}: {json.dumps(block, ensure_ascii=False)[:500]}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """Result of one call: every content block as it came, the structured value, and always a text.

    Attributes:
        content: Content blocks in MCP's JSON form (`{"type": "text", "text": ...}`, image, audio, resource,
            resource_link or anything newer), in order. Nothing is dropped.
        structured: The structured value, if there is one.
        is_error: True if the tool itself reports a failure.
    """

    content: Sequence[Mapping[str, Any]] = ()
    structured: JSON = None
    is_error: bool = False

    @classmethod
    def of_text(cls, text: str, *, is_error: bool = False) -> ToolResult:
        """A result that is one text."""
        return cls(content=({"type": "text", "text": text},), is_error=is_error)

    @property
    def text(self) -> str:
        """The result for a model: never empty, without invisible characters.

        The blocks' texts joined by newlines, blocks without text named in brackets. A structured value is
        added as JSON if no text block carries it already.
        """
        lines = [line for block in self.content if (line := text_for_model(_block_line(block)))]
        if self.structured is not None and not any(block.get("type") == "text" for block in self.content):
            lines.append(text_for_model(json.dumps(self.structured, ensure_ascii=False)))
        return "\n".join(lines) or ("The tool failed and gave no reason." if self.is_error else "Done; no output.")
