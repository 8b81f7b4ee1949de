"""Parameters for numbers and yes or no."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from knime_ext.runtime.knext.parameter import DefaultValue, Parameter, T
from knime_ext.runtime.knext.version import Version

__all__ = ["BoolParameter", "DoubleParameter", "IntParameter"]


def _bound(key: str, limit: Any, words: str) -> dict[str, Any]:
    return {"parameters": {key: limit, "isExclusive": False}, "errorMessage": f"Not {words} than {limit}."}


class _NumberParameter(Parameter[T]):
    min_value: Any
    max_value: Any

    def check_builtin(self, value: Any) -> None:
        """Refuses values of another type or outside of the range."""
        self.check_type(value)
        if self.min_value is not None and value < self.min_value:
            raise ValueError(f"{value} is smaller than the minimum {self.min_value}")
        if self.max_value is not None and value > self.max_value:
            raise ValueError(f"{value} is larger than the maximum {self.max_value}")

    def check_type(self, value: Any) -> None:
        raise NotImplementedError

    def control(self, context: Any) -> dict[str, Any]:
        """The element of the dialog, which checks the range as well."""
        control = super().control(context)
        validation: dict[str, Any] = {}
        if self.min_value is not None:
            validation["min"] = _bound("min", self.min_value, "smaller")
        if self.max_value is not None:
            validation["max"] = _bound("max", self.max_value, "larger")
        if validation:
            control["options"]["validation"] = validation
        return control


class IntParameter(_NumberParameter[int]):
    """A whole number.

    Args:
        label: Name for people; the name of the attribute if not given.
        description: What it does, in Markdown.
        default_value: The default, or a function that gives it for a version.
        validator: Function that raises ValueError for an unusable value; replaces the check of type and range.
        min_value: Smallest value.
        max_value: Largest value.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
    """

    def __init__(
        self,
        label: str | None = None,
        description: str | None = None,
        default_value: DefaultValue[int] = 0,
        validator: Callable[[int], None] | None = None,
        min_value: int | None = None,
        max_value: int | None = None,
        since_version: Version | str | None = None,
        is_advanced: bool = False,
    ) -> None:
        self.min_value = min_value
        self.max_value = max_value
        super().__init__(label, description, default_value, validator, since_version, is_advanced)

    def check_type(self, value: Any) -> None:
        """Refuses what is no whole number."""
        if not isinstance(value, int):
            raise TypeError(f"{value!r} is of type {type(value).__name__}, but must be a whole number")

    def value_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of a 32-bit integer."""
        return {"type": "integer", "format": "int32"}

    def ui_options(self, context: Any) -> dict[str, Any]:
        """A field for whole numbers."""
        return {"format": "integer"}


class DoubleParameter(_NumberParameter[float]):
    """A number.

    Args:
        label: Name for people; the name of the attribute if not given.
        description: What it does, in Markdown.
        default_value: The default, or a function that gives it for a version.
        validator: Function that raises ValueError for an unusable value; replaces the check of type and range.
        min_value: Smallest value.
        max_value: Largest value.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
    """

    def __init__(
        self,
        label: str | None = None,
        description: str | None = None,
        default_value: DefaultValue[float] = 0.0,
        validator: Callable[[float], None] | None = None,
        min_value: float | None = None,
        max_value: float | None = None,
        since_version: Version | str | None = None,
        is_advanced: bool = False,
    ) -> None:
        self.min_value = min_value
        self.max_value = max_value
        super().__init__(label, description, default_value, validator, since_version, is_advanced)

    def check_type(self, value: Any) -> None:
        """Refuses what is no number."""
        if not isinstance(value, numbers.Number):
            raise TypeError(f"{value!r} is of type {type(value).__name__}, but must be a number")

    def value_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of a number."""
        return {"format": "double", "type": "number"}

    def ui_options(self, context: Any) -> dict[str, Any]:
        """A field for numbers."""
        return {"format": "number"}


class BoolParameter(Parameter[bool]):
    """Yes or no.

    Args:
        label: Name for people; the name of the attribute if not given.
        description: What it does, in Markdown.
        default_value: The default, or a function that gives it for a version.
        validator: Function that raises ValueError for an unusable value; replaces the check of the type.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
    """

    def __init__(
        self,
        label: str | None = None,
        description: str | None = None,
        default_value: DefaultValue[bool] = False,
        validator: Callable[[bool], None] | None = None,
        since_version: Version | str | None = None,
        is_advanced: bool = False,
    ) -> None:
        super().__init__(label, description, default_value, validator, since_version, is_advanced)

    def check_builtin(self, value: Any) -> None:
        """Refuses what is neither true nor false."""
        if not isinstance(value, bool):
            raise TypeError(f"{value!r} is of type {type(value).__name__}, but must be true or false")

    def value_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of a boolean."""
        return {"type": "boolean"}

    def ui_options(self, context: Any) -> dict[str, Any]:
        """A checkbox."""
        return {"format": "boolean"}
