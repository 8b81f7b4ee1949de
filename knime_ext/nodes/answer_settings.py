"""The choice of the form that an agent's answers have, for every node with an agent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import knime.extension as knext

if TYPE_CHECKING:
    from knime_ext.agent import AnswerFormat

__all__ = ["AnswerForm", "AnswerSettings", "FieldType"]


class AnswerForm(knext.EnumParameterOptions):
    """What an answer looks like."""

    TEXT = ("Text", "The model answers as it likes.")
    FIELDS = ("Fields", "The answer has the fields below, each of which becomes a column.")
    SCHEMA = ("JSON Schema", "The answer is a JSON object that fits a schema; its properties become columns.")


class FieldType(knext.EnumParameterOptions):
    """What a field holds."""

    STRING = ("Text", "A text.")
    INTEGER = ("Whole number", "A number without a fraction.")
    NUMBER = ("Number", "Any number.")
    BOOLEAN = ("Yes or no", "A boolean.")
    STRINGS = ("Several texts", "A list.")
    INTEGERS = ("Several whole numbers", "A list.")
    NUMBERS = ("Several numbers", "A list.")


_TYPES = {"STRINGS": "string[]", "INTEGERS": "integer[]", "NUMBERS": "number[]"}


@knext.parameter_group(label="Field")
class AnswerFieldSettings:
    """One field of the answer."""

    name = knext.StringParameter("Name", "Name of the field and of its column.", "")
    type = knext.EnumParameter("Type", "What the field holds.", FieldType.STRING.name, FieldType)
    description = knext.StringParameter("Description", "What the model is to put there, such as *in EUR*.", "")
    may_be_missing = knext.BoolParameter(
        "May be missing", "The model may say that there is no value; the cell is missing then.", False
    )


@knext.parameter_group(label="Answer")
class AnswerSettings:
    """The form of the answer."""

    form = knext.EnumParameter(
        "Form of the answer",
        "Text, or values in columns of their own. An answer that does not fit goes back to the model with the reason.",
        AnswerForm.TEXT.name,
        AnswerForm,
        style=knext.EnumParameter.Style.VALUE_SWITCH,
    )
    fields = knext.ParameterArray(
        AnswerFieldSettings(),
        "Fields",
        "The values that you want, one column each.",
        button_text="Add field",
        array_title="Field",
    ).rule(knext.OneOf(form, ["FIELDS"]), knext.Effect.SHOW)
    json_schema = knext.MultilineStringParameter(
        "JSON Schema",
        "A JSON Schema of type *object*, such as "
        '`{"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}`.',
        "",
        number_of_lines=8,
    ).rule(knext.OneOf(form, ["SCHEMA"]), knext.Effect.SHOW)
    attempts = knext.IntParameter(
        "Attempts",
        "How many answers the model may give until one fits; then the agent has failed.",
        3,
        min_value=1,
        is_advanced=True,
    ).rule(knext.OneOf(form, ["FIELDS", "SCHEMA"]), knext.Effect.SHOW)

    def format(self) -> AnswerFormat | None:
        """The form that answers must have; None for any text.

        Raises:
            ConfigurationError: The fields or the schema cannot be used.
        """
        if self.form == AnswerForm.TEXT.name:
            return None
        from knime_ext.agent import AnswerField, AnswerFormat
        from knime_ext.errors import ConfigurationError

        if self.form == AnswerForm.SCHEMA.name:
            return AnswerFormat.of_schema(_schema(self.json_schema), attempts=self.attempts)
        fields = [
            AnswerField(
                name=each.name.strip(),
                type=_TYPES.get(each.type, each.type.lower()),
                description=each.description,
                optional=each.may_be_missing,
            )
            for each in self.fields
        ]
        if not fields:
            raise ConfigurationError("the answer has no fields; add one, or let the model answer with a text")
        return AnswerFormat.of_fields(fields, attempts=self.attempts)


def _schema(text: str) -> dict[str, Any]:
    from knime_ext.errors import ConfigurationError

    try:
        schema = json.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"the JSON Schema of the answer is no JSON: {error}; correct it") from None
    if not isinstance(schema, dict):
        raise ConfigurationError("the JSON Schema of the answer is no JSON object; describe one of type 'object'")
    return schema  # pyright: ignore[reportUnknownVariableType]
