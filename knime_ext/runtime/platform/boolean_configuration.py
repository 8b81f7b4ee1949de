"""Boolean Configuration: a true-or-false parameter of a workflow."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.runtime.platform.categories import CONFIGURATION
from knime_ext.runtime.platform.configuration_parameter import ConfigurationNode

__all__ = ["BooleanConfiguration"]


@knext.node(
    "Boolean Configuration",
    knext.NodeType.OTHER,
    "icons/boolean_configuration.png",
    CONFIGURATION,
    keywords=["parameter", "variable", "switch", "tool"],
    id="BooleanConfiguration",
)
class BooleanConfiguration(ConfigurationNode):
    """Gives the workflow a parameter that is true or false.

    The value becomes a flow variable of the same name. Connect the node's *variables* port with the nodes that use
    it, for example SQL Query (`WHERE $only_open`). If the workflow serves as a tool, the model sets the parameter and
    reads its description; without a value from the caller the default counts.
    """

    default_value = knext.BoolParameter("Default value", "Used if the caller gives none.", False)

    def parameter_schema(self) -> dict[str, Any]:
        """JSON Schema of the value, with its default and description."""
        return {"type": "boolean", "default": self.default_value, "description": self.description or self.label}
