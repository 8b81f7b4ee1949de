"""Parameters that pick columns of an input table: one, several, or by a filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, cast

from knime_ext.runtime.knext.column_filter import ColumnFilterConfig
from knime_ext.runtime.knext.column_type import column_type
from knime_ext.runtime.knext.columnar import materialised
from knime_ext.runtime.knext.parameter import DefaultValue, Parameter, T
from knime_ext.runtime.knext.schema import Column, Schema
from knime_ext.runtime.knext.version import Version

__all__ = ["ColumnFilterParameter", "ColumnParameter", "MultiColumnParameter", "spec_at"]

ColumnPredicate = Callable[[Column], bool]
PortIndex = int | tuple[int, int]
SchemaProvider = Callable[[Any], Any]


def _any_column(column: Column) -> bool:
    return True


def _pick(specs: Sequence[Any], port_index: Any) -> Any:
    if isinstance(port_index, int):
        return specs[port_index]
    group, index = port_index
    if not isinstance(specs[group], list):
        raise TypeError(f"port {group} is no group, so pick it by {group} instead of {port_index}")
    return specs[group][index] if index < len(specs[group]) else None


def spec_at(specs: Sequence[Any], port_index: PortIndex) -> Schema:
    """The schema at a port; one without columns if it is not connected.

    Args:
        specs: One entry per declared port: its spec, None if unconnected, a list for a group.
        port_index: Index of the port, or of a group and of the port in it.

    Raises:
        IndexError: There is no such port.
        TypeError: The port carries no table, or an index into a group meets no group.
    """
    try:
        spec = materialised(_pick(specs, port_index))
    except IndexError:
        raise IndexError(f"there is no input port {port_index}; the node has {len(specs)} inputs") from None
    if spec is None:
        return Schema([], [])
    if not isinstance(spec, Schema):
        raise TypeError(f"input port {port_index} carries no table, so there are no columns to pick")
    return spec


def _possible_value(column: Column) -> dict[str, Any]:
    known = column_type(column)
    return {
        "id": column.name,
        "text": column.name,
        "type": {"id": known.id, "text": known.text},
        "compatibleTypes": [known.id],
    }


class _ColumnsParameter(Parameter[T], Generic[T]):
    def __init__(
        self,
        label: str | None,
        description: str | None,
        port_index: PortIndex,
        column_filter: ColumnPredicate | None,
        default_value: Any,
        since_version: Version | str | None,
        is_advanced: bool,
        schema_provider: SchemaProvider | None = None,
    ) -> None:
        self.port_index = port_index
        self.column_filter = column_filter or _any_column
        self._schema_provider = schema_provider
        super().__init__(label, description, default_value, None, since_version, is_advanced)

    def possible_values(self, context: Any) -> list[dict[str, Any]]:
        """The columns to pick from, as the dialog lists them; none where no dialog is open."""
        if context is None:
            return []
        if self._schema_provider is not None:
            schema = materialised(self._schema_provider(context))
        else:
            schema = spec_at(context.get_input_specs(), self.port_index)
        if not isinstance(schema, Schema):
            raise TypeError(f"the columns of {self.label!r} must come from a schema, not {type(schema).__name__}")
        return [_possible_value(column) for column in schema if self.column_filter(column)]


class ColumnParameter(_ColumnsParameter[str | None]):
    """The name of a column; None if none is picked.

    Args:
        label: Name for people; the name of the attribute if not given.
        description: What it does, in Markdown.
        port_index: Index of the input table, or of a group and of the table in it.
        column_filter: Function of a column that says which ones can be picked.
        include_row_key: Whether the row ids can be picked too.
        include_none_column: Whether "no column" can be picked; the value is then `ColumnParameter.NONE`.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
        schema_provider: Function that gives the schema to pick from, for a `DialogCreationContext`.
        default_value: Name of a column, or a function that gives it for a version.
    """

    NONE = "<none>"

    def __init__(
        self,
        label: str | None = None,
        description: str | None = None,
        port_index: PortIndex = 0,
        column_filter: ColumnPredicate | None = None,
        include_row_key: bool = False,
        include_none_column: bool = False,
        since_version: Version | str | None = None,
        is_advanced: bool = False,
        schema_provider: SchemaProvider | None = None,
        default_value: DefaultValue[str | None] = None,
    ) -> None:
        self.include_row_key = include_row_key
        self.include_none_column = include_none_column
        super().__init__(
            label, description, port_index, column_filter, default_value, since_version, is_advanced, schema_provider
        )

    def check_builtin(self, value: Any) -> None:
        """Refuses what is neither a text nor None."""
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{value!r} must be the name of a column")

    def encoded(self, value: str | None) -> str:
        """The name, "" for None."""
        return "" if value is None else value

    def decoded(self, value: Any) -> Any:
        """The name, None for ""."""
        return None if value == "" else value

    def value_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of a text."""
        return {"type": "string"}

    def ui_options(self, context: Any) -> dict[str, Any]:
        """A drop-down of the columns."""
        values = self.possible_values(context)
        if self.include_none_column:
            values.append({"id": self.NONE, "text": "None"})
        return {
            "format": "dropDown",
            "showRowKeys": self.include_row_key,
            "showNoneColumn": self.include_none_column,
            "possibleValues": values,
        }


