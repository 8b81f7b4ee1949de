"""Results that are too long for a model: it gets the beginning and a handle to read on with. No I/O.

Where the whole text is kept is the business of a shelf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from knime_ext.errors import InvalidArguments
from knime_ext.tools.definition import ToolDefinition
from knime_ext.tools.names import safe_name
from knime_ext.tools.result import ToolResult
from knime_ext.tools.schemas import check_arguments
from knime_ext.tools.toolset import Toolset
from knime_ext.tools.wrapper import WrapperToolset

__all__ = ["MAX_RESULT_CHARS", "READ_MORE", "ResultShelf", "ShelvedToolset", "read_more", "shelved_text"]

MAX_RESULT_CHARS = 20_000
"""How many characters of a result a model gets at once, if nothing else is said; some 5,000 tokens of English."""

READ_MORE = ToolDefinition(
    name="read_more",
    description=(
        "Reads on in a result that was too long to be shown whole. The handle stands at the end of what was shown."
    ),
    parameters={
        "type": "object",
        "properties": {
            "handle": {"type": "string", "description": "Handle of the result."},
            "offset": {"type": "integer", "minimum": 0, "description": "Character to begin with."},
        },
        "required": ["handle", "offset"],
        "additionalProperties": False,
    },
    wire_name="read_more",
    display_name="read_more",
    annotations={"readOnlyHint": True, "idempotentHint": True},
)


class ResultShelf(Protocol):
    """Keeps long texts, and gives back only what it took itself."""

    def put(self, text: str) -> str:
        """Takes a text and gives its handle."""
        ...

    def size(self, handle: str) -> int | None:
        """Length of a text in characters; None if no text has that handle."""
        ...

    def read(self, handle: str, offset: int, count: int) -> str:
        """A part of a text, in characters."""
        ...


def shelved_text(text: str, shelf: ResultShelf, limit: int = MAX_RESULT_CHARS, tool: str = READ_MORE.name) -> str:
    """The text if it is short enough; else its beginning, the whole being put on the shelf.

    Args:
        text: The text for the model.
        shelf: Where a long text is kept.
        limit: Characters that the model gets at once.
        tool: Name of the tool to read on with.
    """
    return text if len(text) <= limit else _part(text[:limit], shelf.put(text), 0, len(text), tool)


def read_more(
    arguments: Mapping[str, Any],
    shelf: ResultShelf,
    limit: int = MAX_RESULT_CHARS,
    tool: str = READ_MORE.name,
) -> str:
    """A further part of a long result.

    Args:
        arguments: Those of a call of `READ_MORE`.
        shelf: Where it is kept.
        limit: Characters that the model gets at once.
        tool: Name of the tool.

    Raises:
        InvalidArguments: No result has that handle, or it ends before the offset.
    """
    check_arguments(READ_MORE.parameters, arguments, tool)
    handle, offset = str(arguments["handle"]), int(arguments["offset"])
    size = shelf.size(handle)
    if size is None:
        raise InvalidArguments(f"no result has the handle {handle!r}; copy it from the end of the shortened result")
    if offset >= size:
        raise InvalidArguments(f"the result {handle!r} has {size} characters; there is nothing at {offset}")
    return _part(shelf.read(handle, offset, limit), handle, offset, size, tool)


def _part(text: str, handle: str, offset: int, size: int, tool: str) -> str:
    end = offset + len(text)
    if end >= size:
        return f"{text}\n\n[Characters {offset} to {size}: the end of the result.]"
    return (
        f"{text}\n\n[Characters {offset} to {end} of {size}. To read on, call {tool} with handle {handle!r} and "
        f"offset {end}.]"
    )


class ShelvedToolset(WrapperToolset):
    """Shortens long results for a model and offers the tool to read on.

    A shortened result is one text; its structured value is part of the text on the shelf.

    Args:
        wrapped: The tools.
        shelf: Where long results are kept.
        limit: Characters that the model gets at once.
    """

    def __init__(self, wrapped: Toolset, shelf: ResultShelf, limit: int = MAX_RESULT_CHARS) -> None:
        super().__init__(wrapped)
        self._shelf = shelf
        self._limit = limit
        self._reader: str | None = None

    async def list_definitions(self) -> Sequence[ToolDefinition]:
        """The wrapped toolset's definitions and `read_more`, under a free name."""
        definitions = await self.wrapped.list_definitions()
        self._reader = safe_name(READ_MORE.name, {tool.name for tool in definitions})
        return [*definitions, replace(READ_MORE, name=self._reader)]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls a tool; a long result is shortened.

        Raises:
            InvalidArguments: `read_more` was called for something that is not there.
        """
        if self._reader is None:
            await self.list_definitions()
        reader = self._reader or READ_MORE.name
        if name == reader:
            return ToolResult.of_text(read_more(arguments, self._shelf, self._limit, reader))
        result = await self.wrapped.call(name, arguments)
        text = shelved_text(result.text, self._shelf, self._limit, reader)
        return result if text == result.text else ToolResult.of_text(text, is_error=result.is_error)
