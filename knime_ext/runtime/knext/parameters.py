"""All parameter classes, from the modules that hold one kind each."""

from knime_ext.runtime.knext.column_filter import (
    ColumnFilterConfig,
    ColumnFilterMode,
    ManualFilterConfig,
    PatternFilterConfig,
    TypeFilterConfig,
)
from knime_ext.runtime.knext.column_parameters import ColumnFilterParameter, ColumnParameter, MultiColumnParameter
from knime_ext.runtime.knext.conditions import And, Condition, Contains, DialogContextCondition, Effect, OneOf, Or, Rule
from knime_ext.runtime.knext.datetime_parameter import DateTimeParameter
from knime_ext.runtime.knext.enum_parameters import EnumParameter, EnumParameterOptions, EnumSetParameter
from knime_ext.runtime.knext.groups import LayoutDirection, parameter_group
from knime_ext.runtime.knext.parameter_array import ParameterArray
from knime_ext.runtime.knext.scalar_parameters import BoolParameter, DoubleParameter, IntParameter
from knime_ext.runtime.knext.text_parameters import LocalPathParameter, MultilineStringParameter, StringParameter
from knime_ext.runtime.knext.version import Version, set_extension_version

__all__ = [
    "And",
    "BoolParameter",
    "ColumnFilterConfig",
    "ColumnFilterMode",
    "ColumnFilterParameter",
    "ColumnParameter",
    "Condition",
    "Contains",
    "DateTimeParameter",
    "DialogContextCondition",
    "DoubleParameter",
    "Effect",
    "EnumParameter",
    "EnumParameterOptions",
    "EnumSetParameter",
    "IntParameter",
    "LayoutDirection",
    "LocalPathParameter",
    "ManualFilterConfig",
    "MultiColumnParameter",
    "MultilineStringParameter",
    "OneOf",
    "Or",
    "ParameterArray",
    "PatternFilterConfig",
    "Rule",
    "StringParameter",
    "TypeFilterConfig",
    "Version",
    "parameter_group",
    "set_extension_version",
]