class MultiColumnParameter(_ColumnsParameter[list[str]]):
    """The names of several columns.

    Args:
        label: Name for people; the name of the attribute if not given.
        description: What it does, in Markdown.
        port_index: Index of the input table, or of a group and of the table in it.
        column_filter: Function of a column that says which ones can be picked.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
    """

    def __init__(
        self,
        label: str | None = None,
        description: str | None = None,
        port_index: PortIndex = 0,
        column_filter: ColumnPredicate | None = None,
        since_version: Version | str | None = None,
        is_advanced: bool = False,
    ) -> None:
        super().__init__(label, description, port_index, column_filter, [], since_version, is_advanced)

    def check_builtin(self, value: Any) -> None:
        """Refuses what is no list of texts."""
        if not isinstance(value, list) or not all(isinstance(name, str) for name in cast("list[Any]", value)):
            raise TypeError(f"{value!r} must be a list of names of columns")

    def decoded(self, value: Any) -> Any:
        """The names, without the empty ones that a dialog may leave."""
        if not isinstance(value, list):
            return [] if value is None else value
        return [name for name in cast("list[Any]", value) if name != ""]

    def value_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of a list of texts."""
        return {"type": "array", "items": {"type": "string"}}

    def ui_options(self, context: Any) -> dict[str, Any]:
        """Two lists between which the columns move."""
        return {"format": "twinList", "possibleValues": self.possible_values(context)}


class ColumnFilterParameter(_ColumnsParameter[ColumnFilterConfig]):
    """Several columns, picked by hand, by a pattern or by type; `.apply(schema_or_table)` gives them.

    Args:
        label: Name for people; the name of the attribute if not given.
        description: What it does, in Markdown.
        port_index: Index of the input table, or of a group and of the table in it.
        default_value: A filter, or a function that gives it for a version; all columns if not given.
        column_filter: Function of a column that says which ones can be picked.
        since_version: First version of the extension that has it.
        is_advanced: Whether the dialog hides it among the advanced settings.
        schema_provider: Function that gives the schema to pick from, for a `DialogCreationContext`.
    """

    def __init__(
        self,
        label: str | None = None,
        description: str | None = None,
        port_index: PortIndex = 0,
        default_value: DefaultValue[ColumnFilterConfig] | None = None,
        column_filter: ColumnPredicate | None = None,
        since_version: Version | str | None = None,
        is_advanced: bool = False,
        schema_provider: SchemaProvider | None = None,
    ) -> None:
        super().__init__(
            label,
            description,
            port_index,
            column_filter,
            default_value or ColumnFilterConfig(),
            since_version,
            is_advanced,
            schema_provider,
        )

    def default_for(self, version: Version | None = None) -> ColumnFilterConfig:
        """The default filter, which picks only columns that can be picked."""
        return self.decoded(self.encoded(super().default_for(version)))

    def encoded(self, value: ColumnFilterConfig) -> dict[str, Any]:
        """The filter as settings keep it."""
        return value.to_json()

    def check_builtin(self, value: Any) -> None:
        """Refuses what is no filter."""
        if not isinstance(value, ColumnFilterConfig):
            raise TypeError(f"{value!r} must be a column filter")

    def decoded(self, value: Any) -> Any:
        """The filter, which picks only columns that can be picked."""
        if not isinstance(value, dict):
            return value
        value = cast("dict[str, Any]", value)
        return ColumnFilterConfig.from_json(value, self.column_filter)

    def value_schema(self, context: Any) -> dict[str, Any]:
        """JSON Schema of a column filter."""
        return {"type": "object", "properties": self.default_for().json_properties()}

    def ui_options(self, context: Any) -> dict[str, Any]:
        """A filter with the columns to pick from."""
        return {
            "format": "typedStringFilter",
            "unknownValuesText": "Columns that may come later",
            "emptyStateLabel": "Nothing here yet",
            "possibleValues": self.possible_values(context),
        }
