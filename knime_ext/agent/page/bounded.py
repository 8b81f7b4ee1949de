"""A trace cut to what a page can bear: media and long texts beyond a sum are named, not shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from knime_ext.agent.page.texts import MAX_TEXT, shortened
from knime_ext.agent.trace import Trace, TraceMessage

__all__ = ["Room", "bounded"]

SHORT_TEXT = 1_000
"""Characters of a text when the room for texts is used up."""


@dataclass(slots=True, kw_only=True)
class Room:
    """What is left for a page.

    Attributes:
        item: Characters of base64 of one image or sound.
        media: Characters of base64 of all of them.
        text: Characters of the messages' texts.
    """

    item: int = 4_000_000
    media: int = 24_000_000
    text: int = 6_000_000


def bounded(trace: Trace, room: Room | None = None) -> Trace:
    """The trace with everything that fits.

    Args:
        trace: What happened.
        room: How much there is; what is used is taken off.
    """
    left = room or Room()
    return replace(trace, messages=tuple(_message(message, left) for message in trace.messages))


def _message(message: TraceMessage, left: Room) -> TraceMessage:
    content = message.content if left.text > 0 else shortened(message.content, SHORT_TEXT)
    left.text -= min(len(content), MAX_TEXT)
    blocks = tuple(_block(block, left) for block in message.blocks)
    return replace(message, content=content, blocks=blocks)


def _block(block: Mapping[str, Any], left: Room) -> Mapping[str, Any]:
    resource = block.get("resource")
    if isinstance(resource, Mapping):
        return {**block, "resource": _without_data(cast("Mapping[str, Any]", resource), "blob", left)}
    return _without_data(block, "data", left)


def _without_data(block: Mapping[str, Any], key: str, left: Room) -> Mapping[str, Any]:
    data = block.get(key)
    if not isinstance(data, str) or not data:
        return block
    if len(data) > min(left.item, left.media):
        return {**block, key: "", "omitted_bytes": len(data) * 3 // 4}
    left.media -= len(data)
    return block
