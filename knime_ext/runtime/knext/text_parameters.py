"""Parameters for texts: one line, a choice, several lines, a path."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from knime_ext.runtime.knext.option_texts import with_options
from knime_ext.runtime.knext.parameter import DefaultValue, Parameter
from knime_ext.runtime.knext.version import Version

__all__ = ["LocalPathParameter", "MultilineStringParameter", "StringParameter"]


def _check_text(value: Any) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is of type {type(value).__name__}, but must be a text")


@dataclass(frozen=True)
class _Choice:
    """One choice of a text parameter.

    Attributes:
        id: The text that the parameter gets.
        label: Name for people.
        description: What it means.
    """

    id: str
    label: str
    description: str = ""

    def __post_init__(self) -> None:
        """Refuses choices without an id, and parts that are no texts."""
        for text in (self.id, self.label, self.description):
            if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"id, label and description of a choice must be texts, not {text!r}")
        if not self.id:
            raise ValueError("the id of a choice must not be empty")


Choices: TypeAlias = Sequence[Any]


def _normalised(choices: Any) -> list[_Choice]:
    if not isinstance(choices, (list, tuple)):
        raise TypeError(f"choices must be a list or tuple of texts or Choice, not {type(choices).__name__}")
    found: dict[str, _Choice] = {}
    for choice in choices:  # pyright: ignore[reportUnknownVariableType]
        if isinstance(choice, str):
            choice = _Choice(choice, choice)
        if not isinstance(choice, _Choice):
            raise TypeError(f"choices must be texts or StringParameter.Choice, not {choice!r}")
        if choice.id in found:
            raise ValueError(f"there are two choices with the id {choice.id!r}")
        found[choice.id] = choice
    return list(found.values())


class StringParameter(Parameter[str]):
    """A text, or one of some choices.

    Args:
        label: Name for people; the name of the attribute if not given.
        description: What it does, in Markdown.
        default_value: The default, or a function that gives it for a version; the first choice if not given.
        enum: The choices as a list of texts.
        validator: Function that raises ValueError for an unusable value; replaces the check of the type.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
        choices: The choices as a list of texts or `StringParameter.Choice`, or a function that gives such a list
            for a `DialogCreationContext`. Not together with `enum`.
    """

    Choice = _Choice

    def __init__(
        self,
        label: str | None = None,
        description: str | None = None,
        default_value: DefaultValue[str] = "",
        enum: list[str] | None = None,
        validator: Callable[[str], None] | None = None,
        since_version: Version | str | None = None,
        is_advanced: bool = False,
        choices: Callable[[Any], Choices] | Choices | None = None,
    ) -> None:
        if enum is not None and not isinstance(enum, list):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"enum must be a list, not {type(enum).__name__}")
        if enum and choices:
            raise ValueError("give either enum or choices, not both")
        self._enum = enum
        self._dynamic_choices = choices if callable(choices) else None
        fixed = enum if choices is None or callable(choices) else choices
        self._fixed_choices = None if fixed is None else _normalised(fixed)
        self._answer: tuple[weakref.ref[Any], list[_Choice]] | None = None
        super().__init__(label, description, default_value, validator, since_version, is_advanced)
        if self._fixed_choices and not self.default_value:
            self.default_value = self._fixed_choices[0].id

    def check_builtin(self, value: Any) -> None:
        """Refuses what is no text."""
        _check_text(value)

    def choices_in(self, context: Any) -> list[_Choice] | None:
        """The choices in a dialog, None if any text will do; a function is asked once per context."""
        if self._dynamic_choices is None or context is None:
            return self._fixed_choices
        # Weak, because a context holds credentials; local, because two dialogs may open at once.
        answer = self._answer
        if answer is None or answer[0]() is not context:
            answer = (weakref.ref(context), _normalised(self._dynamic_choices(context)))
            self._answer = answer
        return answer[1]

    def full_description(self, context: Any) -> str:
        """The description, with the choices if one of them is described."""
        choices = self.choices_in(context) or []
        if not any(choice.description.strip() for choice in choices):
            return self.description
        texts = [f"{c.label}: {c.description.strip()}" if c.description.strip() else c.label for c in choices]
        return with_options(self.description, "Available options", texts)

    def value_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of a text, or of one of the choices."""
        choices = self.choices_in(context)
        if not choices:
            return {"type": "string"}
        return {"oneOf": [{"const": choice.id, "title": choice.label} for choice in choices]}

    def ui_options(self, context: Any) -> dict[str, Any]:
        """A text field or a drop-down, which the dialog tells by the schema."""
        if self.choices_in(context) == []:
            return {"format": "dropDown", "placeholder": "Nothing to choose from"}
        return {"format": "string"}


class MultilineStringParameter(Parameter[str]):
    """A text of several lines.

    Args:
        label: Name for people; the name of the attribute if not given.
        description: What it does, in Markdown.
        default_value: The default, or a function that gives it for a version.
        validator: Function that raises ValueError for an unusable value; replaces the check of the type.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
        number_of_lines: Height of the field in lines.
    """

    def __init__(
        self,
        label: str | None = None,
        description: str | None = None,
        default_value: DefaultValue[str] = "",
        validator: Callable[[str], None] | None = None,
        since_version: Version | str | None = None,
        is_advanced: bool = False,
        number_of_lines: int | None = 3,
    ) -> None:
        if not isinstance(number_of_lines, int):
            raise TypeError(f"number_of_lines must be a whole number, not {type(number_of_lines).__name__}")
        if number_of_lines <= 0:
            raise ValueError(f"number_of_lines must be at least 1, not {number_of_lines}")
        self.number_of_lines = number_of_lines
        super().__init__(label, description, default_value, validator, since_version, is_advanced)

    def check_builtin(self, value: Any) -> None:
        """Refuses what is no text."""
        _check_text(value)

    def value_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of a text."""
        return {"type": "string"}

    def ui_options(self, context: Any) -> dict[str, Any]:
        """A field of several lines."""
        return {"format": "textArea", "rows": self.number_of_lines}


class LocalPathParameter(Parameter[str]):
    """Path of a file or folder; "" if none is chosen.

    An absolute path must exist. A relative one is taken from the folder of the workflow, which only the host
    knows, so it is not checked here.

    Args:
        label: Name for people; the name of the attribute if not given.
        description: What it does, in Markdown.
        placeholder_text: Text in the empty field.
        validator: Function that raises ValueError for an unusable value; replaces the check that the path exists.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
    """

    def __init__(
        self,
        label: str | None = None,
        description: str | None = None,
        placeholder_text: str = "",
        validator: Callable[[str], None] | None = None,
        since_version: Version | str | None = None,
        is_advanced: bool = False,
    ) -> None:
        self.placeholder_text = placeholder_text
        super().__init__(label, description, "", validator, since_version, is_advanced)

    def check_builtin(self, value: Any) -> None:
        """Refuses what is no text, and absolute paths at which there is nothing."""
        if not value:
            return
        _check_text(value)
        if os.path.isabs(value) and not os.path.exists(value):
            raise ValueError(f"there is no file or folder at {value!r}")

    def value_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of a text."""
        return {"type": "string"}

    def ui_options(self, context: Any) -> dict[str, Any]:
        """A file chooser."""
        return {"format": "stringFileChooser", "fileSystem": "LOCAL", "placeholder": self.placeholder_text}
