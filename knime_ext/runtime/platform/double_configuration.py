"""Double Configuration: a number parameter of a workflow."""

from __future__ import annotations

from typing import Any

import knime.extension as knext

from knime_ext.runtime.platform.categories import CONFIGURATION
from knime_ext.runtime.platform.configuration_parameter import ConfigurationNode

__all__ = ["DoubleConfiguration"]


@knext.node(
    "Double Configuration",
    knext.NodeType.OTHER,
    "icons/double_configuration.png",
    CONFIGURATION,
    keywords=["parameter", "variable", "decimal", "tool"],
    id="DoubleConfiguration",
)
class DoubleConfiguration(ConfigurationNode):
    """Gives the workflow a parameter that is a number.

    The value becomes a flow variable of the same name. Connect the node's *variables* port with the nodes that use
    it, for example SQL Query (`price > $least`). If the workflow serves as a tool, the model sets the parameter and
    reads its description; without a value from the caller the default counts. A value outside of the limits is refused.
    """

    default_value = knext.DoubleParameter("Default value", "Used if the caller gives none.", 0.0)
    use_minimum = knext.BoolParameter("Minimum", "Whether there is a least value.", False)
    minimum = knext.DoubleParameter("Least value", "Smaller values are refused.", 0.0)
    use_maximum = knext.BoolParameter("Maximum", "Whether there is a greatest value.", False)
    maximum = knext.DoubleParameter("Greatest value", "Greater values are refused.", 0.0)

    def parameter_schema(self) -> dict[str, Any]:
        """JSON Schema of the value, with its default, limits and description."""
        schema: dict[str, Any] = {"type": "number", "default": self.default_value}
        schema |= {"minimum": self.minimum} if self.use_minimum else {}
        schema |= {"maximum": self.maximum} if self.use_maximum else {}
        return schema | {"description": self.description or self.label}
