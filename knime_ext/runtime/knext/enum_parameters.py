"""Parameters with options of an enumeration: one of them, or some of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Generic, cast

from knime_ext.runtime.knext.option_texts import with_options
from knime_ext.runtime.knext.parameter import Parameter, T
from knime_ext.runtime.knext.version import Version

__all__ = ["EnumParameter", "EnumParameterOptions", "EnumSetParameter"]

LOGGER = logging.getLogger(__name__)


class EnumParameterOptions(Enum):
    """The options of an enum parameter, written as `NAME = ("Label", "Description")`; the name is what is stored.

    Attributes:
        label: Name for people.
        description: What the option means.
    """

    label: str
    description: str

    def __init__(self, label: str, description: str) -> None:
        self.label = label
        self.description = description

    @classmethod
    def get_all_options(cls) -> list[str]:
        """Names of all options."""
        return [option.name for option in cls]


class _NoOptions(EnumParameterOptions):
    DEFAULT_OPTION = ("Default", "The only option, because the parameter was given none.")


def _listed(description: str, options: Sequence[EnumParameterOptions]) -> str:
    return with_options(description, "Available options", [f"{o.label}: {o.description}" for o in options])


class _OptionsParameter(Parameter[T], Generic[T]):
    keeps_builtin_check = True
    _enum: type[EnumParameterOptions]

    def _names(self) -> str:
        return ", ".join(map(repr, self._enum.get_all_options()))


class EnumParameter(_OptionsParameter[str]):
    """One option of an enumeration; the value is the option's name.

    Args:
        label: Name for people; the name of the attribute if not given.
        description: What it does, in Markdown; the options are added to it.
        default_value: An option or its name, or a function that gives one for a version; the first if not given.
        enum: Class of the options.
        validator: Function that raises ValueError for an unusable value, besides the check of the options.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
        style: How the dialog shows the options; as radio buttons up to four of them, else as a drop-down.
        hidden_choices: Function that gives the options to hide, for a `DialogCreationContext` or None.
    """

    class Style(Enum):
        """How the dialog shows the options."""

        RADIO = "radio"
        VALUE_SWITCH = "valueSwitch"
        DROPDOWN = "string"

    def __init__(
        self,
        label: str | None = None,
        description: str | None = None,
        default_value: str | EnumParameterOptions | Callable[[Version], str | EnumParameterOptions] | None = None,
        enum: type[EnumParameterOptions] | None = None,
        validator: Callable[[str], None] | None = None,
        since_version: Version | str | None = None,
        is_advanced: bool = False,
        style: Style | None = None,
        hidden_choices: Callable[[Any], Sequence[EnumParameterOptions]] | None = None,
    ) -> None:
        self._enum = enum if enum is not None and enum.get_all_options() else _NoOptions
        if default_value is None or self._enum is _NoOptions:
            default_value = self._enum.get_all_options()[0]
        self._style = style
        self._hidden_choices = hidden_choices
        super().__init__(label, description, default_value, validator, since_version, is_advanced)

    def default_for(self, version: Version | None = None) -> str:
        """The name of the default option."""
        default = super().default_for(version)
        return default.name if isinstance(default, EnumParameterOptions) else default

    def check_builtin(self, value: Any) -> None:
        """Refuses what is no option's name."""
        if value not in self._enum.get_all_options():
            raise ValueError(f"{value!r} is no option of {self.label!r}; options are {self._names()}")

    def visible_options(self, context: Any) -> list[EnumParameterOptions]:
        """The options that the dialog shows; all of them where `hidden_choices` fails."""
        options = list(self._enum)
        if self._hidden_choices is None:
            return options
        try:
            hidden = set(self._hidden_choices(context))
        except Exception as error:  # a broken callable must not keep the dialog shut
            LOGGER.warning("hidden_choices of %r failed, so all options are shown: %s", self.label, error)
            return options
        return [option for option in options if option not in hidden]

    def full_description(self, context: Any) -> str:
        """The description with the visible options."""
        return _listed(self.description, self.visible_options(context))

    def value_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of the names of the visible options."""
        return {"oneOf": [{"const": o.name, "title": o.label} for o in self.visible_options(context)]}

    def ui_options(self, context: Any) -> dict[str, Any]:
        """Radio buttons, a switch or a drop-down."""
        style = self._style or (self.Style.RADIO if len(self._enum) <= 4 else self.Style.DROPDOWN)
        return {"format": style.value}


class EnumSetParameter(_OptionsParameter[list[str]]):
    """Some options of an enumeration; the value is a list of their names.

    Args:
        label: Name for people; the name of the attribute if not given.
        description: What it does, in Markdown; the options are added to it.
        default_value: Names of options, or a function that gives them for a version; all if not given.
        enum: Class of the options.
        validator: Function that raises ValueError for an unusable value, besides the check of the options.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
    """

    def __init__(
        self,
        label: str | None = None,
        description: str | None = None,
        default_value: list[str] | Callable[[Version], list[str]] | None = None,
        enum: type[EnumParameterOptions] | None = None,
        validator: Callable[[list[str]], None] | None = None,
        since_version: Version | str | None = None,
        is_advanced: bool = False,
    ) -> None:
        self._enum = enum if enum is not None and enum.get_all_options() else _NoOptions
        if default_value is None or self._enum is _NoOptions:
            default_value = self._enum.get_all_options()
        super().__init__(label, description, default_value, validator, since_version, is_advanced)

    def check_builtin(self, value: Any) -> None:
        """Refuses what is no list of names of options."""
        if not isinstance(value, list):
            raise TypeError(f"{value!r} must be a list of names of options")
        unknown = [name for name in cast("list[Any]", value) if name not in self._enum.get_all_options()]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no option of {self.label!r}; options are {self._names()}")

    def full_description(self, context: Any) -> str:
        """The description with the options."""
        return _listed(self.description, list(self._enum))

    def value_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of a list of texts."""
        return {"type": "array", "items": {"type": "string"}}

    def ui_options(self, context: Any) -> dict[str, Any]:
        """Two lists between which the options move."""
        return {"format": "twinList", "possibleValues": [{"id": o.name, "text": o.label} for o in self._enum]}
