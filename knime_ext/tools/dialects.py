"""Schemas for vendors that take only a part of JSON Schema: named conversions that say what they changed. No I/O.

Nothing is edited silently: every conversion comes with all differences, from which the original can be made again, and
takes arguments back to what the original schema wants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from knime_ext.errors import ConfigurationError
from knime_ext.tools.dialect_arguments import restored_arguments
from knime_ext.tools.dialect_conversion import RULES, Conversion
from knime_ext.tools.schema_diff import Difference, differences, reverted

__all__ = ["ConvertedSchema", "Dialect", "convert_schema"]


class Dialect(StrEnum):
    """What a vendor takes as schema of a tool's arguments."""

    OPENAI_STRICT = "openai-strict"
    """OpenAI with `strict: true`: closed objects, every argument required, few keywords."""
    GEMINI = "gemini"
    """Google's function declarations: a part of OpenAPI 3.0, without references, enums of texts only."""
    ANTHROPIC = "anthropic"
    """Anthropic's `input_schema`: all of JSON Schema, but an object at the root and plain names of arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedSchema:
    """A schema in a dialect, and what became different.

    Attributes:
        dialect: The dialect.
        schema: The schema for the vendor.
        original: The schema as it was.
        changes: Every difference between the two.
    """

    dialect: Dialect
    schema: dict[str, Any]
    original: dict[str, Any]
    changes: tuple[Difference, ...]

    def report(self) -> list[str]:
        """The changes, one line each: place, before, after."""
        return [str(change) for change in self.changes]

    def reverted(self) -> dict[str, Any]:
        """The original schema, made of the converted one and the changes."""
        return reverted(self.schema, self.changes)

    def arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a model as the original schema wants them.

        Null for an optional argument that takes none is left out, JSON text is read where it stands for a value that
        the dialect has no words for, and names and enum values become the original ones.
        """
        return restored_arguments(arguments, self.original, self.schema)


def convert_schema(schema: Mapping[str, Any], dialect: Dialect | str) -> ConvertedSchema:
    """Converts the schema of a tool's arguments; references are followed within the document only.

    Args:
        schema: JSON Schema object.
        dialect: The dialect, or its name.

    Raises:
        ConfigurationError: There is no such dialect.
    """
    try:
        target = Dialect(dialect)
    except ValueError:
        known = ", ".join(repr(one.value) for one in Dialect)
        raise ConfigurationError(f"there is no dialect of schemas called {dialect!r}; write one of {known}") from None
    original = dict(schema)
    converted = Conversion(original, RULES[target.value]).root()
    return ConvertedSchema(
        dialect=target, schema=converted, original=original, changes=tuple(differences(original, converted))
    )
