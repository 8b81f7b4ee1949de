"""Answers in a given form: what the model is told, how its text is read, and what is wrong with it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Self, cast

from knime_ext.agent.wellformed import wellformed_text
from knime_ext.errors import ConfigurationError
from knime_ext.tools.schemas import schema_problems

__all__ = ["FIELD_TYPES", "AnswerField", "AnswerFormat", "InvalidAnswer"]

_SCALARS = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "text": "string",
    "str": "string",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
}

FIELD_TYPES: tuple[str, ...] = (
    "string",
    "integer",
    "number",
    "boolean",
    "string[]",
    "integer[]",
    "number[]",
    "boolean[]",
)
"""The types of a field; int, long, float, double, bool, str and text are understood as well."""

_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)


class InvalidAnswer(Exception):
    """The text is no answer in the asked form; the message tells the model why. Never leaves this room."""


@dataclass(frozen=True, slots=True)
class AnswerField:
    """One value of an answer.

    Attributes:
        name: Its name, and that of its column.
        type: One of `FIELD_TYPES`.
        description: What the model shall put there.
        optional: Whether the model may say null.
    """

    name: str
    type: str = "string"
    description: str = ""
    optional: bool = False

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the value.

        Raises:
            ConfigurationError: The type is unknown.
        """
        wanted = self.type.strip().lower()
        scalar = _SCALARS.get(wanted.removesuffix("[]").strip())
        if scalar is None:
            known = ", ".join(FIELD_TYPES)
            raise ConfigurationError(
                f"the type {self.type!r} of the answer's field {self.name!r} is unknown; use {known}."
            )
        value: dict[str, Any] = {"type": scalar}
        if wanted.endswith("[]"):
            value = {"type": "array", "items": value}
        if self.optional:
            value["type"] = [value["type"], "null"]
        return value | ({"description": self.description} if self.description else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFormat:
    """The form of an answer: a JSON object that fits a schema. Made by `of_schema` or `of_fields`.

    Attributes:
        schema: JSON Schema of the object.
        attempts: Answers that the model may give until one fits.
    """

    schema: Mapping[str, Any]
    attempts: int = 3

    @classmethod
    def of_schema(cls, schema: Mapping[str, Any], attempts: int = 3) -> Self:
        """An object as a JSON Schema describes it.

        Args:
            schema: Its `properties` become columns.
            attempts: Answers that the model may give until one fits.

        Raises:
            ConfigurationError: It is no JSON Schema of an object with properties.
        """
        _check(schema)
        if attempts < 1:
            raise ConfigurationError(f"an answer needs at least 1 attempt, not {attempts}.")
        return cls(schema=dict(schema), attempts=attempts)

    @classmethod
    def of_fields(cls, fields: Sequence[AnswerField], attempts: int = 3) -> Self:
        """An object with these fields and no others.

        Raises:
            ConfigurationError: There is no field, one has no name or an unknown type, or two share a name.
        """
        names = [field.name for field in fields]
        for name in names:
            if not name.strip():
                raise ConfigurationError("a field of the answer has no name; give each field a name.")
            if names.count(name) > 1:
                raise ConfigurationError(f"two fields of the answer are called {name!r}; give each a name of its own.")
        schema = {
            "type": "object",
            "properties": {field.name: field.schema() for field in fields},
            "required": names,
            "additionalProperties": False,
        }
        return cls.of_schema(schema, attempts)

    @property
    def properties(self) -> Mapping[str, Any]:
        """The schemas of the answer's values by name."""
        return self.schema["properties"]

    @property
    def instructions(self) -> str:
        """What the model is told, at the end of its system message."""
        return (
            "Give your final answer as one JSON object and nothing else. It must fit this JSON Schema:\n"
            + json.dumps(self.schema, ensure_ascii=False)
        )

    def read(self, text: str) -> dict[str, Any]:
        """The object in a model's answer, also if there are words or a code fence around it.

        Raises:
            InvalidAnswer: There is none, or it does not fit.
        """
        found = list(_objects(text))
        if not found:
            raise InvalidAnswer("it holds no JSON object")
        problems = [self._problems(value) for value in found]
        fitting = [value for value, wrong in zip(found, problems, strict=True) if not wrong]
        if not fitting:
            raise InvalidAnswer("; ".join(problems[-1]))
        return _storable(fitting[-1])

    def _problems(self, value: dict[str, Any]) -> list[str]:
        too_large = [
            f"{name!r} is too large for 64 bits"
            for name, part in value.items()
            if isinstance(part, int) and not -(2**63) <= part < 2**63
        ]
        return too_large or schema_problems(self.schema, value, "the answer")


def _check(schema: Mapping[str, Any]) -> None:
    from jsonschema import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for

    if not isinstance(schema, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - it is read from a file
        raise ConfigurationError(f"the schema of the answer must be a JSON object, not {schema!r:.80}.")
    raw = dict(schema)
    try:
        validator_for(raw, default=Draft202012Validator).check_schema(raw)
    except SchemaError as error:
        place = ".".join(str(step) for step in error.absolute_path) or "the schema"
        raise ConfigurationError(
            f"the schema of the answer is no JSON Schema, see {place!r}: {error.message}."
        ) from None
    if raw.get("type", "object") != "object" or not raw.get("properties"):
        raise ConfigurationError(
            "the schema of the answer must describe an object with 'properties', which become columns; "
            "put other values into a property."
        )


def _storable(value: dict[str, Any]) -> dict[str, Any]:
    """The answer without halves of characters, which JSON may hold and no table can."""
    text = json.dumps(value, ensure_ascii=False)
    found = wellformed_text(text)
    return value if found == text else json.loads(found)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text: all of it, else those in code fences, else those among the words."""
    for candidates in ([text], _FENCE.findall(text)):
        whole = [value for value in map(_object, candidates) if value is not None]
        if whole:
            yield from whole
            return
    yield from _embedded(text)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is too large")
    return number


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


_MAX_STARTS = 1_000
"""Braces at which an object may begin that are tried; a text made of braces takes no longer."""


def _embedded(text: str) -> Iterator[dict[str, Any]]:
    start = text.find("{")
    for _ in range(_MAX_STARTS):
        if start < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield value
        start = text.find("{", end)
