"""String Configuration: a text parameter of a workflow."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.runtime.platform.categories import CONFIGURATION
from knime_ext.runtime.platform.configuration_parameter import ConfigurationNode

__all__ = ["StringConfiguration"]


@knext.node(
    "String Configuration",
    knext.NodeType.OTHER,
    "icons/string_configuration.png",
    CONFIGURATION,
    keywords=["parameter", "variable", "text", "tool"],
    id="StringConfiguration",
)
class StringConfiguration(ConfigurationNode):
    """Gives the workflow a text parameter.

    The value becomes a flow variable of the same name. Connect the node's *variables* port with the nodes that use
    it, for example SQL Query (`$name`). If the workflow serves as a tool, the model sets the parameter and reads its
    description; without a value from the caller the default counts.
    """

    default_value = knext.StringParameter("Default value", "Used if the caller gives none.", "")

    def parameter_schema(self) -> dict[str, Any]:
        """JSON Schema of the value, with its default and description."""
        return {"type": "string", "default": self.default_value, "description": self.description or self.label}
