"""The fields of a form that a server asks a person to fill in: what is shown, and what was typed as a value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from knime_ext.cli.arguments import converted, schema_types
from knime_ext.errors import InvalidArguments
from knime_ext.mcp.foreign_text import quotable
from knime_ext.tools import check_arguments, text_for_model

__all__ = ["FormField"]

_KINDS = {"integer": "a whole number", "number": "a number", "boolean": "yes or no", "array": "several, with commas"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """One field.

    Attributes:
        name: Its name in the answer.
        schema: JSON Schema of its value; foreign text.
        is_required: Whether the form is incomplete without it.
    """

    name: str
    schema: Mapping[str, Any]
    is_required: bool

    @classmethod
    def of_form(cls, schema: Mapping[str, Any]) -> list[FormField]:
        """The fields of a form, in its order."""
        required = cast("list[str]", schema.get("required") or [])
        parts = cast("Mapping[str, Any]", schema.get("properties") or {})
        return [
            cls(name=name, schema=cast("Any", part) if isinstance(part, dict) else {}, is_required=name in required)
            for name, part in parts.items()
        ]

    @property
    def has_default(self) -> bool:
        """Whether the form says what is meant if nothing is typed."""
        return "default" in self.schema

    @property
    def about(self) -> str:
        """What the form says about the field; may be empty."""
        return _shown(str(self.schema.get("description") or ""))

    @property
    def choices(self) -> dict[str, Any]:
        """What may be typed, with what it stands for; empty if anything may be."""
        source = self._item
        branches = cast("list[Any]", source.get("oneOf") or source.get("anyOf") or [])
        titled = [cast("Mapping[str, Any]", one) for one in branches if isinstance(one, Mapping) and "const" in one]
        if titled:
            return {_shown(str(one.get("title") or one["const"])): one["const"] for one in titled}
        values = cast("list[Any]", source.get("enum") or [])
        names = cast("list[Any]", source.get("enumNames") or values)
        return {_shown(_word(name)): value for name, value in zip(names, values, strict=False)}

    @property
    def _is_list(self) -> bool:
        return schema_types(self.schema, self.schema) == ["array"]

    @property
    def _item(self) -> Mapping[str, Any]:
        """The schema of what is typed: of one of the values if the field takes several."""
        part: Any = self.schema.get("items") if self._is_list else self.schema
        return cast("Mapping[str, Any]", part) if isinstance(part, Mapping) else {}

    @property
    def prompt(self) -> str:
        """The line that asks for it."""
        title = _shown(str(self.schema.get("title") or self.name))
        kinds = schema_types(self.schema, self.schema)
        hints = [_KINDS[kind] for kind in kinds if kind in _KINDS]
        hints += [", ".join(self.choices)] if self.choices else []
        hints += [] if self.is_required or self.has_default else ["may be left out"]
        hint = f" ({'; '.join(hints)})" if hints else ""
        default = f" [{_shown(_word(self.schema['default']))}]" if self.has_default else ""
        return f"{title}{hint}{default}: "

    def read(self, text: str) -> Any:
        """What was typed as a value.

        Raises:
            InvalidArguments: It is no value for this field; the message says what would be.
        """
        value = [self._one(word.strip()) for word in text.split(",")] if self._is_list else self._one(text)
        check_arguments({"type": "object", "properties": {self.name: self.schema}}, {self.name: value}, "the form")
        return value

    def _one(self, text: str) -> Any:
        choices = self.choices
        if choices:
            folded = {word.casefold(): value for word, value in choices.items()}
            if text.casefold() in folded:
                return folded[text.casefold()]
            if text in map(_word, choices.values()):
                return next(value for value in choices.values() if _word(value) == text)
            raise InvalidArguments(f"{text!r} is none of {', '.join(choices)}")
        return converted(text, self._item, self.schema, self.name)


def _shown(text: str) -> str:
    """Foreign text that neither moves the cursor nor fills the screen."""
    return quotable(text_for_model(text))


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_word, cast("list[Any]", value)))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
