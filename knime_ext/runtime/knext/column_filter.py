"""Which columns a person picked: by hand, by a pattern of their names, or by type."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, cast

from knime_ext.runtime.knext.column_type import column_type
from knime_ext.runtime.knext.schema import Column

__all__ = ["ColumnFilterConfig", "ColumnFilterMode", "ManualFilterConfig", "PatternFilterConfig", "TypeFilterConfig"]

Columns = Iterable[Column]


class ColumnFilterMode(Enum):
    """How the columns were picked."""

    MANUAL = "Manual"
    REGEX = "Regex"
    WILDCARD = "Wildcard"
    TYPE = "Type"


def _texts(default: list[str]) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "default": default}


def _boolean(default: bool) -> dict[str, Any]:
    return {"type": "boolean", "default": default}


@dataclass
class PatternFilterConfig:
    """Columns whose names match a pattern.

    Attributes:
        pattern: Regular expression or wildcards (`*`, `?`), found anywhere in the name.
        case_sensitive: Whether upper and lower case differ.
        inverted: Whether the columns that do not match are meant.
    """

    pattern: str = ""
    case_sensitive: bool = True
    inverted: bool = False

    def picked(self, columns: Columns, regex: bool) -> list[str]:
        """Names of the columns that match."""
        pattern = self.pattern if regex else re.escape(self.pattern).replace(r"\*", ".*").replace(r"\?", ".")
        expression = re.compile(pattern, 0 if self.case_sensitive else re.IGNORECASE)
        return [c.name for c in columns if bool(expression.search(c.name)) != self.inverted]

    def to_json(self) -> dict[str, Any]:
        """The filter as settings keep it."""
        return {"pattern": self.pattern, "isCaseSensitive": self.case_sensitive, "isInverted": self.inverted}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> PatternFilterConfig:
        """Reads what `to_json` wrote; what is left out has its default."""
        return cls(value.get("pattern", ""), value.get("isCaseSensitive", True), value.get("isInverted", False))

    def json_schema(self) -> dict[str, Any]:
        """JSON Schema of `to_json`, with this filter as its default."""
        pattern = {"type": "string", "default": self.pattern}
        properties = {
            "isCaseSensitive": _boolean(self.case_sensitive),
            "isInverted": _boolean(self.inverted),
            "pattern": pattern,
        }
        return {"type": "object", "properties": properties}


@dataclass
class TypeFilterConfig:
    """Columns of some types.

    Attributes:
        selected_types: Identifiers of the types, as `column_type` gives them.
        type_displays: How the dialog shows them: objects with `id` and `text`.
    """

    selected_types: list[str] = field(default_factory=list[str])
    type_displays: list[Any] = field(default_factory=list[Any])

    def picked(self, columns: Columns) -> list[str]:
        """Names of the columns of these types."""
        return [column.name for column in columns if column_type(column).id in self.selected_types]

    def to_json(self) -> dict[str, Any]:
        """The filter as settings keep it."""
        return {"selectedTypes": self.selected_types, "typeDisplays": self.type_displays}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> TypeFilterConfig:
        """Reads what `to_json` wrote; what is left out has its default."""
        return cls(list(value.get("selectedTypes", [])), list(value.get("typeDisplays", [])))

    def json_schema(self) -> dict[str, Any]:
        """JSON Schema of `to_json`, with this filter as its default."""
        display = {"type": "object", "properties": {"id": {"type": "string"}, "text": {"type": "string"}}}
        displays = {"default": self.type_displays, "type": "array", "items": display}
        return {
            "type": "object",
            "properties": {"selectedTypes": _texts(self.selected_types), "typeDisplays": displays},
        }


@dataclass
class ManualFilterConfig:
    """Columns picked by hand.

    Attributes:
        included: Names of the picked columns.
        excluded: Names of the others, as far as they were known.
        include_unknown_columns: Whether columns in neither list are meant too.
    """

    included: list[str] = field(default_factory=list[str])
    excluded: list[str] = field(default_factory=list[str])
    include_unknown_columns: bool = True

    def picked(self, columns: Columns) -> list[str]:
        """Names of the picked columns, in the order of the columns."""
        return [
            column.name
            for column in columns
            if column.name in self.included or (self.include_unknown_columns and column.name not in self.excluded)
        ]

    def to_json(self) -> dict[str, Any]:
        """The filter as settings keep it."""
        return {
            "manuallySelected": self.included,
            "manuallyDeselected": self.excluded,
            "includeUnknownColumns": self.include_unknown_columns,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> ManualFilterConfig:
        """Reads what `to_json` wrote; what is left out has its default."""
        selected, deselected = value.get("manuallySelected", []), value.get("manuallyDeselected", [])
        return cls(list(selected), list(deselected), value.get("includeUnknownColumns", True))

    def json_schema(self) -> dict[str, Any]:
        """JSON Schema of `to_json`, with this filter as its default."""
        properties = {
            "includeUnknownColumns": _boolean(self.include_unknown_columns),
            "manuallyDeselected": _texts(self.excluded),
            "manuallySelected": _texts(self.included),
        }
        return {"type": "object", "properties": properties}


def _part(value: dict[str, Any], name: str) -> dict[str, Any]:
    part = value.get(name, {})
    if not isinstance(part, dict):
        raise TypeError(f"{name!r} of a column filter must be an object, not {type(part).__name__}")
    return cast("dict[str, Any]", part)


_PARTS = ("mode", "patternFilter", "typeFilter", "manualFilter", "selected")


class ColumnFilterConfig:
    """Which columns a person picked.

    Args:
        mode: How they were picked.
        pattern_filter: The pattern, for REGEX and WILDCARD.
        type_filter: The types, for TYPE.
        manual_filter: The names, for MANUAL.
        included_column_names: Short for a manual filter that includes these names.
        pre_filter: Function of a column that says which columns can be picked at all.
    """

    def __init__(
        self,
        mode: ColumnFilterMode = ColumnFilterMode.MANUAL,
        pattern_filter: PatternFilterConfig | None = None,
        type_filter: TypeFilterConfig | None = None,
        manual_filter: ManualFilterConfig | None = None,
        included_column_names: list[str] | None = None,
        pre_filter: Callable[[Column], bool] | None = None,
    ) -> None:
        self.mode = mode if included_column_names is None else ColumnFilterMode.MANUAL
        self.pattern_filter = pattern_filter or PatternFilterConfig()
        self.type_filter = type_filter or TypeFilterConfig()
        self.manual_filter = manual_filter or ManualFilterConfig()
        if included_column_names is not None:
            self.manual_filter = ManualFilterConfig(included=included_column_names)
        self._pre_filter = pre_filter

    def apply(self, columnar: Any) -> Any:
        """The slice of a schema or table with the picked columns."""
        schema = getattr(columnar, "schema", columnar)
        columns = [column for column in schema if self._pre_filter is None or self._pre_filter(column)]
        return columnar[self._picked(columns)]

    def _picked(self, columns: list[Column]) -> list[str]:
        if self.mode is ColumnFilterMode.MANUAL:
            return self.manual_filter.picked(columns)
        if self.mode is ColumnFilterMode.TYPE:
            return self.type_filter.picked(columns)
        return self.pattern_filter.picked(columns, regex=self.mode is ColumnFilterMode.REGEX)

    def to_json(self) -> dict[str, Any]:
        """The filter as settings keep it."""
        return {
            "mode": self.mode.name,
            "patternFilter": self.pattern_filter.to_json(),
            "typeFilter": self.type_filter.to_json(),
            "manualFilter": self.manual_filter.to_json(),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any], pre_filter: Callable[[Column], bool] | None = None) -> ColumnFilterConfig:
        """Reads what `to_json` wrote; what is left out has its default.

        Raises:
            ValueError: There is no such mode or no such part.
            TypeError: A part is no object.
        """
        unknown = [part for part in value if part not in _PARTS]
        if unknown:
            raise ValueError(f"a column filter has no {unknown[0]!r}; it has {', '.join(_PARTS)}")
        mode = value.get("mode", "MANUAL")
        if mode not in ColumnFilterMode.__members__:
            raise ValueError(
                f"{mode!r} is no mode of a column filter; modes are {', '.join(ColumnFilterMode.__members__)}"
            )
        return cls(
            mode=ColumnFilterMode[mode],
            pattern_filter=PatternFilterConfig.from_json(_part(value, "patternFilter")),
            type_filter=TypeFilterConfig.from_json(_part(value, "typeFilter")),
            manual_filter=ManualFilterConfig.from_json(_part(value, "manualFilter")),
            pre_filter=pre_filter,
        )

    def json_properties(self) -> dict[str, Any]:
        """JSON Schemas of the properties of `to_json`, with this filter as their default."""
        keys = ["selected_Internals"]  # what the dialog looks up itself and KNIME stores beside it
        return {
            "patternFilter": self.pattern_filter.json_schema(),
            "typeFilter": self.type_filter.json_schema(),
            "manualFilter": self.manual_filter.json_schema(),
            "mode": {"oneOf": [{"const": mode.name, "title": mode.value} for mode in ColumnFilterMode]},
            "selected": {"type": "array", "items": {"type": "string", "configKeys": keys}, "configKeys": keys},
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnFilterConfig) and self.to_json() == other.to_json()

    __hash__ = None  # pyright: ignore[reportAssignmentType]
