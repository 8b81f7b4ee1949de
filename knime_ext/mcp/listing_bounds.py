"""How much a single tool of a list may take up: one that is too large is left out, the others stay. No I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from knime_ext.mcp.servers import Limits

__all__ = ["excess_of", "size_of"]

_TEXTS = ("name", "title", "description")
_SCHEMAS = ("inputSchema", "outputSchema")


def excess_of(tool: Mapping[str, Any], limits: Limits) -> str | None:
    """Which limit a tool exceeds, None if it keeps to all of them.

    Args:
        tool: The tool as the server lists it.
        limits: The limits.
    """
    if _is_deeper(tool, limits.schema_depth + 1):
        return f"is nested more than {limits.schema_depth} levels deep; raise `schema_depth` in the server's limits"
    for field in _TEXTS:
        text = tool.get(field)
        if isinstance(text, str) and len(text) > limits.description_chars:
            return (
                f"its {field!r} has {len(text)} characters, and {limits.description_chars} are allowed; raise "
                "`description_chars` in the server's limits"
            )
    for field in _SCHEMAS:
        size = size_of(tool.get(field))
        if size > limits.schema_bytes:
            return (
                f"its {field!r} takes {size} bytes, and {limits.schema_bytes} are allowed; raise `schema_bytes` in "
                "the server's limits"
            )
    return None


def size_of(value: Any) -> int:
    """Bytes of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass"))


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether JSON is nested deeper; without recursion, which hostile values would exhaust."""
    layer = [value]
    for _ in range(levels):
        layer = [part for one in layer for part in _parts(one)]
        if not layer:
            return False
    return True


def _parts(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        parts = [*cast("Mapping[str, Any]", value).values()]
    else:
        parts = cast("list[Any]", value) if isinstance(value, list) else []
    return [part for part in parts if isinstance(part, Mapping | list)]
