"""The parameter of a workflow that a Configuration node stands for: its schema, its checks, its flow variable."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.errors import ConfigurationError
from knime_ext.runtime.platform.host import configuration_value
from knime_ext.runtime.platform.parameter_names import check_parameter_name

__all__ = ["ConfigurationNode"]

_WORDS = {"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
_CLASSES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


class ConfigurationNode:
    """What the Configuration nodes share; each adds its kind and its default value."""

    label = knext.StringParameter("Label", "Name of the parameter for people.", "Label")
    description = knext.StringParameter("Description", "What the parameter is for; models read it.", "")
    parameter_name = knext.StringParameter(
        "Parameter/Variable name", "Name for callers and models, and of the flow variable.", "parameter"
    )

    def parameter_schema(self) -> dict[str, Any]:
        """JSON Schema of the value, with its default and description."""
        raise NotImplementedError

    def configure(self, ctx: knext.ConfigurationContext) -> None:
        """Sets the flow variable, so that the nodes after this one can be configured with it."""
        check_parameter_name(self.parameter_name)
        schema = self.parameter_schema()
        _checked(self.parameter_name, schema["default"], schema, "the default value")
        value = configuration_value(ctx, self.parameter_name, schema["default"])
        ctx.flow_variables[self.parameter_name] = _checked(self.parameter_name, value, schema, "the value")

    def execute(self, ctx: knext.ExecutionContext) -> None:
        """Sets the flow variable for execution."""
        self.configure(ctx)


def _checked(name: str, value: Any, schema: dict[str, Any], what: str) -> Any:
    kind = schema["type"]
    if not isinstance(value, _CLASSES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        raise ConfigurationError(f"{what} {value!r} of the parameter {name!r} is not {_WORDS[kind]}: give another")
    if value < schema.get("minimum", value) or value > schema.get("maximum", value):
        bound = "minimum" if value < schema.get("minimum", value) else "maximum"
        raise ConfigurationError(
            f"{what} {value!r} of the parameter {name!r} is beyond its {bound} {schema[bound]!r}: give another"
        )
    return float(value) if kind == "number" else value
